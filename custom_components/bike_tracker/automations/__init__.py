"""Triggers and conditions: tables of all of them, each with the state of a tracker that it checks.

If they cannot be imported, the rest of the integration still starts.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, cast

from homeassistant.const import CONF_FOR, CONF_OPTIONS, CONF_TARGET
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.typing import ConfigType
import voluptuous as vol

from ..database.file import Evaluation
from ..tracking.occurrences import OccurrenceType
from ..tracking.state import Flag, Tracker

AT_ONCE: Final = timedelta()
_SILENT_FOR: Final = timedelta(hours=24)
_MAX_DURATION: Final = timedelta(days=365)


class StateType(NamedTuple):
    """A state of a tracker that triggers or conditions check, such as "offline"."""

    flag_fn: Callable[[Tracker], Flag | None] = lambda _: None
    wait: timedelta | None = None
    """Default of `for`; None if the trigger or condition has no such option."""
    value: bool = True
    """The value of the flag for which the state holds."""
    is_silence: bool = False
    """Whether the state is a silence: only a new response of the service can confirm that it lasts."""
    is_ours: bool = False
    """Whether the state is known even in an outage, because it comes from Home Assistant, not from the service."""

    def flag(self, tracker: Tracker) -> Flag | None:
        """Return the flag if the state holds, or None."""
        flag = self.flag_fn(tracker)
        return flag if flag and flag.value is self.value else None

    def time_of(self, evaluation: Evaluation) -> datetime:
        """Return the time with which the ends of waits are compared at this evaluation.

        A silence is certain only up to the newest request that the service answered.
        """
        return evaluation.asked_at if self.is_silence else evaluation.at

    def validated(self, config: ConfigType, target: Any, options: Any) -> ConfigType:
        """Return a valid configuration of a target and options, with the defaults, or raise vol.Invalid."""
        if self.wait is not None:
            options = {**options, vol.Optional(CONF_FOR, default=self.wait): _duration}
        schema = {
            vol.Required(CONF_TARGET): target,
            vol.Required(CONF_OPTIONS, default=dict): options,
        }
        return cast(ConfigType, vol.Schema(schema)(config))


def _since(time: datetime | None) -> Flag | None:
    return Flag(value=True, changed_at=time) if time else None


_OFFLINE: Final = StateType(lambda tracker: tracker.state.online, AT_ONCE, value=False)
_MOVING: Final = StateType(lambda tracker: tracker.state.moving, AT_ONCE)
_NOT_MOVING: Final = _MOVING._replace(value=False)
# A silence begins with the last contact of the tracker.
_SILENT: Final = StateType(
    lambda tracker: _since(tracker.device.last_update), _SILENT_FOR, is_silence=True
)
# No state: a trigger of this type fires for each occurrence with the trigger's name.
_HAPPENS: Final = StateType()

TRIGGER_TYPES: Final[Mapping[OccurrenceType, StateType]] = {
    "alarm_raised": _HAPPENS,
    "became_silent": _SILENT,
    "came_online": _HAPPENS,
    "guard_triggered": _HAPPENS,
    "ride_ended": _HAPPENS,
    "ride_started": _HAPPENS,
    "started_moving": _MOVING,
    "stopped_moving": _NOT_MOVING,
    "went_offline": _OFFLINE,
}
CONDITION_TYPES: Final = {
    "is_guarded": StateType(
        lambda tracker: _since((guard := tracker.state.guard) and guard.armed_at),
        is_ours=True,
    ),
    "is_moving": _MOVING._replace(wait=None),
    "is_not_moving": _NOT_MOVING,
    "is_offline": _OFFLINE,
    "is_on_ride": StateType(
        lambda tracker: _since(
            (ride := tracker.state.ride_under_way) and ride.started_at
        )
    ),
    "is_online": StateType(lambda tracker: tracker.state.online),
    "is_silent": _SILENT,
}


def _duration(value: object) -> timedelta:
    with suppress(OverflowError):
        duration: timedelta = cv.positive_time_period(value)
        if duration <= _MAX_DURATION:
            return duration
    raise vol.Invalid("more than a year is too long")
