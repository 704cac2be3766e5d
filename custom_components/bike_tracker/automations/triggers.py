"""Triggers of automations."""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, override
from weakref import WeakKeyDictionary

from homeassistant.components.binary_sensor import DOMAIN as BINARY_SENSOR
from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID, ATTR_NAME, CONF_FOR
from homeassistant.core import CoreState, HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
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
from ..coordinator import BikeTrackerCoordinator, coordinators
from ..database import SOON
from ..database.file import BEGINNING, NEVER, Evaluation
from ..devices import name_of
from ..dispatch import SIGNAL_OCCURRED, SIGNAL_UPDATED, Update
from ..responses.targets import is_in_target
from ..responses.texts import place_of, sentence
from ..tracking import log_errors
from ..tracking.occurrences import ALARM_TYPES, Occurrence, OccurrenceType
from ..tracking.state import Flag, Tracker
from . import AT_ONCE, TRIGGER_TYPES, StateType

_CONF_ALARM: Final = "alarm"
_AT_LEAST_ONE: Final = vol.Length(min=1, msg="choose at least one alarm")
_ALARM_FILTER: Final = vol.All(cv.ensure_list, [vol.In(ALARM_TYPES)], _AT_LEAST_ONE)
_TRIGGER_OPTIONS: Final = {"alarm_raised": {vol.Optional(_CONF_ALARM): _ALARM_FILTER}}
_TIME_VARIABLES: Final = {"since", "before", "started_at", "ended_at", "time"}


def _target(chosen: ConfigType) -> ConfigType:
    """Return the target, or raise vol.Invalid if it is empty."""
    if not any(chosen.values()):
        raise vol.Invalid("choose at least one bike, area or label")
    return chosen


