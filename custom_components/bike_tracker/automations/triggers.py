"""Triggers of automations."""

from datetime import datetime
from typing import Any, ClassVar, cast, override

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
from ..coordinator import BikeTrackerCoordinator
from ..registry.devices import device_of, name_of
from ..tracking import Occurrence, OccurrenceType
from .runner import AttachedTrigger, async_get_runner
from .sentences import place_of, sentence
from .types import AT_ONCE, CHOICES, TRIGGER_TYPES, StateType, schema

_CONF_ALARM = "alarm"
# Attributes that are times as text.
_TIMES = {"started_at", "ended_at", "time"}
_AT_LEAST_ONE = vol.Length(min=1, msg="choose at least one alarm")


def _target(chosen: ConfigType) -> ConfigType:
    """Return the target, or refuse one that names nothing."""
    if not any(chosen.values()):
        raise vol.Invalid("choose at least one bike, area or label")
    return chosen


class TrackerTrigger(Trigger):
    """A trigger that is run by what happens to a tracker."""

    _name: ClassVar[OccurrenceType]
    _type: ClassVar[StateType]

    @classmethod
    @override
    async def async_validate_config(
        cls, hass: HomeAssistant, config: ConfigType
    ) -> ConfigType:
        """Return the configuration with its defaults, or refuse it."""
        more = {}
        if choices := CHOICES.get(cls._name):
            chosen = vol.All(cv.ensure_list, [vol.In(choices)], _AT_LEAST_ONE)
            more[vol.Optional(_CONF_ALARM)] = chosen
        check = schema(vol.All(dict, _target), cls._type.wait, more)
        validated: ConfigType = check(config)
        return validated

    def __init__(self, hass: HomeAssistant, config: TriggerConfig) -> None:
        """Initialize the trigger."""
        super().__init__(hass, config)
        self._config = config

    @override
    async def async_attach_runner(
        self,
        run_action: TriggerActionRunner,
        did_not_trigger: TriggerNotTriggeredReporter | None = None,
    ) -> CALLBACK_TYPE:
        """Attach the trigger to an action runner."""

        @callback
        def run(
            coordinator: BikeTrackerCoordinator, unique_id: str, occurrence: Occurrence
        ) -> None:
            entry_id = coordinator.config_entry.entry_id
            # It is in the target, so it is there.
            device = cast(DeviceEntry, device_of(self._hass, unique_id, entry_id))
            variables = self._variables(device, unique_id, occurrence)
            name = str(variables[ATTR_NAME])
            run_action(variables, sentence(self._hass, name, occurrence))

        options = self._config.options or {}
        is_starting = self._hass.state is not CoreState.running
        return async_get_runner(self._hass).async_attach(
            AttachedTrigger(
                self._name,
                self._type,
                self._config.target or {},
                options.get(CONF_FOR, AT_ONCE),
                options.get(_CONF_ALARM),
                None if is_starting else dt_util.utcnow(),
                run,
            )
        )

    def _variables(
        self, device: DeviceEntry, unique_id: str, occurrence: Occurrence
    ) -> dict[str, Any]:
        """Return the variables of a run."""
        times = {
            key: dt_util.parse_datetime(value)
            for key, value in occurrence.attributes.items()
            if key in _TIMES and value
        }
        values = {
            **occurrence.attributes,
            **times,
            "since": occurrence.since,
            "before": occurrence.before,
        }
        if occurrence.type == "guard_triggered":
            values["place"] = place_of(self._hass, occurrence)
        return {
            ATTR_DEVICE_ID: device.id,
            ATTR_ENTITY_ID: er.async_get(self._hass).async_get_entity_id(
                BINARY_SENSOR_DOMAIN, DOMAIN, f"{unique_id}_online"
            ),
            ATTR_NAME: name_of(device),
            **{key: _local(value) for key, value in values.items()},
        }


def _local(value: object) -> object:
    """Return a time by the clocks of the house, anything else as it is."""
    if isinstance(value, datetime):
        return dt_util.as_local(value).replace(microsecond=0)
    return value


_TRIGGERS: dict[str, type[Trigger]] = {
    name: type(name, (TrackerTrigger,), {"_name": name, "_type": trigger_type})
    for name, trigger_type in TRIGGER_TYPES.items()
}


async def async_get_triggers(_hass: HomeAssistant) -> dict[str, type[Trigger]]:
    """Return the triggers by name."""
    return _TRIGGERS
