"""Trips of a bike through the simulated town, and interruptions of the service."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from random import Random

from tests.tools.simulator.streets import HOME, JUNCTIONS, Point, Route

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
_LONGEST_OUTAGE = 180
# The town of these trips is larger than the simulator's town by this factor, so that
# crossing it lasts half an hour.
_TOWN = 6


@dataclass(frozen=True)
class Moment:
    """The place and speed of a bike at a time."""

    point: Point
    speed: float = 0
    """Meters per second."""


@dataclass
class Span:
    """A time range."""

    starts_at: datetime
    ends_at: datetime

    def __contains__(self, time: datetime) -> bool:
        """Return whether a time is in the range."""
        return self.starts_at <= time < self.ends_at

    def is_near(self, other: Span, margin: timedelta) -> bool:
        """Return whether another range overlaps this one or is close to it."""
        starts_at, ends_at = self.starts_at - margin, self.ends_at + margin
        return starts_at < other.ends_at and other.starts_at < ends_at


class Trip(Span):
    """A ride from junction to junction. The bike stops at some junctions, as at a red light."""

    def __init__(
        self, random: Random, starts_at: datetime, start: Point, hops: int
    ) -> None:
        """Start at this junction and time. Ride to another junction `hops` times."""
        self._routes: list[Route] = []
        # For each junction and each end of a stop: the seconds since the start, and the
        # meters from the start.
        self._seconds, self._metres = [0.0], [0.0]
        self.end = start
        for hop in range(hops):
            self._ride(random, away_from=start if hop == hops - 1 else self.end)
            if hop < hops - 1 and random.random() < 0.4:
                self._add(random.uniform(10, 120), 0)
        super().__init__(starts_at, starts_at + timedelta(seconds=self._seconds[-1]))
        self.kilometres = self._metres[-1] / 1_000

    def at(self, time: datetime) -> Moment:
        """Return where the bike is at a time during the trip."""
        seconds = (time - self.starts_at).total_seconds()
        part = min(bisect_right(self._seconds, seconds), len(self._seconds) - 1)
        (begin, end), (start, stop) = (
            (values[part - 1], values[part]) for values in (self._seconds, self._metres)
        )
        speed = (stop - start) / (end - begin)
        metres = min(start + speed * (seconds - begin), stop)
        for route in self._routes:
            if metres <= route.length * _TOWN:
                return Moment(_in_town(route.at(metres / _TOWN)), speed)
            metres -= route.length * _TOWN
        return self.arrived

    @property
    def arrived(self) -> Moment:
        """Return where the bike stands after the arrival."""
        return Moment(_in_town(self.end))

    def _ride(self, random: Random, away_from: Point) -> None:
        """Ride to another random junction, but not to `away_from`, so that the trip does not end where it started."""
        others = [place for place in JUNCTIONS if place not in (self.end, away_from)]
        route = Route(self.end, random.choice(others))
        self._routes.append(route)
        length = route.length * _TOWN
        self._add(length / random.uniform(3.5, 7.0), length)
        self.end = route.at(route.length)

    def _add(self, seconds: float, metres: float) -> None:
        self._seconds.append(self._seconds[-1] + seconds)
        self._metres.append(self._metres[-1] + metres)


def _in_town(point: Point) -> Point:
    north, east = (it - home for it, home in zip(point, HOME, strict=True))
    return HOME[0] + north * _TOWN, HOME[1] + east * _TOWN


class Journey:
    """All trips of a bike, and where it stands between them."""

    def __init__(self, trips: list[Trip]) -> None:
        """Use these trips, in order of time. Before the first trip, the bike stands at home."""
        assert all(
            trip.ends_at < following.starts_at for trip, following in pairwise(trips)
        )
        self.trips = trips
        self._starts = [trip.starts_at for trip in trips]

    @property
    def kilometres(self) -> float:
        """Return the length of all trips."""
        return sum(trip.kilometres for trip in self.trips)

    def at(self, time: datetime) -> Moment:
        """Return where the bike is at a time."""
        trip = self.begun(time)
        if trip is None:
            return Moment(HOME)
        return trip.at(time) if time < trip.ends_at else trip.arrived

    def begun(self, time: datetime) -> Trip | None:
        """Return the last trip that has begun at a time, even if it is over. Before the first trip, return None."""
        number = bisect_right(self._starts, time)
        return self.trips[number - 1] if number else None


def a_journey(seed: int, days: int) -> Journey:
    """Return the random trips of a person: to work and back, some at weekends, none in winter."""
    random = Random(f"journey-{seed}")  # noqa: S311 - no secret
    place, trips = HOME, list[Trip]()
    for number in range(days):
        for starts_at in _rides_of(random, BEGIN.date() + timedelta(days=number)):
            if trips and starts_at < trips[-1].ends_at + timedelta(minutes=40):
                continue
            trips.append(Trip(random, starts_at, place, random.randint(1, 3)))
            place = trips[-1].end
    return Journey(trips)


def _rides_of(random: Random, day: date) -> Iterator[datetime]:
    """Yield the start times of the rides of a day. In winter, yield none."""
    if (day.month, day.day) >= (12, 15) or (day.month, day.day) < (2, 15):
        return
    begin, hours = datetime.combine(day, time(), UTC), list[float]()
    if day.weekday() < 5:
        hours = [random.gauss(7.5, 0.3), random.gauss(17, 0.7)]
    elif random.random() < 0.6:
        hours = [random.uniform(9, 12), random.uniform(13, 16), random.uniform(17, 20)]
    for hour in hours:
        if random.random() < 0.9:
            yield begin + timedelta(hours=hour)


def outages(journey: Journey, seed: int, end: datetime) -> list[Span]:
    """Return random outages: two a week, each of minutes or hours.

    Leave out outages with more than one ride: if two rides fall into an outage, the
    first of them cannot be detected.
    """
    random = Random(f"outages-{seed}")  # noqa: S311 - no secret
    now, spans, margin = BEGIN + timedelta(hours=1), list[Span](), timedelta(minutes=40)
    while (now := now + timedelta(hours=random.uniform(12, 156))) < end:
        span = Span(now, now + timedelta(minutes=random.uniform(3, _LONGEST_OUTAGE)))
        if sum(trip.is_near(span, margin) for trip in journey.trips) < 2:
            spans.append(span)
        now = span.ends_at
    return spans


def restarts(seed: int, end: datetime) -> Iterator[datetime]:
    """Yield random times at which Home Assistant is restarted: about once a week."""
    random = Random(f"restarts-{seed}")  # noqa: S311 - no secret
    now = BEGIN + timedelta(hours=1)
    while (now := now + timedelta(hours=random.uniform(24, 300))) < end:
        yield now
