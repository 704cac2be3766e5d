"""The starts and ends of a tracker's rides, and what the ride book is to hold of them."""

from collections.abc import Iterable
from datetime import datetime
from operator import attrgetter
from typing import Final, NamedTuple

from .checkpoint import Checkpoint, after_report, is_at_rest
from .occurrences import UpdateContext
from .ride_state import Ride, RideEvent, RideState

_MIN_RIDES: Final = 3
# Of rides that a history may still correct: nobody rides more often in a week.
_MAX_RIDES: Final = 100


class RideLog(NamedTuple):
    """The last rides of a tracker, and what happened just now."""

    events: tuple[RideEvent, ...] = ()
    """Starts and ends that are no occurrences yet, oldest first."""
    rides: tuple[Ride, ...] = ()
    """All rides since `since` that are over, in order of their start."""
    since: datetime | None = None
    """The ride book's rides from here on are these, and no others."""
    checkpoint: Checkpoint | None = None
    open_since: datetime | None = None
    """When the ride started whose start was fired and whose end was not.

    None where the ride under way was fired as over, and the history knows that it went on.
    """

    def after_report(
        self,
        before: RideState,
        ride_state: RideState,
        events: list[RideEvent],
        context: UpdateContext,
    ) -> RideLog:
        """Return the log after a report that brought a ride_state from `before` to here."""
        log = self._trimmed()
        point = after_report(log.checkpoint, before, ride_state, events, context)
        log = log._replace(checkpoint=point)
        for event in events:
            log = log.after_event(event, context)
        if ride_state.ended and ride_state.ended is not before.ended:
            log = log.booked(ride_state.ended)
        if (point := log.checkpoint) and not point.wanted_at and is_at_rest(ride_state):
            log = log._replace(checkpoint=None)
        return log

    def started(self, ride: Ride) -> RideLog:
        """Return the log with the start of a ride."""
        event: RideEvent = ("started", ride)
        return self._replace(events=(*self.events, event), open_since=ride.started_at)

    def added(self, ride: Ride) -> RideLog:
        """Return the log with both of a ride that nobody knew of, another may go on."""
        events: tuple[RideEvent, ...] = (("started", ride), ("ended", ride))
        return self._replace(events=self.events + events)

    def ended(self, ride: Ride) -> RideLog:
        """Return the log with the end of the ride that started, unless it was fired."""
        if self.open_since is None:
            return self
        event: RideEvent = ("ended", ride._replace(started_at=self.open_since))
        return self._replace(events=(*self.events, event), open_since=None)

    def booked(self, ride: Ride) -> RideLog:
        """Return the log with a ride that is over, in place of what was known of it."""
        rides = {item.started_at: item for item in self.rides} | {ride.started_at: ride}
        since = self.since or ride.started_at
        return self._replace(rides=in_order_of_start(rides.values()), since=since)

    def after_event(self, event: RideEvent, context: UpdateContext) -> RideLog:
        """Return the log after the start or the end of a ride."""
        kind, ride = event
        if kind == "started":
            return self.started(ride)
        log, point = self.ended(ride).booked(ride), self.checkpoint
        if point and point.has_gap:
            log = log._replace(checkpoint=point._replace(wanted_at=context.now))
        return log

    def _trimmed(self) -> RideLog:
        """Return the log without rides that are in the book and that nothing corrects."""
        older, newer = self.rides[:-_MIN_RIDES], self.rides[-_MIN_RIDES:]
        point = self.checkpoint if len(older) < _MAX_RIDES else None
        rides = (*(ride for ride in older if point and point.is_since(ride)), *newer)
        if len(rides) == len(self.rides):
            return self
        since = rides[0].started_at
        return self._replace(rides=rides, since=since, checkpoint=point)


def in_order_of_start(rides: Iterable[Ride]) -> tuple[Ride, ...]:
    """Return rides in order of their start."""
    return tuple(sorted(rides, key=attrgetter("started_at")))


NO_RIDES = RideLog()
