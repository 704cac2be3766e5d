"""Simulated trackers, and the reports that they send during a journey."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import cos, radians, sqrt
from random import Random

from custom_components.bike_tracker.api.models import Position
from tests.tools.simulator.streets import METERS_PER_DEGREE, Point, meters

from .trips import Journey, Moment

_KILOMETERS_PER_HOUR = 3.6


@dataclass(frozen=True)
class Tracker:
    """The intervals, errors and faults of a tracker."""

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
    """Share of the fixes at rest that begin a group of up to eight fixes near the same wrong place (0 to 1)."""
    spikes: float = 0
    """Share of the fixes that are some hundred meters from the true place (0 to 1)."""
    says_speed: bool = True
    """Whether it reports speed and motion."""
    says_total: bool = True
    jumps: float = 0
    """Share of the fixes that are at least 50 km from the true place (0 to 1)."""
    buffers: float = 0
    """Share of the reports with which a delay of some minutes begins (0 to 1). Delayed reports arrive together."""


@dataclass(frozen=True)
class Report:
    """A position, and when the server receives it."""

    position: Position
    comes_at: datetime

    @property
    def fix_time(self) -> datetime:
        """Return the time of the fix."""
        assert self.position.fix_time is not None
        return self.position.fix_time

    @property
    def sent_at(self) -> datetime:
        """Return when the tracker sent the report, by its own clock; if unknown, when the server receives the report."""
        return self.position.device_time or self.comes_at

    @property
    def point(self) -> Point:
        """Return the place of the fix."""
        return self.position.latitude or 0, self.position.longitude or 0

    def changed(self, **fields: object) -> Report:
        """Return the report with these values in its position."""
        # The names of the fields are not known here, so mypy cannot check their types.
        position = self.position._replace(**fields)  # type: ignore[arg-type]
        return replace(self, position=position)

    def moved(self, degrees: float) -> Report:
        """Return the report with its place moved to the north by these degrees of latitude."""
        return self.changed(latitude=self.point[0] + degrees)


class _Receiver:
    """Measures places with errors. The error of a fix depends on the error of the fix before."""

    def __init__(self, tracker: Tracker, random: Random) -> None:
        self._tracker, self._random = tracker, random
        # Errors in meters: the real part to the north, the imaginary part to the east.
        self._error = 0j
        # Additional errors of the next fixes, while walls reflect the signals.
        self._astray: list[complex] = []

    def measured(self, moment: Moment) -> Point:
        """Return the true place of a moment, plus an error."""
        tracker, random, point = self._tracker, self._random, moment.point
        # Two of three errors in the plane are below 1.5 standard deviations. The root
        # makes the average size of the errors independent of `drifts`.
        deviation = tracker.accuracy / 1.5 * sqrt(1 - tracker.drifts**2)
        error = self._error = tracker.drifts * self._error + self._gauss(deviation)
        is_free = not moment.speed and not self._astray
        if is_free and tracker.strays and random.random() < tracker.strays:
            far, count = self._gauss(120), random.randint(1, 8)
            self._astray = [far + self._gauss(30) for _ in range(count)]
        if self._astray:
            error += self._astray.pop()
        if tracker.spikes and random.random() < tracker.spikes:
            error = self._gauss(400)
        if random.random() < tracker.jumps:
            error = self._gauss(200_000)
            error += 100_000 if abs(error) < 50_000 else 0
        north = error.real / METERS_PER_DEGREE
        east = error.imag / METERS_PER_DEGREE / cos(radians(point[0]))
        return point[0] + north, point[1] + east

    def _gauss(self, deviation: float) -> complex:
        return complex(
            self._random.gauss(0, deviation), self._random.gauss(0, deviation)
        )


def reports(
    tracker: Tracker, journey: Journey, begin: datetime, end: datetime, seed: int
) -> Iterator[Report]:
    """Yield the reports of a tracker between two times. They are in order of the tracker's clock."""
    random = Random(f"{tracker.name}-{seed}")  # noqa: S311 - no secret
    receiver, position, last = _Receiver(tracker, random), Position(1, 0), None
    total, late_until = 0.0, begin - timedelta(days=1)
    claimed = tracker.accuracy if tracker.claims is None else tracker.claims
    for time, moment in _moments(tracker, journey, begin, end, random):
        comes_at = time
        position = position._replace(id=position.id + 1, device_time=time)
        # If a message has no fix, Traccar repeats the last fix, with the bike at rest.
        position = position._replace(speed=0, motion=False)
        if moment is not None:
            point = receiver.measured(moment)
            # The server adds the distance from the last fix to its total.
            total += meters(last or point, point)
            last = point
            speed = moment.speed * _KILOMETERS_PER_HOUR * random.uniform(0.9, 1.1)
            if time > late_until and random.random() < tracker.buffers:
                late_until = time + timedelta(minutes=random.uniform(2, 8))
            position = position._replace(
                fix_time=time,
                latitude=point[0],
                longitude=point[1],
                accuracy=claimed,
                speed=speed,
                motion=moment.speed > 0,
                total_distance=total / 1_000 if tracker.says_total else None,
            )
            delay = timedelta(seconds=random.uniform(0, 3))
            comes_at = max(time + delay, late_until)
        if not tracker.says_speed:
            position = position._replace(speed=None, motion=None)
        yield Report(position, comes_at)


def _moments(
    tracker: Tracker, journey: Journey, begin: datetime, end: datetime, random: Random
) -> Iterator[tuple[datetime, Moment | None]]:
    """Yield the time of each report, with the place and speed at that time, or None if the last fix is repeated."""
    step = timedelta(seconds=tracker.every)

    def parked(until: datetime) -> Iterator[tuple[datetime, Moment | None]]:
        for seconds, is_fix in ((tracker.parked, True), (tracker.repeats, False)):
            time = begin + step
            while seconds and (time := time + timedelta(seconds=seconds)) < until:
                yield time, journey.at(time) if is_fix else None

    yield begin, journey.at(begin)
    for trip in journey.trips:
        yield from parked(trip.starts_at)
        time = trip.starts_at + step * random.random()
        while time < trip.ends_at:
            yield time, trip.at(time)
            time += step
        # Report the arrival. A standing bike then reports at another interval.
        yield time, trip.at(time)
        begin = trip.ends_at
    yield from parked(end)
