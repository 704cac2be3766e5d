"""Triggers of automations."""

from datetime import timedelta
from typing import Any, ClassVar, override

from homeassistant.components.binary_sensor import DOMAIN as BINARY_SENSOR_DOMAIN
from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID, ATTR_NAME, CONF_FOR
from homeassistant.core import CALLBACK_TYPE, CoreState, HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.helpers.device_registry import DeviceEntry
from homeassistant.helpers.trigger import (
    Trigger,
    TriggerActionRunner,
    TriggerConfig,
    TriggerNotTriggeredReporter,
)
from homeassistant.helpers.typing import ConfigType
from homeassistant.util import dt as dt_util
import voluptuous as vol

from ..const import DOMAIN
from ..registry.devices import name_of, tracker_of
from ..responses.texts import place_of, sentence
from ..tracking import ALARM_TYPES, Flag, Occurrence, OccurrenceType, Tracker
from .runner import async_get_runner
from .types import AT_ONCE, TRIGGER_TYPES, StateType, schema

_CONF_ALARM = "alarm"
_TIMES = {"since", "before", "started_at", "ended_at", "time"}
_AT_LEAST_ONE = vol.Length(min=1, msg="choose at least one alarm")


def _target(chosen: ConfigType) -> ConfigType:
    """Return the target, or refuse one that names nothing."""
    if not any(chosen.values()):
        raise vol.Invalid("choose at least one bike, area or label")
    return chosen


class TrackerTrigger(Trigger):
    """A trigger that is run by what happens to a tracker."""

    name: ClassVar[OccurrenceType]
    type: ClassVar[StateType]

    @classmethod
    @override
    async def async_validate_config(
        cls, hass: HomeAssistant, config: ConfigType
    ) -> ConfigType:
        """Return the configuration with its defaults, or refuse it."""
        more = {}
        if cls.name == "alarm_raised":
            chosen = vol.All(cv.ensure_list, [vol.In(ALARM_TYPES)], _AT_LEAST_ONE)
            more[vol.Optional(_CONF_ALARM)] = chosen
        check = schema(vol.All(dict, _target), cls.type.wait, more)
        validated: ConfigType = check(config)
        return validated

    def __init__(self, hass: HomeAssistant, config: TriggerConfig) -> None:
        """Initialize the trigger, just before it is attached."""
        super().__init__(hass, config)
        options = config.options or {}
        self.target = config.target or {}
        self.wait: timedelta = options.get(CONF_FOR, AT_ONCE)
        self._choices: list[str] | None = options.get(_CONF_ALARM)
        # What was so before does not run it, unless Home Assistant is starting.
        is_running = hass.state is CoreState.running
        self._attached_at = dt_util.utcnow() if is_running else None

    @override
    async def async_attach_runner(
        self,
        run_action: TriggerActionRunner,
        did_not_trigger: TriggerNotTriggeredReporter | None = None,
    ) -> CALLBACK_TYPE:
        """Attach the trigger to an action runner."""
        return async_get_runner(self._hass).async_attach(self, run_action)

    @property
    def has_wait(self) -> bool:
        """Return whether the end of a wait runs it, and no occurrence."""
        return self.type.is_silence or self.wait > AT_ONCE

    def is_run_by(self, occurrence: Occurrence) -> bool:
        """Return whether an occurrence of one of its trackers runs it."""
        if occurrence.type != self.name or self.has_wait:
            return False
        return self._choices is None or occurrence.attributes["type"] in self._choices

    def wait_from(self, tracker: Tracker) -> Flag | None:
        """Return since when it is so, None if no wait counts from there."""
        flag, is_silence = self.type.flag(tracker), self.type.is_silence
        # The first word about a tracker is no change.
        if flag is None or not (is_silence or flag.previous_change):
            return None
        # Silence is there once it has lasted.
        since = flag.changed_at + self.wait if is_silence else flag.changed_at
        is_new = self._attached_at is None or since > self._attached_at
        return flag if is_new else None

    @callback
    def async_run(
        self,
        run_action: TriggerActionRunner,
        device: DeviceEntry,
        occurrence: Occurrence,
    ) -> None:
        """Run the action for an occurrence of a tracker that is in the target."""
        entity_id = er.async_get(self._hass).async_get_entity_id(
            BINARY_SENSOR_DOMAIN, DOMAIN, f"{tracker_of(device)}_online"
        )
        variables = {
            ATTR_DEVICE_ID: device.id,
            ATTR_ENTITY_ID: entity_id,
            ATTR_NAME: name_of(device),
            **self._values(occurrence),
        }
        run_action(variables, sentence(self._hass, name_of(device), occurrence))

    def _values(self, occurrence: Occurrence) -> dict[str, Any]:
        """Return what a run is told of an occurrence, times by the clocks of the house."""
        times = {"since": occurrence.since, "before": occurrence.before}
        values = {**occurrence.attributes, **times}
        if occurrence.type == "guard_triggered":
            values["place"] = place_of(self._hass, occurrence)
        for key in _TIMES & values.keys():
            time = values[key]
            if isinstance(time, str):
                time = dt_util.parse_datetime(time)
            values[key] = time and dt_util.as_local(time).replace(microsecond=0)
        return values


_TRIGGERS: dict[str, type[Trigger]] = {
    name: type(name, (TrackerTrigger,), {"name": name, "type": state_type})
    for name, state_type in TRIGGER_TYPES.items()
}


async def async_get_triggers(_hass: HomeAssistant) -> dict[str, type[Trigger]]:
    """Return the triggers by name."""
    return _TRIGGERS
