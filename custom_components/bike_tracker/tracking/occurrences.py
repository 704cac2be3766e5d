"""Occurrences and alarms of a tracker. Occurrences are fired in order, each only once."""

from collections.abc import Mapping, Sequence
from datetime import datetime
import re
from typing import Any, Final, Literal, NamedTuple, override

from ..api.models import Position, one_line
from .distance import NOWHERE

type OccurrenceType = Literal[
    "alarm_raised",
    "became_silent",
    "came_online",
    "guard_triggered",
    "ride_ended",
    "ride_started",
    "started_moving",
    "stopped_moving",
    "went_offline",
]

FLAG_CHANGES: Final[Mapping[tuple[str, bool], OccurrenceType]] = {
    ("online", True): "came_online",
    ("online", False): "went_offline",
    ("moving", True): "started_moving",
    ("moving", False): "stopped_moving",
}
"""The occurrence type for each flag, and for the value to which the flag changes."""
MAX_WAITING: Final = 50
"""Maximum number of occurrences of each type, and of known alarms, that are kept for a tracker."""


class Occurrence(NamedTuple):
    """Something that happened to a tracker."""

    seq: int
    """Sequence number. It grows by one with each occurrence of the same tracker."""
    type: OccurrenceType
    noticed_at: datetime
    since: datetime
    """When it happened: the time of the report, or the time at which the change was noticed. All times are in UTC."""
    before: datetime | None = None
    """When the flag got its previous value; None if that is unknown, or if no flag changed."""
    attributes: Mapping[str, Any] = {}

    @override
    def __repr__(self) -> str:
        """Return only type and number, no place: if a listener fails, Home Assistant logs the occurrence."""
        return f"{self.type} {self.seq}"

    @property
    def is_event(self) -> bool:
        """Return whether the occurrence is an event. Otherwise, it is the change of a flag."""
        return self.type not in FLAG_CHANGES.values()


def kept(known: tuple[Occurrence, ...], last_fired: int) -> tuple[Occurrence, ...]:
    """Return the occurrences to keep: all unfired occurrences, the newest, and the newest event of each type.

    The newest occurrence has the highest sequence number, which must not be used again.
    Entities show the newest event of a type.
    """
    events = {it.type: it for it in known if it.is_event}
    shown = (*events.values(), *known[-1:])
    return tuple(it for it in known if it.seq > last_fired or it in shown)


class UpdateContext(NamedTuple):
    """The time and the circumstances of an update."""

    now: datetime
    recovering: bool = False
    """Whether the tracker was unavailable just before this update."""
    is_complete: bool = False
    """Whether it is certain that no report is missing before this update."""
    has_history: bool = False
    """Whether the service may have a history."""
    has_missed: bool = False
    """Whether polls failed or were skipped before this update."""


ALARM_TYPES: Final = (
    *("sos", "vibration", "movement", "tow", "tampering", "removing"),
    *("fall_down", "accident", "overspeed", "geofence_exit", "geofence_enter"),
    *("low_battery", "low_power", "power_cut", "power_restored"),
    *("power_off", "power_on", "lock", "unlock", "door", "fault", "jamming"),
    "other",
)
"""Types of alarms. The last type is for alarms with unknown names."""
# Maximum number of alarms that are read from a report.
_MAX_AT_ONCE: Final = 20


class Alarm(NamedTuple):
    """One alarm of a report. A report may have several alarms."""

    word: str
    """The service's name of the alarm."""
    report: int
    """The ID of the report."""
    reported_at: datetime | None
    """When the tracker sent the report, by its own clock."""

    @property
    def type(self) -> str:
        """Return the type, such as `fall_down` for `fallDown`; `other` for an unknown name."""
        name = re.sub(r"(?=[A-Z])", "_", self.word).lower()
        # Traccar up to 4.14 sends `shock` for a vibration.
        name = "vibration" if name == "shock" else name
        return name if name in ALARM_TYPES else "other"


def alarms_of(position: Position) -> list[Alarm]:
    """Return the alarms of a report without duplicates."""
    words = (position.alarm or "").split(",", _MAX_AT_ONCE)[:_MAX_AT_ONCE]
    reported_at = position.device_time or position.fix_time
    each_once = dict.fromkeys(filter(None, map(one_line, words)))
    return [Alarm(word, position.id, reported_at) for word in each_once]


def is_known(alarm: Alarm, known: Sequence[Alarm]) -> bool:
    """Return whether an alarm is among the known alarms, or so old that it may have been dropped from them."""
    if any((it.word, it.report) == (alarm.word, alarm.report) for it in known):
        return True
    time = alarm.reported_at or NOWHERE.time
    return len(known) >= MAX_WAITING and all(
        alarm.report <= it.report and time <= (it.reported_at or NOWHERE.time)
        for it in known
    )
