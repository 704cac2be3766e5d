"""Announcements: which starts and ends of rides are still to be fired."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

from .ride_state import Ride

# A ride as polls saw it and the same ride as it was are at most this far apart.
_NEAR: Final = timedelta(minutes=2)

type RideEvent = tuple[Literal["started", "ended"], Ride]


class Announced(NamedTuple):
    """The time for which a start was fired, and perhaps an end."""

    start: datetime
    end: datetime
    is_open: bool = False
    """Whether the end was not fired yet."""

    def is_near(self, ride: Ride) -> bool:
        """Return whether a ride overlaps, or almost does."""
        start, end = max(self.start, ride.started_at), min(self.end, ride.moved_at)
        return start <= end + _NEAR

    def grown(self, rides: Iterable[Ride]) -> Announced:
        """Return the time together with that of these rides."""
        start, end = self.start, self.end
        for ride in rides:
            start, end = min(start, ride.started_at), max(end, ride.moved_at)
        return self._replace(start=start, end=end)


class Known(NamedTuple):
    """The rides of a log, as far as they may be announced."""

    over: Sequence[Ride]
    under_way: Ride | None = None


def announce(
    announced: Sequence[Announced], known: Known
) -> tuple[tuple[Announced, ...], list[RideEvent]]:
    """Return the announced times and the events that bring them up to date.

    Each ride has an announced time of its own, as long as that is not the only one of
    several rides: then further rides are announced. Nothing is fired twice.
    """
    riding = known.under_way
    rides = sorted([*known.over, *([riding] if riding else [])], key=_started_at)
    near = _matches(announced, rides)
    mine = _assigned(announced, rides, near)
    events, after = list[RideEvent](), list[Announced]()
    for number, it in enumerate(announced):
        own, all_near = mine.get(number), near[number]
        matched = [own] if own and len(all_near) > 1 else all_near
        if own and len(all_near) > 1:
            # It was taken for one ride, and was several.
            it = Announced(own.started_at, own.moved_at, it.is_open)
        else:
            it = it.grown(matched)
        if it.is_open and (riding is None or riding not in matched):
            ended = matched[-1] if matched else Ride(it.start, it.end)
            events.append(("ended", ended))
            it = it._replace(is_open=False)
        after.append(it)
    has_time = {id(ride) for ride in mine.values()} | {
        id(ride)
        for number, found in near.items()
        if number not in mine
        for ride in found
    }
    for ride in rides:
        if id(ride) in has_time:
            continue
        is_open = ride is riding
        events.append(("started", ride))
        if not is_open:
            events.append(("ended", ride))
        after.append(Announced(ride.started_at, ride.moved_at, is_open))
    return tuple(after), events


def _matches(
    announced: Sequence[Announced], rides: Sequence[Ride]
) -> dict[int, list[Ride]]:
    """Return the rides that each announced time may be."""
    near = {
        i: [it for it in rides if one.is_near(it)] for i, one in enumerate(announced)
    }
    matched = {id(ride) for found in near.values() for ride in found}
    for number, one in enumerate(announced):
        if not near[number]:
            # The ride was over when it was first seen.
            left = [it for it in rides if id(it) not in matched]
            near[number] = [it for it in left if it.started_at <= one.end][-1:]
            matched.update(map(id, near[number]))
    return near


def _assigned(
    announced: Sequence[Announced], rides: Sequence[Ride], near: dict[int, list[Ride]]
) -> dict[int, Ride]:
    """Return for each announced time the ride that it stands for, in order of time."""
    assigned = dict[int, Ride]()
    order = sorted(range(len(announced)), key=lambda number: announced[number].start)
    for ride in rides:
        free = (
            i for i in order if i not in assigned and any(it is ride for it in near[i])
        )
        if (number := next(free, None)) is not None:
            assigned[number] = ride
    return assigned


def _started_at(ride: Ride) -> datetime:
    return ride.started_at
