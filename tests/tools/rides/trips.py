"""Trips of a bike through the simulated town, and interruptions of the service."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from tests.tools.simulator.streets import HOME, JUNCTIONS, Point, Route

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
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
        """Return whether another range overlaps this one, or begins or ends less than `margin` away from it."""
        starts_at, ends_at = self.starts_at - margin, self.ends_at + margin
        return starts_at < other.ends_at and other.starts_at < ends_at


class Trip(Span):
    """A ride from junction to junction. The bike stops at some junctions, as at a red light."""

    def __init__(
        self, random: Random, starts_at: datetime, start: Point, hops: int
    ) -> None:
        """Start at this junction and time. Ride to another junction `hops` times, the last time not to the start."""
        # Each route, with the seconds from the start of the trip to the start and to the
        # end of the route.
        self._routes = list[tuple[Route, float, float]]()
        self.end, seconds = start, 0.0
        for left in reversed(range(hops)):
            away_from = self.end, self.end if left else start
            others = [place for place in JUNCTIONS if place not in away_from]
            route = Route(self.end, random.choice(others))
            self.end = route.at(route.length)
            begin = seconds
            seconds += route.length * _TOWN / random.uniform(3.5, 7.0)
            self._routes.append((route, begin, seconds))
            if left and random.random() < 0.4:
                seconds += random.uniform(10, 120)
        super().__init__(starts_at, starts_at + timedelta(seconds=seconds))
        meters = sum(route.length for route, *_ in self._routes) * _TOWN
        self.kilometers = meters / 1_000

    @property
    def middle(self) -> datetime:
        """Return the time in the middle of the trip."""
        return self.starts_at + (self.ends_at - self.starts_at) / 2

    def at(self, time: datetime) -> Moment:
        """Return the place and speed at a time after the start. The bike stands between two routes and after the last."""
        now = (time - self.starts_at).total_seconds()
        route, begin, end = [it for it in self._routes if it[1] <= now][-1]
        share = min((now - begin) / (end - begin), 1)
        speed = route.length * _TOWN / (end - begin) if share < 1 else 0
        return Moment(_in_town(route.at(share * route.length)), speed)


def _in_town(point: Point) -> Point:
    north, east = (it - home for it, home in zip(point, HOME, strict=True))
    return HOME[0] + north * _TOWN, HOME[1] + east * _TOWN


@dataclass
class Journey:
    """All trips of a bike. Before the first trip, it stands at home, and after each trip at the end of that trip."""

    trips: list[Trip]
    """The trips in order of time. They do not overlap."""

    @property
    def kilometers(self) -> float:
        """Return the length of all trips."""
        return sum(trip.kilometers for trip in self.trips)

    def at(self, time: datetime) -> Moment:
        """Return the place and speed of the bike at a time."""
        trip = self.begun(time)
        return trip.at(time) if trip else Moment(HOME)

    def begun(self, time: datetime) -> Trip | None:
        """Return the newest trip that starts at this time or before it. Return None before the first trip."""
        number = bisect_right(self.trips, time, key=lambda trip: trip.starts_at)
        return self.trips[number - 1] if number else None


def a_journey(seed: int, days: int) -> Journey:
    """Return the random trips of a person: to work and back, some at weekends, none in winter."""
    random = Random(f"journey-{seed}")  # noqa: S311 - no secret
    place, trips = HOME, list[Trip]()
    for number in range(days):
        for starts_at in _rides_of(random, BEGIN + timedelta(days=number)):
            if trips and starts_at < trips[-1].ends_at + timedelta(minutes=40):
                continue
            trips.append(Trip(random, starts_at, place, random.randint(1, 3)))
            place = trips[-1].end
    return Journey(trips)


def _rides_of(random: Random, day: datetime) -> Iterator[datetime]:
    """Yield the start times of the rides of a day. In winter, yield none."""
    hours = list[float]()
    if (day.month, day.day) >= (12, 15) or (day.month, day.day) < (2, 15):
        return
    if day.weekday() < 5:
        hours = [random.gauss(7.5, 0.3), random.gauss(17, 0.7)]
    elif random.random() < 0.6:
        hours = [random.uniform(9, 12), random.uniform(13, 16), random.uniform(17, 20)]
    for hour in hours:
        if random.random() < 0.9:
            yield day + timedelta(hours=hour)


def outages(journey: Journey, seed: int, end: datetime) -> list[Span]:
    """Return random outages: two a week, each of minutes or hours.

    Leave out outages with more than one ride: if two rides fall into an outage, the
    first of them cannot be detected.
    """
    random = Random(f"outages-{seed}")  # noqa: S311 - no secret
    now, spans, margin = BEGIN + timedelta(hours=1), list[Span](), timedelta(minutes=40)
    while (now := now + timedelta(hours=random.uniform(12, 156))) < end:
        span = Span(now, now + timedelta(minutes=random.uniform(3, 180)))
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
