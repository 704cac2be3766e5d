"""What is told of a tracker's rides, what waits to be told, and what the book has of them."""

from datetime import datetime
from typing import Final, NamedTuple

from .checkpoint import Checkpoint, after_report, is_at_rest
from .occurrences import Moment, RideEvent, following, later
from .track import Ride, RideNews, Track

_KEPT: Final = 10
# Of rides that a history may still make exact: nobody rides more often in a week.
_MOST: Final = 100


class KnownRide(NamedTuple):
    """A ride that was told, or that is only for the book."""

    number: datetime
    """Which one it is: when it was first heard of, later than any before it, in UTC."""
    ride: Ride
    """As it is known now. One that was none after all went nowhere."""
    is_over: bool
    heard_at: datetime
    """When that was heard of, later than what is known of any other, in UTC."""


class RideLog(NamedTuple):
    """What was told of a tracker's rides, and what is going to be."""

    events: tuple[RideEvent, ...] = ()
    """The last starts and ends, oldest first."""
    waiting: tuple[RideEvent, ...] = ()
    """What comes after these, without a number: it waits for the service's history."""
    known: tuple[KnownRide, ...] = ()
    """The last rides, and all that the history may still make exact, oldest first."""
    checkpoint: Checkpoint | None = None

    @property
    def waits_until(self) -> datetime | None:
        """Return when what waits is told, whether the history came by then or not."""
        return self.checkpoint.waits_until if self.checkpoint and self.waiting else None

    def after_report(
        self, before: Track, track: Track, news: list[RideNews], moment: Moment
    ) -> RideLog:
        """Return what is told after a report, of which a track tells these news."""
        point = after_report(self.checkpoint, before, track, news, moment)
        log = self if point is self.checkpoint else self._replace(checkpoint=point)
        for kind, ride in news:
            log = log.after(RideEvent(kind, ride, None), moment)
        if track.ended and track.ended is not before.ended:
            log = log.corrected(track.ended, moment.now)
        if (point := log.checkpoint) and not point.wanted_at and is_at_rest(track):
            log = log._replace(checkpoint=None)
        return log.after_time(moment)

    def after_time(self, moment: Moment) -> RideLog:
        """Return what is told now, as far as it does not wait any longer."""
        until = self.waits_until
        is_in_vain = not (until and moment.now < until and moment.has_history)
        return self.wait_no_more(moment) if is_in_vain else self

    def wait_no_more(self, moment: Moment) -> RideLog:
        """Return what is told now, as nothing waits any longer."""
        log = self._replace(waiting=()) if self.waiting else self
        for event in self.waiting:
            log = log.told(event, moment)
        return log

    def told(self, event: RideEvent, moment: Moment) -> RideLog:
        """Return what is told once an event is."""
        now = moment.now
        events = later(self.events, [event], moment)
        log, is_over = self._replace(events=events), event.type == "ended"
        for item in reversed(self.known if is_over else ()):
            if not item.is_over:
                return log.with_known(item._replace(ride=event.ride, is_over=True), now)
        return log.with_new(event.ride, now, is_over=is_over)

    def corrected(self, ride: Ride, now: datetime) -> RideLog:
        """Return what is told once more is known of a ride that is over."""
        start = ride.started_at
        waiting = tuple(
            item._replace(ride=ride)
            if item.type == "ended" and item.ride.started_at == start
            else item
            for item in self.waiting
        )
        log, item = self._replace(waiting=waiting), self._over(ride)
        return log.with_known(item._replace(ride=ride), now) if item else log

    def with_new(self, ride: Ride, now: datetime, *, is_over: bool) -> RideLog:
        """Return what is told, and that there is one more ride."""
        number = following((item.number for item in self.known), now)
        return self.with_known(KnownRide(number, ride, is_over, now), now)

    def with_known(self, item: KnownRide, now: datetime) -> RideLog:
        """Return what is told, and that this is known of a ride from now on."""
        if item in self.known:
            return self
        heard_at = following((known.heard_at for known in self.known), now)
        others = [known for known in self.known if known.number != item.number]
        known = tuple(sorted([*others, item._replace(heard_at=heard_at)]))
        if len(known) <= (_MOST if self.checkpoint else _KEPT):
            return self._replace(known=known)
        older, newer = known[:-_KEPT], known[-_KEPT:]
        # What was heard of just now is not in the book yet.
        kept = tuple(item for item in older if item.heard_at >= now)
        return self._replace(known=kept + newer, checkpoint=None)

    def after(self, event: RideEvent, moment: Moment) -> RideLog:
        """Return what is told, or waits, after the start or the end of a ride."""
        point, is_end = self.checkpoint, event.type == "ended"
        if is_end and point and point.lacks and not self.waiting:
            point = point._replace(wanted_at=moment.now)
        log, until = self._replace(checkpoint=point), point and point.waits_until
        if is_end and self._over(event.ride):
            # It was told as over, but it had gone on.
            return log
        if self.waiting or (until and moment.now < until):
            return log._replace(waiting=(*self.waiting, event))
        return log.told(event, moment)

    def _over(self, ride: Ride) -> KnownRide | None:
        """Return what was told of a ride as over."""
        start = ride.started_at
        over = (item for item in self.known if item.is_over)
        return next((item for item in over if item.ride.started_at == start), None)


NO_RIDES = RideLog()
