"""Trackers of every rhythm: what each reports of a journey."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import cos, hypot, radians, sqrt
from random import Random

from custom_components.bike_tracker.api.models import Position
from tests.tools.simulator.streets import METRES_PER_DEGREE, Point, metres

from .trips import Journey, Moment, Trip

_KILOMETRES_PER_HOUR = 3.6
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Tracker:
    """How a tracker reports."""

    name: str
    every: float
    """Seconds between two reports under way."""
    parked: float | None = None
    """Seconds between two while it stands; None is that it sleeps."""
    repeats: float | None = None
    """Seconds between two messages without a fix while it stands."""
    accuracy: float = 6
    """Metres that two of three fixes keep."""
    claims: float | None = None
    """Metres of accuracy that it reports, 0 for none; None is what is true."""
    drifts: float = 0.8
    """How much of the error of a fix the next one has too."""
    strays: float = 0
    """How many of its fixes while it stands begin a walk of minutes, a house or two away."""
    spikes: float = 0
    """How many of its fixes are some streets away."""
    says_speed: bool = True
    says_total: bool = True
    jumps: float = 0
    """How many of its fixes are anywhere."""
    buffers: float = 0
    """How many of its reports come minutes late."""

    @property
    def claimed(self) -> float:
        """Return the metres of accuracy that it reports."""
        return self.accuracy if self.claims is None else self.claims


@dataclass(frozen=True)
class Report:
    """A position, and when the server has it."""

    position: Position
    comes_at: datetime


@dataclass
class _Sensors:
    """What a tracker measures, and what the server adds."""

    tracker: Tracker
    random: Random
    position: Position = field(default_factory=lambda: Position(1, 0))
    """The last one."""
    off: Point = (0, 0)
    """Metres to the north and the east that the fixes are off."""
    total: float = 0
    last: Point | None = None
    is_astray: list[Point] = field(default_factory=list)
    """Metres that it is going to be off besides."""
    late_until: datetime = _NEVER

    def report(self, moment: Moment, time: datetime) -> Report:
        """Return what is reported of a moment."""
        tracker, random = self.tracker, self.random
        point = self._measured(moment)
        if self.last is not None:
            self.total += metres(self.last, point)
        self.last = point
        speed = moment.speed * _KILOMETRES_PER_HOUR * random.uniform(0.9, 1.1)
        if time > self.late_until and random.random() < tracker.buffers:
            self.late_until = time + timedelta(minutes=random.uniform(2, 8))
        self.position = Position(
            device_id=1,
            id=self.position.id + 1,
            fix_time=time,
            latitude=point[0],
            longitude=point[1],
            accuracy=tracker.claimed,
            speed=speed if tracker.says_speed else None,
            motion=moment.speed > 0 if tracker.says_speed else None,
            device_time=time,
            total_distance=self.total / 1_000 if tracker.says_total else None,
        )
        delay = timedelta(seconds=random.uniform(0, 3))
        return Report(self.position, max(time + delay, self.late_until))

    def repeated(self, time: datetime) -> Report:
        """Return a message that repeats the last fix, as Traccar makes them of a heartbeat."""
        says_speed = self.tracker.says_speed
        self.position = self.position._replace(
            id=self.position.id + 1,
            speed=0 if says_speed else None,
            motion=False if says_speed else None,
            device_time=time,
        )
        return Report(self.position, time)

    def _measured(self, moment: Moment) -> Point:
        """Return where the tracker thinks it is: off by what it was off before, and more."""
        tracker, random, point = self.tracker, self.random, moment.point
        # Of a deviation of 1 in both directions, two of three are nearer than 1.5.
        deviation = tracker.accuracy / 1.5 * sqrt(1 - tracker.drifts**2)
        self.off = (
            tracker.drifts * self.off[0] + random.gauss(0, deviation),
            tracker.drifts * self.off[1] + random.gauss(0, deviation),
        )
        north, east = self.off
        if tracker.strays and not moment.speed and not self.is_astray:
            self.is_astray = _astray(random) if random.random() < tracker.strays else []
        if self.is_astray:
            north, east = _added((north, east), self.is_astray.pop())
        if tracker.spikes and random.random() < tracker.spikes:
            north, east = random.gauss(0, 400), random.gauss(0, 400)
        if random.random() < tracker.jumps:
            north, east = random.gauss(0, 200_000), random.gauss(0, 200_000)
            if hypot(north, east) < 50_000:
                north += 100_000
        return (
            point[0] + north / METRES_PER_DEGREE,
            point[1] + east / METRES_PER_DEGREE / cos(radians(point[0])),
        )


def _added(one: Point, other: Point) -> Point:
    return one[0] + other[0], one[1] + other[1]


def _astray(random: Random) -> list[Point]:
    """Return how far a fix is off, report by report, while walls reflect the satellites."""
    far = random.gauss(0, 120), random.gauss(0, 120)
    return [
        _added(far, (random.gauss(0, 30), random.gauss(0, 30)))
        for _ in range(random.randint(1, 8))
    ]


def reports(
    tracker: Tracker, journey: Journey, begin: datetime, end: datetime, seed: int
) -> Iterator[Report]:
    """Yield what a tracker reports from here to there, in the order of its clock."""
    random = Random(f"{tracker.name}-{seed}")  # noqa: S311 - no secret
    sensors = _Sensors(tracker, random)
    yield sensors.report(journey.at(begin), begin)
    until = begin
    for trip in journey.trips:
        yield from _parked(sensors, journey, until, trip.starts_at)
        yield from _under_way(sensors, trip)
        until = trip.ends_at
    yield from _parked(sensors, journey, until, end)


def _under_way(sensors: _Sensors, trip: Trip) -> Iterator[Report]:
    step = timedelta(seconds=sensors.tracker.every)
    time = trip.starts_at + step * sensors.random.random()
    while time < trip.ends_at:
        yield sensors.report(trip.at(time), time)
        time += step
    # It tells that it stands, in its own rhythm.
    yield sensors.report(trip.arrived, time)


def _parked(
    sensors: _Sensors, journey: Journey, begin: datetime, end: datetime
) -> Iterator[Report]:
    tracker = sensors.tracker
    begin += timedelta(seconds=tracker.every)
    for time in _each(tracker.parked, begin, end):
        yield sensors.report(journey.at(time), time)
    for time in _each(tracker.repeats, begin, end):
        yield sensors.repeated(time)


def _each(seconds: float | None, begin: datetime, end: datetime) -> Iterator[datetime]:
    """Yield each so many-th second between these times, none without a number."""
    while seconds and (begin := begin + timedelta(seconds=seconds)) < end:
        yield begin
