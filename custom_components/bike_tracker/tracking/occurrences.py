"""Occurrences: what happened to a tracker, in order, each to be fired once."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

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

_CHANGES_OF_FLAGS: Final = {
    *("came_online", "went_offline", "started_moving", "stopped_moving")
}
# Of one type: so many wait to be fired, and the last ones are kept after that.
MAX_WAITING: Final = 50
# Of those that were fired: entities show the last one of their types.
_MAX_EVENTS: Final = 2


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

    @property
    def is_event(self) -> bool:
        """Return whether it is an event, and not the change of a flag alone."""
        return self.type not in _CHANGES_OF_FLAGS


def last_seq(occurrences: tuple[Occurrence, ...]) -> int:
    """Return the sequence number of the newest, 0 before the first."""
    return occurrences[-1].seq if occurrences else 0


def added(
    occurrences: tuple[Occurrence, ...], new: Occurrence
) -> tuple[Occurrence, ...]:
    """Return the occurrences with a new one, which gets the next number.

    The oldest of its type goes if there are too many: a tracker that raises an alarm each
    second in an outage fills no memory, and costs its other occurrences nothing.
    """
    if sum(known.type == new.type for known in occurrences) >= MAX_WAITING:
        oldest = next(known for known in occurrences if known.type == new.type)
        occurrences = tuple(known for known in occurrences if known is not oldest)
    return (*occurrences, new._replace(seq=last_seq(occurrences) + 1))


def kept(
    occurrences: tuple[Occurrence, ...], last_fired: int
) -> tuple[Occurrence, ...]:
    """Return those that are to be fired, the newest, and the last events before.

    The newest has the number that the next one counts on from.
    """
    events = [known for known in occurrences if known.is_event][-_MAX_EVENTS:]
    return tuple(
        known
        for known in occurrences
        if known.seq > last_fired or known is occurrences[-1] or known in events
    )


class UpdateContext(NamedTuple):
    """When a report is applied, and what is known of the time before it."""

    now: datetime
    recovering: bool = False
    """Whether the tracker was unavailable before."""
    is_complete: bool = False
    """Whether no report can be missing between this one and the one before."""
    has_history: bool = False
    """Whether the service may have a history."""
