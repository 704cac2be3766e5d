"""Worlds in which trackers err, clocks are wrong and reports are lost: what is found there."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import cache
from random import Random

from custom_components.bike_tracker.tracking.ride_state import Ride

from .accuracy import rides_of
from .home import Home
from .plan import BEGIN, a_journey, restarts
from .trackers import Report, Tracker, reports
from .trips import Journey

TRIPS = 45
_SEED = 1
_DAYS = 60
_MINUTE = timedelta(minutes=1)
_LATE = timedelta(minutes=10)
_AT_ONCE = timedelta()

type Bend = Callable[[Iterable[Report], Journey], Iterable[Report]]
"""What becomes of reports on their way."""


_EACH_MINUTE = Tracker("each minute", every=60, parked=60)


@dataclass(frozen=True)
class World:
    """A tracker that reports each minute, and what becomes of its reports."""

    name: str
    tracker: Tracker = _EACH_MINUTE
    bend: Bend = lambda said, _journey: said
    behind: timedelta = _AT_ONCE
    """How far the times that it reports are behind."""
    restarts: bool = False
    has_history: bool = False
    is_clear: bool = True
    """Whether its fixes are as good as it says, and the arrival is reported."""


@dataclass(frozen=True)
class Found:
    """What was made of the trips in a world."""

    as_one: int
    """Trips that were told as one ride."""
    lost: int
    invented: int
    """Rides that were told and never were."""
    in_all: float
    """Of the total distance too much, in per cent."""


def _with(bent: Callable[[Report, timedelta, timedelta], Report | None]) -> Bend:
    """Return what becomes of a report so long after its trip began, and before it ends."""

    def bend(said: Iterable[Report], journey: Journey) -> Iterator[Report]:
        for report in said:
            trip, now = journey.begun(report.comes_at), report.comes_at
            if trip is None:
                yield report
            elif one := bent(report, now - trip.starts_at, trip.ends_at - now):
                yield one

    return bend


def _tunnel(report: Report, gone: timedelta, left: timedelta) -> Report | None:
    is_in_it = timedelta() < left and abs(gone - left) < 4 * _MINUTE
    return None if is_in_it else report


def _lost_arrival(report: Report, _gone: timedelta, left: timedelta) -> Report | None:
    return None if -2 * _MINUTE < left < _MINUTE else report


def _cold_start(report: Report, gone: timedelta, left: timedelta) -> Report | None:
    """Hear nothing in the first minute under way, and then know the place badly."""
    if left < timedelta() or gone > 3 * _MINUTE:
        return report
    if gone < _MINUTE:
        return None
    position = report.position
    assert position.latitude is not None
    off = Random(position.id).gauss(0, 0.0005)  # noqa: S311 - no secret
    return _changed(report, accuracy=80.0, latitude=position.latitude + off)


def _changed(report: Report, **fields: object) -> Report:
    # It takes whatever a test of its fields puts in there.
    position = report.position._replace(**fields)  # type: ignore[arg-type]
    return Report(position, report.comes_at)


def _says_it_stands(said: Iterable[Report], _journey: Journey) -> Iterator[Report]:
    for report in said:
        yield _changed(report, motion=False, speed=0.0)


def clock(ahead: timedelta) -> Bend:
    """Let the tracker's clock be ahead by this time."""

    def bend(said: Iterable[Report], _journey: Journey) -> Iterator[Report]:
        for report in said:
            assert report.position.fix_time is not None
            time = report.position.fix_time + ahead
            yield _changed(report, fix_time=time, device_time=time)

    return bend


def _counts_anew(said: Iterable[Report], _journey: Journey) -> Iterator[Report]:
    random, counted = Random("anew"), 0.0  # noqa: S311 - no secret
    for report in said:
        total = report.position.total_distance or 0
        if random.random() < 0.002:
            counted = total
        yield _changed(report, total_distance=total - counted)


