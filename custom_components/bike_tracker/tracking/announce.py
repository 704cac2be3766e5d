"""Announcements: they decide for which starts and ends of rides an event is fired."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final, Literal, NamedTuple

from .rides import Ride

# The times of a ride from polls differ from its times in the history by at most this.
_SAME_RIDE_WITHIN: Final = timedelta(minutes=2)

type RideEvent = tuple[Literal["started", "ended"], Ride]


class Announced(NamedTuple):
    """A ride that was announced: the event of its start was fired."""

    start: datetime
    end: datetime
    is_open: bool = False
    """Whether the event of the ride's end is still to be fired."""

    def overlaps(self, ride: Ride) -> bool:
        """Return whether a ride overlaps the announced ride, or is at most two minutes away from it."""
        start, end = max(self.start, ride.started_at), min(self.end, ride.moved_at)
        return start <= end + _SAME_RIDE_WITHIN

    def grown(self, rides: Iterable[Ride]) -> Announced:
        """Return the announced ride, extended so that it includes these rides."""
        start, end = self.start, self.end
        for ride in rides:
            start, end = min(start, ride.started_at), max(end, ride.moved_at)
        return self._replace(start=start, end=end)


def announce(
    announced: Sequence[Announced], over: Sequence[Ride], under_way: Ride | None
) -> tuple[tuple[Announced, ...], list[RideEvent]]:
    """Return the announced rides after an update, and the events to fire now.

    Each announced ride is matched with rides that ended (`over`) or are under way. A
    ride without a match is new: its events are fired. No event is fired twice.
    """
    rides = [*over, *([under_way] if under_way else [])]
    rides.sort(key=attrgetter("started_at"))
    matches, events = _matches(announced, rides), list[RideEvent]()
    own = _assigned(announced, rides, matches)
    known, after = set[Ride](), list[Announced]()
    for it, matched, ride in zip(announced, matches, own, strict=True):
        if ride and len(matched) > 1:
            # The history shows several rides in place of the announced one. From now
            # on, the announcement stands only for `ride`.
            it = Announced(ride.started_at, ride.moved_at, it.is_open)
            matched = [ride]
        else:
            it = it.grown(matched)
        known.update(matched)
        if it.is_open and under_way not in matched:
            events.append(("ended", matched[-1] if matched else Ride(it.start, it.end)))
            it = it._replace(is_open=False)
        after.append(it)
    for ride in rides:
        if ride not in known:
            is_open = ride is under_way
            events.append(("started", ride))
            events += [] if is_open else [("ended", ride)]
            after.append(Announced(ride.started_at, ride.moved_at, is_open))
    return tuple(after), events


def _matches(announced: Sequence[Announced], rides: Sequence[Ride]) -> list[list[Ride]]:
    """For each announced ride, return the list of rides that match it."""
    matches = [[ride for ride in rides if it.overlaps(ride)] for it in announced]
    matched = {ride for found in matches for ride in found}
    for it, found in zip(announced, matches, strict=True):
        if not found:
            # No ride overlaps the announced ride, so a replay of the reports moved it
            # to an earlier time. Match it with the last unmatched ride that began
            # before the announced end.
            left = [ride for ride in rides if ride not in matched]
            found += [ride for ride in left if ride.started_at <= it.end][-1:]
            matched.update(found)
    return matches


def _assigned(
    announced: Sequence[Announced],
    rides: Sequence[Ride],
    matches: Sequence[Sequence[Ride]],
) -> list[Ride | None]:
    """For each announced ride, return one of its matches, or None if none is left. No ride is returned twice."""
    own: list[Ride | None] = [None] * len(announced)
    free = sorted(range(len(announced)), key=lambda number: announced[number].start)
    for ride in rides:
        number = next((it for it in free if ride in matches[it]), None)
        if number is not None:
            own[number] = ride
            free.remove(number)
    return own
