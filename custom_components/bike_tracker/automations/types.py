"""What triggers wait for and what conditions ask for, as tables."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final, NamedTuple

from homeassistant.const import CONF_FOR, CONF_OPTIONS, CONF_TARGET
from homeassistant.helpers import config_validation as cv
import voluptuous as vol

from ..tracking import ALARM_TYPES, Flag, OccurrenceType, Tracker

AT_ONCE: Final = timedelta()
_SILENT_FOR: Final = timedelta(hours=24)
_MAX_WAIT: Final = timedelta(days=365)

type StateFn = Callable[[Tracker], Flag | None]
"""Returns since when it is so, None while it is not."""


class TriggerType(NamedTuple):
    """A type of trigger. What needs no wait is fired by the occurrence of its name."""

    state_fn: StateFn | None = None
    """Returns what has to last, None for what only happens."""
    wait: timedelta | None = None
    """How long it has to last unless the person says otherwise; None is not asked."""
    is_silence: bool = False
    """Whether it is judged by the time an answer was asked for, not by the clock."""
    choices: tuple[str, ...] = ()
    """Of which values of the attribute `type` a person may choose some."""


class ConditionType(NamedTuple):
    """A type of condition."""

    state_fn: StateFn
    wait: timedelta | None = None
    """As in TriggerType."""
    is_silence: bool = False
    is_ours: bool = False
    """Whether it is known while the service does not answer."""


def _is_online(tracker: Tracker) -> Flag | None:
    return _if(tracker.state.online, value=True)


def _is_offline(tracker: Tracker) -> Flag | None:
    return _if(tracker.state.online, value=False)


def _is_moving(tracker: Tracker) -> Flag | None:
    return _if(tracker.state.moving, value=True)


def _is_not_moving(tracker: Tracker) -> Flag | None:
    return _if(tracker.state.moving, value=False)


def _is_silent(tracker: Tracker) -> Flag | None:
    """Return since when nothing was reported: each report ends it."""
    since = tracker.device.last_update
    return Flag(value=True, changed_at=since) if since else None


def _is_guarded(tracker: Tracker) -> Flag | None:
    since = tracker.guarded_since
    return Flag(value=True, changed_at=since) if since else None


def _is_on_ride(tracker: Tracker) -> Flag | None:
    ride = tracker.ride_under_way
    return Flag(value=True, changed_at=ride.started_at) if ride else None


def _if(flag: Flag | None, *, value: bool) -> Flag | None:
    return flag if flag and flag.value is value else None


TRIGGER_TYPES: Final[Mapping[OccurrenceType, TriggerType]] = {
    "alarm_raised": TriggerType(choices=ALARM_TYPES),
    "became_silent": TriggerType(_is_silent, _SILENT_FOR, is_silence=True),
    "came_online": TriggerType(),
    "guard_triggered": TriggerType(),
    "ride_ended": TriggerType(),
    "ride_started": TriggerType(),
    "started_moving": TriggerType(_is_moving, AT_ONCE),
    "stopped_moving": TriggerType(_is_not_moving, AT_ONCE),
    "went_offline": TriggerType(_is_offline, AT_ONCE),
}
CONDITION_TYPES: Final = {
    "is_guarded": ConditionType(_is_guarded, is_ours=True),
    "is_moving": ConditionType(_is_moving),
    "is_not_moving": ConditionType(_is_not_moving, AT_ONCE),
    "is_offline": ConditionType(_is_offline, AT_ONCE),
    "is_on_ride": ConditionType(_is_on_ride),
    "is_online": ConditionType(_is_online),
    "is_silent": ConditionType(_is_silent, _SILENT_FOR, is_silence=True),
}


def schema(
    target: Any, wait: timedelta | None, more: Mapping[Any, Any] | None = None
) -> vol.Schema:
    """Return what a person fills in: a target, and options with `for` if it is asked."""
    options = dict(more or {})
    if wait is not None:
        options[vol.Optional(CONF_FOR, default=wait)] = _duration
    return vol.Schema(
        {
            vol.Required(CONF_TARGET): target,
            vol.Required(CONF_OPTIONS, default=dict): options,
        }
    )


def _duration(value: object) -> timedelta:
    with suppress(OverflowError):
        duration: timedelta = cv.positive_time_period(value)
        if duration <= _MAX_WAIT:
            return duration
    raise vol.Invalid("more than a year is too long")