class TrackerTrigger(Trigger):
    """A trigger for occurrences of a tracker, or for a state that lasts.

    Each occurrence runs the trigger once. A state runs the trigger at the account's
    first update after its wait (`for`) has ended. If the wait ended during an outage or
    a reload, or while the tracker was not listed, the trigger runs after the first
    response in which the state still holds.
    """

    name: ClassVar[OccurrenceType]
    type: ClassVar[StateType]
    _run_action: TriggerActionRunner

    @classmethod
    @override
    async def async_validate_config(
        cls, hass: HomeAssistant, config: ConfigType
    ) -> ConfigType:
        target, options = vol.All(dict, _target), _TRIGGER_OPTIONS.get(cls.name, {})
        return cls.type.validated(config, target, options)

    def __init__(self, hass: HomeAssistant, config: TriggerConfig) -> None:
        """Initialize the trigger, just before it is attached."""
        super().__init__(hass, config)
        options = config.options or {}
        self._target = config.target or {}
        self._wait: timedelta = options.get(CONF_FOR, AT_ONCE)
        self._alarms: Collection[str] = options.get(_CONF_ALARM, ALARM_TYPES)
        # Do not fire for states that already held before the trigger was attached,
        # unless Home Assistant is starting.
        is_running = hass.state is CoreState.running
        self._attached_at = dt_util.utcnow() if is_running else BEGINNING
        # For each account: the evaluation before its waits were checked for the first
        # time, the start of each tracker's last wait that is over (None without one),
        # and the earliest time at which a wait ends.
        self._waits = WeakKeyDictionary[
            BikeTrackerCoordinator,
            tuple[Evaluation, dict[str, datetime | None], datetime],
        ]()

    @override
    async def async_attach_runner(
        self,
        run_action: TriggerActionRunner,
        did_not_trigger: TriggerNotTriggeredReporter | None = None,
    ) -> Callable[[], None]:
        """Listen to occurrences or, for a wait or silence, to updates. Return the function that stops listening."""
        hass, self._run_action = self._hass, run_action
        if not (self._wait or self.type.is_silence):
            return async_dispatcher_connect(hass, SIGNAL_OCCURRED, self._async_occurred)
        for coordinator in coordinators(hass):
            # Write the last evaluation soon: after a crash, an older evaluation would
            # let the trigger fire for waits that ended before it was attached.
            coordinator.database.async_write_within(SOON)
        return async_dispatcher_connect(hass, SIGNAL_UPDATED, self._async_look)

    @callback
    def _async_occurred(
        self, coordinator: BikeTrackerCoordinator, tracker: str, occurrence: Occurrence
    ) -> None:
        """Fire if an occurrence has the name of this trigger and, for an alarm, a chosen type."""
        alarm = occurrence.attributes.get("type")
        if occurrence.type == self.name and (not alarm or alarm in self._alarms):
            self._run(coordinator, tracker, occurrence)

    @callback
    def _async_look(self, update: Update) -> None:
        """Fire for waits that are over. Check the changed trackers or, if the next wait is over, all trackers."""
        coordinator, keys, last, now, *_ = update
        trackers, due, by_now = coordinator.data.trackers, [], self.type.time_of(now)
        last, over, next_at = self._waits.get(coordinator, (last, {}, BEGINNING))
        if next_at <= by_now:
            keys, next_at = trackers.keys(), NEVER
        for unique_id in trackers.keys() & keys:
            flag = self._wait_from(trackers[unique_id])
            if unique_id not in over:
                is_old = flag and self._was_over(flag, last, now)
                over[unique_id] = flag.changed_at if flag and is_old else None
            if flag is None or flag.changed_at == over[unique_id]:
                continue
            if (at := flag.changed_at + self._wait) > by_now:
                next_at = min(next_at, at)
                continue
            over[unique_id] = flag.changed_at
            due.append((at, unique_id, flag.changed_at, flag.previous_change))
        self._waits[coordinator] = last, over, next_at
        for _, unique_id, since, before in sorted(due):
            occurrence = Occurrence(0, self.name, now.at, since, before)
            self._run(coordinator, unique_id, occurrence)

    def _wait_from(self, tracker: Tracker) -> Flag | None:
        """Return the flag whose last change begins a wait, or None."""
        flag = self.type.flag(tracker)
        # The first known value of a flag is not a change, so it begins no wait.
        is_change = self.type.is_silence or (flag and flag.previous_change)
        return flag if is_change else None

    def _was_over(self, flag: Flag, last: Evaluation, now: Evaluation) -> bool:
        """Return whether the first check of a tracker must not fire for a wait.

        The wait was over at the last evaluation, or the state began before the trigger
        was attached. The state *silent* begins at the end of the wait, any other state
        at its start.
        """
        at = flag.changed_at + self._wait
        if (at if self.type.is_silence else flag.changed_at) <= self._attached_at:
            return True
        # After a boot with a clock behind, times from before the boot are in the future.
        is_known = flag.changed_at > now.at or at <= self.type.time_of(now)
        return is_known and at <= self.type.time_of(last)

    def _run(
        self, coordinator: BikeTrackerCoordinator, tracker: str, occurrence: Occurrence
    ) -> None:
        """Run the action for an occurrence if the target includes the tracker."""
        hass = self._hass
        with log_errors(coordinator.config_entry.title, "running a trigger"):
            device = coordinator.devices.get(tracker)
            if not (device and is_in_target(hass, self._target, device)):
                return
            coordinator.database.async_write_within(SOON)
            name, entity = name_of(device), (BINARY_SENSOR, DOMAIN, f"{tracker}_online")
            variables = {
                ATTR_DEVICE_ID: device.id,
                ATTR_ENTITY_ID: er.async_get(hass).async_get_entity_id(*entity),
                ATTR_NAME: name,
                **self._values(occurrence),
            }
            self._run_action(variables, sentence(hass, name, occurrence))

    def _values(self, occurrence: Occurrence) -> dict[str, Any]:
        """Return the trigger variables of an occurrence. Times are in local time."""
        times = {"since": occurrence.since, "before": occurrence.before}
        values = {**occurrence.attributes, **times}
        if occurrence.type == "guard_triggered":
            values["place"] = place_of(self._hass, occurrence)
        for key in _TIME_VARIABLES & values.keys():
            if time := values[key]:
                values[key] = dt_util.as_local(cv.datetime(time)).replace(microsecond=0)
        return values


_TRIGGERS: dict[str, type[Trigger]] = {
    name: type(name, (TrackerTrigger,), {"name": name, "type": state_type})
    for name, state_type in TRIGGER_TYPES.items()
}


async def async_get_triggers(_hass: HomeAssistant) -> dict[str, type[Trigger]]:
    """Return the class of each trigger, by the name of the trigger."""
    return _TRIGGERS
