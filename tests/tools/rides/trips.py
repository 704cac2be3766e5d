"""Trips of a bike through the streets of the simulator: when, how far, and where to."""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

from tests.tools.simulator.streets import HOME, JUNCTIONS, Point, Route


@dataclass(frozen=True)
class UpdateContext:
    """Where a bike is, and how fast."""

    point: Point
    speed: float = 0
    """Metres per second."""


class Trip:
    """A ride from junction to junction, with red lights at some of them.

    In a town that is so many times as large as that of the simulator.
    """

    def __init__(
        self,
        random: Random,
        starts_at: datetime,
        start: Point,
        hops: int,
        scale: float = 1,
    ) -> None:
        """Set off at this time from a junction."""
        self.starts_at = starts_at
        self._scale = scale
        self._routes: list[Route] = []
        # Seconds since the start, and metres up to there.
        self._seconds, self._metres = [0.0], [0.0]
        self.end = start
        for hop in range(hops):
            self._ride(random, away_from=start if hop == hops - 1 else self.end)
            if hop < hops - 1 and random.random() < 0.4:
                self._wait(random.uniform(10, 120))

    @property
    def kilometres(self) -> float:
        """Return how far it is."""
        return self._metres[-1] / 1_000

    @property
    def ends_at(self) -> datetime:
        """Return when it arrives."""
        return self.starts_at + timedelta(seconds=self._seconds[-1])

    def at(self, time: datetime) -> UpdateContext:
        """Return where it is at a time between start and end."""
        seconds = (time - self.starts_at).total_seconds()
        part = min(bisect_right(self._seconds, seconds), len(self._seconds) - 1)
        (begin, end), (start, stop) = (
            (values[part - 1], values[part]) for values in (self._seconds, self._metres)
        )
        speed = (stop - start) / (end - begin)
        metres = min(start + speed * (seconds - begin), stop)
        for route in self._routes:
            if metres <= route.length * self._scale:
                point = route.at(metres / self._scale).point
                return UpdateContext(in_a_town(point, self._scale), speed)
            metres -= route.length * self._scale
        return self.arrived

    @property
    def arrived(self) -> UpdateContext:
        """Return where it stands when it has arrived."""
        return UpdateContext(in_a_town(self.end, self._scale))

    def _ride(self, random: Random, away_from: Point) -> None:
        """Ride on to another junction, at last to another one than it came from."""
        others = [place for place in JUNCTIONS if place not in (self.end, away_from)]
        route = Route(self.end, random.choice(others))
        self._routes.append(route)
        length = route.length * self._scale
        self._seconds.append(self._seconds[-1] + length / random.uniform(3.5, 7.0))
        self._metres.append(self._metres[-1] + length)
        self.end = route.at(route.length).point

    def _wait(self, seconds: float) -> None:
        self._seconds.append(self._seconds[-1] + seconds)
        self._metres.append(self._metres[-1])


def in_a_town(point: Point, scale: float) -> Point:
    """Return where a place is in a town that is so many times as large."""
    return (
        HOME[0] + (point[0] - HOME[0]) * scale,
        HOME[1] + (point[1] - HOME[1]) * scale,
    )


class Journey:
    """All trips of one bike, and where it stands between them."""

    def __init__(self, trips: list[Trip]) -> None:
        """Stand at home before the first of these trips."""
        assert all(
            trip.ends_at < following.starts_at for trip, following in pairwise(trips)
        )
        self.trips = trips
        self._starts = [trip.starts_at for trip in trips]

    def at(self, time: datetime) -> UpdateContext:
        """Return where the bike is."""
        trip = self.begun(time)
        if trip is None:
            return UpdateContext(HOME)
        return trip.at(time) if time < trip.ends_at else trip.arrived

    def begun(self, time: datetime) -> Trip | None:
        """Return the trip that began last, over or not."""
        number = bisect_right(self._starts, time)
        return self.trips[number - 1] if number else None
