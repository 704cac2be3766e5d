"""What triggers wait for, as a table: what became so of a tracker, or happened to it."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple

from ..tracking import ALARM_TYPES, Alarm, RideEvent, Said, Tracker, Triggered

AT_ONCE: Final = timedelta()
_SILENT_FOR: Final = timedelta(hours=24)


class Item(NamedTuple):
    """One thing that a trigger may tell of a tracker."""

    at: datetime
    """Its number: who told it tells only what has a later one."""
    since: datetime
    before: datetime | None = None
    """Since when it had been otherwise, if that was seen."""
    more: dict[str, Any] = {}
    """What else there is to say of it."""
    is_change: bool = True
    """Whether it was otherwise before: the first word about a tracker is no change."""
    is_over: bool = False
    """Whether it is so no longer: there is nothing to wait for any more."""


class Kind(NamedTuple):
    """What a trigger waits for, and what a condition asks for."""

    reads: Callable[[Tracker], Any]
    """Returns that of a tracker on which it stands: the rest may change as it likes."""
    items: Callable[[Any], Iterable[Item]]
    """Returns what there is to tell of that, oldest first."""
    wait: timedelta | None = None
    """How long it has to be so unless told otherwise, None if that is not asked."""
    is_silence: bool = False
    """Whether it is so only once the wait is over, by an answer asked for after that."""
    names: tuple[str, ...] = ()
    """From which of these a person may choose, each the `type` of an item."""

    def items_of(self, tracker: Tracker) -> list[Item]:
        """Return what there is to tell of a tracker, oldest first."""
        return list(self.items(self.reads(tracker)))

    def judged_at(self, asked_at: datetime | None, now: datetime) -> datetime:
        """Return by when it has to be so, given when the newest answer was asked for."""
        return asked_at if self.is_silence and asked_at else now


def _changes(said: Said | None, *, is_so: bool) -> Iterator[Item]:
    """Yield since when it is so, or was until it changed once more just now."""
    if said is None:
        return
    if said.is_so is is_so:
        yield Item(said.since, said.since, said.before, is_change=said.changes > 0)
    elif said.before is not None and said.changes > 1:
        yield Item(said.before, said.before, is_over=True)


def _since(at: datetime | None) -> Iterator[Item]:
    """Yield since when it is so, of which there is no opposite."""
    if at is not None:
        yield Item(at, at)


def _alarms(alarms: Iterable[Alarm]) -> Iterator[Item]:
    for alarm in alarms:
        if alarm.heard_at:
            more = {"type": alarm.type, **alarm.described()}
            yield Item(alarm.heard_at, alarm.time or alarm.heard_at, more=more)


def _rides(
    events: Iterable[RideEvent], *, which: Literal["started", "ended"]
) -> Iterator[Item]:
    for event in events:
        if event.type == which and event.heard_at:
            ride = event.ride
            since = ride.moved_at if which == "ended" else ride.started_at
            yield Item(event.heard_at, since, more=event.described())


def _guards(triggered: Triggered | None) -> Iterator[Item]:
    if triggered:
        yield Item(triggered.heard_at, triggered.since, more=triggered.described())


_online, _moving = attrgetter("online"), attrgetter("story.since.moving")
_ride_events = attrgetter("story.ride_events")
_becomes, _becomes_not = partial(_changes, is_so=True), partial(_changes, is_so=False)

KINDS: Final = {
    "alarm_raised": Kind(attrgetter("story.alarms"), _alarms, names=ALARM_TYPES),
    "became_silent": Kind(
        attrgetter("device.last_update"),
        _since,
        _SILENT_FOR,
        is_silence=True,
    ),
    "came_online": Kind(_online, _becomes),
    "guard_triggered": Kind(attrgetter("triggered"), _guards),
    "ride_ended": Kind(_ride_events, partial(_rides, which="ended")),
    "ride_started": Kind(_ride_events, partial(_rides, which="started")),
    "started_moving": Kind(_moving, _becomes, AT_ONCE),
    "stopped_moving": Kind(_moving, _becomes_not, AT_ONCE),
    "went_offline": Kind(_online, _becomes_not, AT_ONCE),
}
"""By the names of triggers."""

ASKED: Final = {
    "is_guarded": Kind(attrgetter("guarded_since"), _since),
    "is_moving": KINDS["started_moving"]._replace(wait=None),
    "is_not_moving": KINDS["stopped_moving"],
    "is_offline": KINDS["went_offline"],
    "is_online": KINDS["came_online"],
    "is_silent": KINDS["became_silent"],
}
"""By the names of conditions: true while it is so."""
