"""Trackers with different intervals, and what each of them reports of a journey."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
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
    """How a tracker behaves."""

    name: str
    every: float
    """Seconds between two reports during a ride."""
    parked: float | None = None
    """Seconds between two reports while the bike stands. None if the tracker sends none then."""
    repeats: float | None = None
    """Seconds between two messages without a fix while the bike stands. None if the tracker sends none."""
    accuracy: float = 6
    """Two of three fixes have at most this error, in meters."""
    claims: float | None = None
    """The accuracy that the tracker reports, in meters; 0 if it reports none. None if it reports `accuracy`."""
    drifts: float = 0.8
    """Share of a fix's error that the next fix has, too (0 to 1)."""
    strays: float = 0
    """Share of the fixes at rest with which a group of up to eight fixes a house or two away begins (0 to 1)."""
    spikes: float = 0
    """Share of the fixes that are some streets away (0 to 1)."""
    says_speed: bool = True
    """Whether it reports speed and motion."""
    says_total: bool = True
    jumps: float = 0
    """Share of the fixes that are at least 50 km away (0 to 1)."""
    buffers: float = 0
    """Share of the reports with which a delay of some minutes begins (0 to 1). Delayed reports arrive together."""

    @property
    def claimed(self) -> float:
        """Return the accuracy that it reports, in meters."""
        return self.accuracy if self.claims is None else self.claims


@dataclass(frozen=True)
class Report:
    """A position, and when the server receives it."""

    position: Position
    comes_at: datetime

    def changed(self, **fields: object) -> Report:
        """Return the report with these values in its position."""
        # A test chooses these fields, so their types are not known.
        position = self.position._replace(**fields)  # type: ignore[arg-type]
        return replace(self, position=position)


@dataclass
class _Sensors:
    """The measurements of a tracker, and the values that the server adds: ID, total distance, time of receipt."""

    tracker: Tracker
    random: Random
    position: Position = field(default_factory=lambda: Position(1, 0))
    """The position that was reported last."""
    off: Point = (0, 0)
    """The error of the fixes, in meters to the north and to the east."""
    total: float = 0
    last: Point | None = None
    is_astray: list[Point] = field(default_factory=list)
    """Additional errors that the next fixes will have, in meters."""
    late_until: datetime = _NEVER

    def report(self, moment: Moment, time: datetime) -> Report:
        """Return the next report: the tracker sends it at `time`, with the place and speed of `moment`."""
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
        """Return a message that repeats the last fix. Traccar sends it when a tracker has no fix."""
        says_speed = self.tracker.says_speed
        self.position = self.position._replace(
            id=self.position.id + 1,
            speed=0 if says_speed else None,
            motion=False if says_speed else None,
            device_time=time,
        )
        return Report(self.position, time)

    def _measured(self, moment: Moment) -> Point:
        """Return the place that is measured. Its error depends on the error before it."""
        tracker, random, point = self.tracker, self.random, moment.point
        # In two dimensions, two of three errors are below 1.5 standard deviations. The
        # root keeps the error the same, however much of it the fixes share.
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
    """Return the errors of the next fixes in meters, while walls reflect the signals."""
    far = random.gauss(0, 120), random.gauss(0, 120)
    return [
        _added(far, (random.gauss(0, 30), random.gauss(0, 30)))
        for _ in range(random.randint(1, 8))
    ]


def reports(
    tracker: Tracker, journey: Journey, begin: datetime, end: datetime, seed: int
) -> Iterator[Report]:
    """Yield the reports of a tracker between two times. They are in order of the tracker's clock."""
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
    # Report the arrival. A standing bike then reports at another interval.
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
    """Yield the times between two times at this interval in seconds. Without an interval, yield none."""
    while seconds and (begin := begin + timedelta(seconds=seconds)) < end:
        yield begin
