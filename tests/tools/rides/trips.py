"""Trips of a bike through the streets of the simulator: when, how far, and where to; and what goes wrong."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from random import Random

from tests.tools.simulator.streets import HOME, JUNCTIONS, Point, Route

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
_LONGEST_OUTAGE = 180
# A town through which it takes half an hour, so many times as large as that of the simulator.
_TOWN = 6


@dataclass(frozen=True)
class Moment:
    """Where a bike is, and how fast."""

    point: Point
    speed: float = 0
    """Metres per second."""


@dataclass
class Span:
    """A time in which something holds."""

    starts_at: datetime
    ends_at: datetime

    def __contains__(self, time: datetime) -> bool:
        """Return whether it holds at this time."""
        return self.starts_at <= time < self.ends_at

    def is_near(self, other: Span, margin: timedelta) -> bool:
        """Return whether another span overlaps this one, or is near to it."""
        starts_at, ends_at = self.starts_at - margin, self.ends_at + margin
        return starts_at < other.ends_at and other.starts_at < ends_at


class Trip(Span):
    """A ride from junction to junction, with red lights at some of them."""

    def __init__(
        self, random: Random, starts_at: datetime, start: Point, hops: int
    ) -> None:
        """Set off at this time from a junction."""
        self._routes: list[Route] = []
        # Seconds since the start, and metres up to there.
        self._seconds, self._metres = [0.0], [0.0]
        self.end = start
        for hop in range(hops):
            self._ride(random, away_from=start if hop == hops - 1 else self.end)
            if hop < hops - 1 and random.random() < 0.4:
                self._add(random.uniform(10, 120), 0)
        super().__init__(starts_at, starts_at + timedelta(seconds=self._seconds[-1]))
        self.kilometres = self._metres[-1] / 1_000

    def at(self, time: datetime) -> Moment:
        """Return where it is at a time between start and end."""
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
        """Return where it stands when it has arrived."""
        return Moment(_in_town(self.end))

    def _ride(self, random: Random, away_from: Point) -> None:
        """Ride on to another junction, at last to another one than it came from."""
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
    """All trips of one bike, and where it stands between them."""

    def __init__(self, trips: list[Trip]) -> None:
        """Stand at home before the first of these trips."""
        assert all(
            trip.ends_at < following.starts_at for trip, following in pairwise(trips)
        )
        self.trips = trips
        self._starts = [trip.starts_at for trip in trips]

    @property
    def kilometres(self) -> float:
        """Return how far it is."""
        return sum(trip.kilometres for trip in self.trips)

    def at(self, time: datetime) -> Moment:
        """Return where the bike is."""
        trip = self.begun(time)
        if trip is None:
            return Moment(HOME)
        return trip.at(time) if time < trip.ends_at else trip.arrived

    def begun(self, time: datetime) -> Trip | None:
        """Return the trip that began last, over or not."""
        number = bisect_right(self._starts, time)
        return self.trips[number - 1] if number else None


def a_journey(seed: int, days: int) -> Journey:
    """Return so many days of a person who rides: to work and back, at weekends, not in winter."""
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
    """Yield when rides of a day start; in winter the bike is in the cellar."""
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
    """Return when the service is out of reach, twice a week, for minutes or hours.

    Of two rides in one outage nobody could tell the first.
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
    """Yield when Home Assistant is restarted, about once a week."""
    random = Random(f"restarts-{seed}")  # noqa: S311 - no secret
    now = BEGIN + timedelta(hours=1)
    while (now := now + timedelta(hours=random.uniform(24, 300))) < end:
        yield now