def _at_the_date_line(said: Iterable[Report], journey: Journey) -> Iterator[Report]:
    _, home = journey.at(journey.trips[0].starts_at).point
    for report in said:
        assert report.position.longitude is not None
        east = report.position.longitude - home
        yield _changed(report, longitude=180 + east if east < 0 else east - 180)


WORLDS = (
    World("6 m, as it says"),
    World("20 m, as it says", replace(_EACH_MINUTE, accuracy=20)),
    World("6 m, says no accuracy", replace(_EACH_MINUTE, claims=0)),
    World("says always that it stands", bend=_says_it_stands),
    World("tunnels of 4 minutes", bend=_with(_tunnel)),
    World("cold starts", bend=_with(_cold_start)),
    World("clock 3 minutes ahead", bend=clock(3 * _MINUTE), behind=-3 * _MINUTE),
    World("clock 2 hours ahead", bend=clock(120 * _MINUTE)),
    World("clock 2 hours behind", bend=clock(-120 * _MINUTE), behind=120 * _MINUTE),
    World("reports that come late", replace(_EACH_MINUTE, buffers=0.01)),
    World("server that counts anew", bend=_counts_anew),
    World("at the date line", bend=_at_the_date_line),
    World("restarts of Home Assistant", restarts=True),
    World(
        "noise of 20 m, says 4 m",
        replace(_EACH_MINUTE, accuracy=20, claims=4),
        is_clear=False,
    ),
    World(
        "drift of 15 m, says 4 m",
        replace(_EACH_MINUTE, accuracy=15, claims=4, drifts=0.95),
        is_clear=False,
    ),
    World(
        "noise of 30 m, says no accuracy",
        replace(_EACH_MINUTE, accuracy=30, claims=0),
        is_clear=False,
    ),
    World("strays indoors", replace(_EACH_MINUTE, strays=0.006), is_clear=False),
    World(
        "strays indoors, says no accuracy",
        replace(_EACH_MINUTE, strays=0.006, claims=0),
        is_clear=False,
    ),
    World("2 % spikes", replace(_EACH_MINUTE, spikes=0.02), is_clear=False),
    World(
        "2 % spikes, says no accuracy",
        replace(_EACH_MINUTE, spikes=0.02, claims=0),
        is_clear=False,
    ),
    World(
        "arrival lost, then hourly",
        replace(_EACH_MINUTE, parked=3_600),
        _with(_lost_arrival),
        is_clear=False,
    ),
    World(
        "arrival lost, says no accuracy",
        replace(_EACH_MINUTE, parked=3_600, claims=0),
        _with(_lost_arrival),
        is_clear=False,
    ),
)


@cache
def found_in(world: World) -> Found:
    """Return what is found of the trips in a world."""
    journey = Journey(a_journey(_SEED, _DAYS).trips[:TRIPS])
    begin = datetime.combine(BEGIN, time(), UTC)
    end = journey.trips[-1].ends_at + timedelta(days=1)
    home = Home(world.has_history)
    home.live(
        world.bend(reports(world.tracker, journey, begin, end, _SEED), journey),
        end,
        restarts=restarts(_SEED, end) if world.restarts else (),
    )
    fired = home.booked if world.has_history else [ride for _, ride in home.started]
    fired = [_at(ride, world.behind) for ride in fired]
    rides = [rides_of(trip, fired, _LATE) for trip in journey.trips]
    (_, first), (_, last) = home.totals[0], home.totals[-1]
    true = sum(trip.kilometres for trip in journey.trips)
    return Found(
        as_one=sum(len(of) == 1 for of in rides),
        lost=sum(not of for of in rides),
        invented=len(fired) - sum(map(len, rides)),
        in_all=((last - first) / true - 1) * 100,
    )


def _at(ride: Ride, behind: timedelta) -> Ride:
    return ride._replace(
        started_at=ride.started_at + behind, moved_at=ride.moved_at + behind
    )
