"""Occurrences: what happened to a tracker, in order, each to be fired once.

Alarms among them: what a report was sent for, and what that is called here.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
import re
from typing import Any, Final, Literal, NamedTuple, override

from ..api.models import Position, one_line

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
"""What it is called when a flag becomes true or false."""
MAX_WAITING: Final = 50
"""Of one type: so many wait to be fired, and of a tracker's alarms so many are kept."""


class Occurrence(NamedTuple):
    """Something that happened to a tracker."""

    seq: int
    """Sequence number, growing by one per tracker."""
    type: OccurrenceType
    noticed_at: datetime
    """When it was noticed, in UTC."""
    since: datetime
    """Since when it is so, or when it happened by the tracker's report, in UTC."""
    before: datetime | None = None
    """Since when it had been otherwise, None where that is not known."""
    attributes: Mapping[str, Any] = {}

    @override
    def __repr__(self) -> str:
        """Return no place: Home Assistant's log has what a listener failed at."""
        return f"{self.type} {self.seq}"

    @property
    def is_event(self) -> bool:
        """Return whether it is an event, and not the change of a flag alone."""
        return self.type not in FLAG_CHANGES.values()


def kept(known: tuple[Occurrence, ...], last_fired: int) -> tuple[Occurrence, ...]:
    """Return those still to be fired, the newest, and the newest event of each type.

    The next occurrence gets the number after the newest. An entity shows the last event of
    its types, also if other events followed.
    """
    events = {it.type: it for it in known if it.is_event}
    shown = (*events.values(), *known[-1:])
    return tuple(it for it in known if it.seq > last_fired or it in shown)


class UpdateContext(NamedTuple):
    """When a report is applied, and what is known of the time before it."""

    now: datetime
    recovering: bool = False
    """Whether the tracker was unavailable before."""
    is_complete: bool = False
    """Whether no report can be missing between this one and the one before."""
    has_history: bool = False
    """Whether the service may have a history."""
    has_missed: bool = False
    """Whether nobody asked for reports for a while before this one."""


ALARM_TYPES: Final = (
    *("sos", "vibration", "movement", "tow", "tampering", "removing"),
    *("fall_down", "accident", "overspeed", "geofence_exit", "geofence_enter"),
    *("low_battery", "low_power", "power_cut", "power_restored"),
    *("power_off", "power_on", "lock", "unlock", "door", "fault", "jamming"),
    "other",
)
"""What kinds of alarms there are; the last one is any that nobody knows."""
# Nobody sets off so many at once; it bounds what a server may send.
_MAX_AT_ONCE: Final = 20
_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)


class Alarm(NamedTuple):
    """One alarm of one report; of two words in a report each is one."""

    word: str
    """What the service calls it."""
    report: int
    """The ID of the position."""
    reported_at: datetime | None
    """When the tracker sent the report by its own clock, in UTC."""

    @property
    def type(self) -> str:
        """Return what it is called here: `fallDown` is `fall_down`."""
        name = re.sub(r"(?=[A-Z])", "_", self.word).lower()
        # What Traccar up to 4.14 calls it.
        name = "vibration" if name == "shock" else name
        return name if name in ALARM_TYPES else "other"


def alarms_of(position: Position) -> list[Alarm]:
    """Return the alarms that a report was sent for, each once."""
    words = (position.alarm or "").split(",", _MAX_AT_ONCE)[:_MAX_AT_ONCE]
    reported_at = position.device_time or position.fix_time
    each_once = dict.fromkeys(filter(None, map(one_line, words)))
    return [Alarm(word, position.id, reported_at) for word in each_once]


def is_known(alarm: Alarm, known: Sequence[Alarm]) -> bool:
    """Return whether an alarm is known, or was and may have been forgotten.

    The last 50 are kept: one that is older than all of these may be any before them.
    """
    if any((it.word, it.report) == (alarm.word, alarm.report) for it in known):
        return True
    time = alarm.reported_at or _BEGINNING
    return len(known) >= MAX_WAITING and all(
        alarm.report <= it.report and time <= (it.reported_at or _BEGINNING)
        for it in known
    )
