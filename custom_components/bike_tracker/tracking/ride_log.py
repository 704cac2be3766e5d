"""The last rides of a tracker, and from when on the history has what is missing."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final, NamedTuple

from .distance import Fix, metres, noise
from .occurrences import UpdateContext
from .ride_state import Ride, RideEvent, RideState, Step

# How far back from its newest report the history of a tracker is asked for, by its own
# time, as clocks may be wrong; and for how much longer that may wait in the queue.
_MAX_AGE: Final = timedelta(days=7)
_SPARE: Final = timedelta(hours=1)
# Reports of a bike under way that are farther apart: a poll, or a report a minute, may be
# half a minute late.
_MAX_STEP: Final = timedelta(seconds=90)
# Metres from one report to the next, in such a time, that say it was under way.
_MAX_SKIPPED: Final = 300
# Metres that the server counts between two reports of a bike that stood.
_DRIFT: Final = 150
_MIN_RIDES: Final = 3
# Of rides that a history may still correct: nobody rides more often in a week.
_MAX_RIDES: Final = 100


class HistoryGap(NamedTuple):
    """A time of a tracker of which not every report is known."""

    start: datetime
    """The fix of the newest report before it, in UTC."""
    known: datetime
    """The fix of the newest report of all."""
    noticed_at: datetime
    is_of_ride: bool = False
    """Whether a ride is known of that it has more of."""


class Checkpoint(NamedTuple):
    """How far a tracker came before reports that may not be all there were."""

    ride_state: RideState
    start: datetime
    """From when on reports may be missing."""
    has_gap: bool
    """Whether some may be."""
    wanted_at: datetime | None = None
    """When it was found that the history is needed; None while it is not."""
    answered_until: datetime | None = None
    """Up to when a part of the history came that was not all of it."""
    over: Ride | None = None
    """The last ride that was over at the start."""
    found: tuple[Ride, ...] = ()
    """Rides that are over, by the part of the history that came."""

    @property
    def begins_at(self) -> datetime:
        """Return from when on the next answer of the history tells."""
        return self.answered_until or self.start

    def is_since(self, ride: Ride) -> bool:
        """Return whether a ride was not over at the start."""
        return self.over is None or ride.started_at > self.over.moved_at


class RideLog(NamedTuple):
    """The last rides of a tracker, and what happened just now."""

    events: tuple[RideEvent, ...] = ()
    """Starts and ends that are no occurrences yet, oldest first."""
    rides: tuple[Ride, ...] = ()
    """All rides since `since` that are over, in order of their start."""
    since: datetime | None = None
    """The ride book's rides from here on are these, and no others."""
    checkpoint: Checkpoint | None = None
    """Where the history is to begin; None while nothing is missing that matters."""
    open_since: datetime | None = None
    """When the ride started whose start was fired and whose end was not.

    None where the ride under way was fired as over, and the history knows that it went on.
    """

    def after_report(
        self, before: RideState, step: Step, context: UpdateContext
    ) -> RideLog:
        """Return the log after a report that made a step from `before`."""
        ride_state, events = step
        log, point = self, self._checkpoint_after(before, ride_state, context)
        for kind, ride in events:
            log = log.ended(ride).booked(ride) if kind == "ended" else log.started(ride)
        if point and point.has_gap and "ended" in dict(events):
            point = point._replace(wanted_at=context.now)
        if ride_state.ended and ride_state.ended is not before.ended:
            log = log.booked(ride_state.ended)
        if point and not point.wanted_at and ride_state.is_at_rest:
            point = None
        return log._replace(checkpoint=point)

    def _checkpoint_after(
        self, before: RideState, ride_state: RideState, context: UpdateContext
    ) -> Checkpoint | None:
        """Return where to begin after a report, None if nothing can be missing."""
        point, last, newest = self.checkpoint, before.newest_fix, ride_state.newest_fix
        if last is None or newest is None:
            return None
        if point and newest.time - point.start >= _MAX_AGE:
            point = None
        if not context.has_history:
            # It may have one again, as after a start together with the service.
            return point
        if ride_state.measured_at and ride_state.measured_at > newest.time:
            # By a clock that is ahead the history tells nothing.
            return None
        stood = before.is_at_rest and ride_state.is_at_rest
        unseen = stood and _went_unseen(last, newest)
        has_gap = not context.is_complete or unseen or _skipped(before, last, newest)
        start = max(last.time, newest.time - (_MAX_AGE - _SPARE))
        point = point or Checkpoint(before, start, has_gap, over=before.ended)
        if not has_gap:
            return point
        # The history may know that a ride went on which the clock ended.
        has_missed = context.recovering or context.has_missed or unseen
        wanted_at = context.now if has_missed or before.interrupted else point.wanted_at
        return point._replace(has_gap=True, wanted_at=wanted_at)

    def after_older_report(self, time: datetime | None) -> RideLog:
        """Return the log after a report that came behind a newer one."""
        point = self.checkpoint
        if point is None or time is None or time <= point.start:
            return self
        return self._replace(checkpoint=point._replace(has_gap=True))

    def started(self, ride: Ride) -> RideLog:
        """Return the log with the start of a ride, or without the end that it had not."""
        rides = tuple(it for it in self.rides if it.started_at != ride.started_at)
        if rides != self.rides:
            return self._replace(rides=rides)
        events = (*self.events, ("started", ride))
        return self._replace(events=events, open_since=ride.started_at)

    def ended(self, ride: Ride) -> RideLog:
        """Return the log with the end of the ride that started, unless it was fired."""
        if self.open_since is None:
            return self
        ride = ride._replace(started_at=self.open_since)
        return self._replace(events=(*self.events, ("ended", ride)), open_since=None)

    def booked(self, ride: Ride) -> RideLog:
        """Return the log with a ride that is over, in place of what was known of it."""
        rides = {item.started_at: item for item in self.rides} | {ride.started_at: ride}
        since = self.since or ride.started_at
        return self._replace(rides=in_order_of_start(rides.values()), since=since)

    def trimmed(self) -> RideLog:
        """Return the log without rides that are in the book and that nothing corrects."""
        older, newer = self.rides[:-_MIN_RIDES], self.rides[-_MIN_RIDES:]
        point = self.checkpoint if len(older) < _MAX_RIDES else None
        rides = (*(ride for ride in older if point and point.is_since(ride)), *newer)
        if len(rides) == len(self.rides):
            return self
        return self._replace(rides=rides, since=rides[0].started_at, checkpoint=point)


def in_order_of_start(rides: Iterable[Ride]) -> tuple[Ride, ...]:
    """Return rides in order of their start."""
    return tuple(sorted(rides, key=attrgetter("started_at")))


def _went_unseen(last: Fix, newest: Fix) -> bool:
    """Return whether the server counted more than a bike that stood drifts."""
    if last.total is None or newest.total is None:
        return False
    counted = (newest.total - last.total) * 1_000
    return counted > metres(last, newest) + max(_DRIFT, 2 * noise(last, newest))


def _skipped(before: RideState, last: Fix, newest: Fix) -> bool:
    """Return whether a bike under way, or that set off, was not heard of for a while."""
    is_late = newest.time - last.time > _MAX_STEP
    is_at_rest = before.is_at_rest and not before.interrupted
    return is_late and (not is_at_rest or metres(last, newest) > _MAX_SKIPPED)
