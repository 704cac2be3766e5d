"""Worlds in which trackers err: what they report of 45 trips, and what is made of that."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from random import Random

from .accuracy import rides_of
from .home import Home
from .plan import BEGIN, a_journey, restarts
from .trackers import Report, Tracker, reports
from .trips import Journey, Trip

TRIPS = 45
_DAYS = 60
_MINUTE = timedelta(minutes=1)

type Bend = Callable[[Iterable[Report], Journey], Iterator[Report]]


def _as_it_is(said: Iterable[Report], _journey: Journey) -> Iterator[Report]:
    yield from said


@dataclass(frozen=True)
class World:
    """A tracker, and what becomes of its reports."""

    tracker: Tracker
    bend: Bend = _as_it_is
    is_honest: bool = True
    """Whether its accuracy is what it says."""
    restarts: bool = False

    @property
    def name(self) -> str:
        """Return what it is called."""
        return self.tracker.name


@dataclass(frozen=True)
class Found:
    """What became of the trips in a world."""

    as_one: int
    lost: int
    invented: int
    """Rides that were told and never were."""
    in_all: float
    """Of the total distance too much, in per cent."""


def _tracker(name: str, **how: float) -> Tracker:
    """Return one that reports each minute, always."""
    return Tracker(name, **{"every": 60, "parked": 60, **how})


def _without(is_lost: Callable[[Trip, datetime], bool]) -> Bend:
    """Return a world in which reports are lost during trips."""

    def bend(said: Iterable[Report], journey: Journey) -> Iterator[Report]:
        for report in said:
            time = report.comes_at
            if not any(is_lost(trip, time) for trip in journey.trips):
                yield report

    return bend


def _is_in_tunnel(trip: Trip, time: datetime) -> bool:
    middle = trip.starts_at + (trip.ends_at - trip.starts_at) / 2
    return middle <= time < middle + 4 * _MINUTE


def _is_arrival(trip: Trip, time: datetime) -> bool:
    return trip.ends_at - _MINUTE <= time < trip.ends_at + 2 * _MINUTE


def _cold_start(said: Iterable[Report], journey: Journey) -> Iterator[Report]:
    """Lose the first minutes of each trip, then know the place badly at first."""
    random = Random("cold")  # noqa: S311 - no secret
    for report in said:
        begun = [
            report.comes_at - trip.starts_at
            for trip in journey.trips
            if trip.starts_at <= report.comes_at < trip.ends_at
        ]
        if begun and begun[0] < 2 * _MINUTE:
            continue
        position = report.position
        if begun and begun[0] < 4 * _MINUTE:
            position = position._replace(
                accuracy=80.0,
                latitude=(position.latitude or 0) + random.gauss(0, 0.0005),
            )
        yield Report(position, report.comes_at)


def _clock(ahead: timedelta) -> Bend:
    def bend(said: Iterable[Report], _journey: Journey) -> Iterator[Report]:
        for report in said:
            position = report.position
            assert position.fix_time is not None
            assert position.device_time is not None
            yield Report(
                position._replace(
                    fix_time=position.fix_time + ahead,
                    device_time=position.device_time + ahead,
                ),
                report.comes_at,
            )

    return bend


def _resets(said: Iterable[Report], _journey: Journey) -> Iterator[Report]:
    """Let the server begin to count anew now and then."""
    random, base = Random("resets"), 0.0  # noqa: S311 - no secret
    for report in said:
        total = report.position.total_distance or 0
        if random.random() < 0.002:
            base = total
        yield Report(
            report.position._replace(total_distance=total - base), report.comes_at
        )


def _antimeridian(said: Iterable[Report], journey: Journey) -> Iterator[Report]:
    """Live where one day ends and the other begins."""
    east = 180 - journey.trips[0].at(journey.trips[0].starts_at).point[1]
    for report in said:
        longitude = (report.position.longitude or 0) + east
        if longitude >= 180:
            longitude -= 360
        yield Report(report.position._replace(longitude=longitude), report.comes_at)


WORLDS = (
    World(_tracker("honest, 6 m")),
    World(_tracker("honest, 20 m", accuracy=20)),
    World(_tracker("says little", claims=0)),
    World(_tracker("tunnels"), _without(_is_in_tunnel)),
    World(_tracker("cold starts"), _cold_start),
    World(_tracker("clock 3 min ahead"), _clock(3 * _MINUTE)),
    World(_tracker("clock 2 h ahead"), _clock(120 * _MINUTE)),
    World(_tracker("clock 2 h behind"), _clock(-120 * _MINUTE)),
    World(_tracker("buffers", buffers=0.01)),
    World(_tracker("resets"), _resets),
    World(_tracker("antimeridian"), _antimeridian),
    World(_tracker("restarts"), restarts=True),
    World(_tracker("noise 20 claims 4", accuracy=20, claims=4), is_honest=False),
    World(_tracker("noise 20 claims 4 white", accuracy=20, claims=4, drifts=0), is_honest=False),
    World(
        _tracker("drift 15 claims 4 .95", accuracy=15, claims=4, drifts=0.95),
        is_honest=False,
    ),
    World(
        _tracker("drift 15 claims 4 .99", accuracy=15, claims=4, drifts=0.99),
        is_honest=False,
    ),
    World(_tracker("noise 30 no accuracy", accuracy=30, claims=0), is_honest=False),
    World(_tracker("indoors", strays=0.01), is_honest=False),
    World(_tracker("indoors no accuracy", strays=0.01, claims=0), is_honest=False),
    World(_tracker("spikes", spikes=0.02), is_honest=False),
    World(_tracker("spikes no accuracy", spikes=0.02, claims=0), is_honest=False),
    World(_tracker("lost arrival", parked=3_600), _without(_is_arrival), False),
    World(_tracker("lost arrival no accuracy", parked=3_600, claims=0), _without(_is_arrival), False),
    World(_tracker("lost arrival no total", parked=3_600, says_total=False), _without(_is_arrival), False),
)


def find(world: World, seed: int = 1) -> Found:
    """Return what is found of the trips."""
    journey = Journey(a_journey(seed, _DAYS).trips[:TRIPS])
    begin = datetime.combine(BEGIN, time(), UTC)
    end = journey.trips[-1].ends_at + timedelta(days=1)
    home = Home()
    home.live(
        world.bend(reports(world.tracker, journey, begin, end, seed), journey),
        end,
        restarts=restarts(seed, end) if world.restarts else (),
    )
    told = [ride for _, ride in home.started]
    late = timedelta(minutes=10)
    shift = timedelta()
    if told and "clock 2 h behind" == world.name:
        shift = timedelta(hours=2)
    told = [r._replace(started_at=r.started_at + shift, moved_at=r.moved_at + shift) for r in told]
    counts = [len(rides_of(trip, told, late)) for trip in journey.trips]
    first, last = home.totals[0][1], home.totals[-1][1]
    true = sum(trip.kilometres for trip in journey.trips)
    return Found(
        as_one=counts.count(1),
        lost=counts.count(0),
        invented=len(told) - sum(counts),
        in_all=((last - first) / true - 1) * 100,
    )
