"""Worlds with faulty trackers, clocks or services, and the rides that are detected there."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from math import pi, sin
from random import Random
from typing import Any, override

from custom_components.bike_tracker.tracking.ride_state import Ride
from tests.tools.simulator.streets import HOME, METRES_PER_DEGREE, Point, metres

from .home import Home, Service, fix_time
from .trackers import Report, Tracker, reports
from .trips import BEGIN, Journey, Moment, Span, Trip, a_journey, restarts

TRIPS = 45
_SEED = 1
_DAYS = 60
_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_LATE = timedelta(minutes=10)
_AT_ONCE = timedelta()

type Bend = Callable[[Iterable[Report], Journey], Iterable[Report]]
"""Function that changes reports before they arrive."""


def _as_sent(said: Iterable[Report], _journey: Journey) -> Iterable[Report]:
    return said


def days_of_riding(days: int) -> Callable[[], Journey]:
    """Return a function that makes a journey of this many days."""
    return lambda: a_journey(_SEED, days)


def _usual() -> Journey:
    return Journey(a_journey(_SEED, _DAYS).trips[:TRIPS])


EACH_10_S = Tracker("each 10 s", every=10, repeats=3_600)
_EACH_MINUTE = Tracker("each minute", every=60, parked=60)
_PLAIN, _HISTORY = Service(), Service(has_history=True)


@dataclass(frozen=True)
class World:
    """A tracker and its trips, the faults of its reports, the service, and the house that receives the reports."""

    name: str
    tracker: Tracker = _EACH_MINUTE
    bend: Bend = _as_sent
    behind: timedelta = _AT_ONCE
    """How far the tracker's clock is behind."""
    service: Service = _PLAIN
    clock: timedelta = _AT_ONCE
    """How far the house's clock is ahead."""
    journey: Callable[[], Journey] = _usual
    outages: Callable[[Journey], Iterable[Span]] = lambda _journey: ()
    restarts: bool = False
    is_clear: bool = True
    """Whether fixes are as exact as reported, clocks steady, and arrivals reported. If not, tests allow errors."""


@dataclass(frozen=True)
class Found:
    """What was detected in a world."""

    trips: int
    as_one: int
    """Number of trips that were detected as one ride."""
    lost: int
    invented: int
    """Number of rides that belong to no trip."""
    started: int
    """Number of starts that were fired."""
    ended: int
    distances: list[float]
    """Error of the distance of each trip, in percent."""
    in_all: float
    """Error of the distance of all trips together, in percent."""
    starts: list[float]
    """Error of each start, in seconds."""
    ends: list[float]


def middle(trip: Trip) -> datetime:
    """Return the time in the middle of a trip."""
    return trip.starts_at + (trip.ends_at - trip.starts_at) / 2


def place(report: Report) -> Point:
    """Return the place in a report."""
    return report.position.latitude or 0, report.position.longitude or 0


def _with(bent: Callable[[Report, timedelta, timedelta], Report | None]) -> Bend:
    """Return a function that applies `bent` to each report, from the start of the first trip on.

    The arguments of `bent` are the report, the time since the start of its trip, and
    the time until the end of that trip (negative after it). If `bent` returns None, the
    report is lost.
    """

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
    """Lose all reports of the first minute of a trip. The fixes of the next two minutes are inexact."""
    if left < timedelta() or gone > 3 * _MINUTE:
        return report
    if gone < _MINUTE:
        return None
    position = report.position
    assert position.latitude is not None
    off = Random(position.id).gauss(0, 0.0005)  # noqa: S311 - no secret
    return report.changed(accuracy=80.0, latitude=position.latitude + off)


def _each(bent: Callable[[Report], Report]) -> Bend:
    """Return a function that changes each report on its own."""
    return lambda said, _journey: map(bent, said)


def _clock(ahead: timedelta) -> Bend:
    """Return a function that sets the tracker's clock ahead by this much."""
    return _each(lambda report: _changed_time(report, ahead))


def _changed_time(report: Report, ahead: timedelta) -> Report:
    sent_at = (report.position.device_time or report.comes_at) + ahead
    return report.changed(fix_time=fix_time(report) + ahead, device_time=sent_at)


def _falls_back(said: Iterable[Report], journey: Journey) -> Iterator[Report]:
    """In the middle of every third trip, set the tracker's clock back by ten minutes for an hour."""
    back = [middle(trip) for trip in journey.trips[::3]]
    for report in said:
        is_back = any(it <= report.comes_at < it + _HOUR for it in back)
        report = report.changed(server_time=report.comes_at)
        yield _changed_time(report, -10 * _MINUTE if is_back else _AT_ONCE)


def _glitches(said: Iterable[Report], _journey: Journey) -> Iterator[Report]:
    """Shift the times of some reports by an hour, forward or back."""
    random = Random("glitches")  # noqa: S311 - no secret
    for report in said:
        is_off = random.random() < 0.02
        off = random.choice([_HOUR, -_HOUR])
        yield _changed_time(report, off if is_off else _AT_ONCE)


def _as_received(said: Iterable[Report]) -> Iterator[Report]:
    """Yield the reports with the IDs and kilometers that a server such as Traccar adds.

    Traccar adds the distance from its newest fix. The total of a late fix therefore
    contains the way back from the newest fix to the late fix.
    """
    newest: Report | None = None
    total = 0.0
    coming = sorted(said, key=lambda report: report.comes_at)
    for number, report in enumerate(coming, 1):
        way = metres(place(newest or report), place(report))
        yield report.changed(
            id=number,
            total_distance=(total + way) / 1_000,
            server_time=report.comes_at,
        )
        if newest is None or fix_time(report) >= fix_time(newest):
            newest, total = report, total + way


def _newest_first(said: Iterable[Report], journey: Journey) -> Iterable[Report]:
    """Let each trip lead through a dead zone. Send its reports within a minute afterwards, the newest first."""

    def bend(report: Report, gone: timedelta, left: timedelta) -> Report:
        is_held = gone > _MINUTE and left > _MINUTE
        late = left - _MINUTE + (left - _MINUTE) / 30 if is_held else _AT_ONCE
        return replace(report, comes_at=report.comes_at + late)

    return _as_received(_with(bend)(said, journey))


def _uploaded_in_parallel(said: Iterable[Report], journey: Journey) -> Iterable[Report]:
    """After each trip, upload its reports over several connections at once, so that they arrive in any order."""
    random = Random("parallel")  # noqa: S311 - no secret

    def bend(report: Report, _gone: timedelta, left: timedelta) -> Report:
        is_held = left > -_MINUTE
        late = left + 2 * _MINUTE + _MINUTE / 3 * random.random()
        return Report(report.position, report.comes_at + late * is_held)

    return _as_received(_with(bend)(said, journey))


def _until_half_way(journey: Journey) -> list[Span]:
    """Return an outage for each trip, from ten minutes before its start to its middle."""
    return [Span(trip.starts_at - _LATE, middle(trip)) for trip in journey.trips]


def _pairs() -> Journey:
    """Return a pair of trips for each day. The second starts a quarter of an hour after the end of the first."""
    random, trips = Random("pairs"), list[Trip]()  # noqa: S311 - no secret
    for number in range(TRIPS):
        starts_at = BEGIN + 8 * _HOUR + number // 2 * _DAY
        if number % 2:
            starts_at = trips[-1].ends_at + 15 * _MINUTE
        start = trips[-1].end if trips else HOME
        trips.append(Trip(random, starts_at, start, 2))
    return Journey(trips)


class _Spin(Trip):
    """A ride of forty seconds that starts and ends at the same place, between two polls."""

    def __init__(self, number: int) -> None:
        """Start five seconds after a full minute. Rides with consecutive numbers start twenty minutes apart."""
        start = BEGIN + 20 * (number + 1) * _MINUTE + _MINUTE / 12
        super().__init__(Random(number), start, HOME, 1)  # noqa: S311 - no secret
        self.ends_at = start + 2 / 3 * _MINUTE

    @override
    def at(self, time: datetime) -> Moment:
        part = (time - self.starts_at) / (self.ends_at - self.starts_at)
        north = 120 * sin(pi * part) / METRES_PER_DEGREE
        return Moment((HOME[0] + north, HOME[1]), 4)

    @property
    @override
    def arrived(self) -> Moment:
        return Moment(HOME)


def spins() -> Journey:
    """Return rides that no poll can see, because each starts and ends at home between two polls."""
    return Journey([_Spin(number) for number in range(100)])


def _around_stops(journey: Journey) -> list[Span]:
    """Return an outage for each pair of trips, from the middle of the first trip to the middle of the second."""
    pairs = zip(journey.trips[::2], journey.trips[1::2], strict=False)
    return [Span(middle(first), middle(second)) for first, second in pairs]


def each_second_day(journey: Journey) -> list[Span]:
    """Return an outage of each second day, from midnight to midnight."""
    days = (journey.trips[-1].ends_at - BEGIN).days + 1
    return [Span(BEGIN + n * _DAY, BEGIN + (n + 1) * _DAY) for n in range(1, days, 2)]


def _counts_anew(said: Iterable[Report], _journey: Journey) -> Iterator[Report]:
    random, counted = Random("anew"), 0.0  # noqa: S311 - no secret
    for report in said:
        total = report.position.total_distance or 0
        if random.random() < 0.002:
            counted = total
        yield report.changed(total_distance=total - counted)


def _at_the_date_line(said: Iterable[Report], journey: Journey) -> Iterator[Report]:
    _, home = journey.at(journey.trips[0].starts_at).point
    for report in said:
        assert report.position.longitude is not None
        east = report.position.longitude - home
        yield report.changed(longitude=180 + east if east < 0 else east - 180)


_UNCLEAR: dict[str, dict[str, Any]] = {
    "noise of 20 m, reports 4 m": {"accuracy": 20, "claims": 4},
    "drift of 15 m, reports 4 m": {"accuracy": 15, "claims": 4, "drifts": 0.95},
    "noise of 30 m, without accuracy": {"accuracy": 30, "claims": 0},
    "strays indoors": {"strays": 0.006},
    "strays indoors, without accuracy": {"strays": 0.006, "claims": 0},
    "2 % spikes": {"spikes": 0.02},
    "2 % spikes, without accuracy": {"spikes": 0.02, "claims": 0},
    "arrival lost, then hourly": {"parked": 3_600},
    "arrival lost, without accuracy": {"parked": 3_600, "claims": 0},
}
"""Fields of the tracker in worlds in which fixes are less exact than reported, or the arrival is not reported."""
WORLDS = (
    World("6 m, as reported"),
    World("20 m, as reported", replace(_EACH_MINUTE, accuracy=20)),
    World("6 m, without accuracy", replace(_EACH_MINUTE, claims=0)),
    World(
        "always reports rest",
        bend=_each(lambda it: it.changed(motion=False, speed=0.0)),
    ),
    World("tunnels of 4 minutes", bend=_with(_tunnel)),
    World("cold starts", bend=_with(_cold_start)),
    World("clock 3 minutes ahead", bend=_clock(3 * _MINUTE), behind=-3 * _MINUTE),
    World("clock 2 hours ahead", bend=_clock(120 * _MINUTE)),
    World("clock 3 hours behind", bend=_clock(-3 * _HOUR), behind=3 * _HOUR),
    World(
        "clock that falls back by 10 minutes",
        EACH_10_S,
        _falls_back,
        service=_HISTORY,
        is_clear=False,
    ),
    World(
        "2 % of the times an hour off",
        bend=_glitches,
        service=Service(says_time=False, is_live=True),
        is_clear=False,
    ),
    World(
        "house 8 hours behind",
        service=Service(says_time=False),
        clock=-8 * _HOUR,
        behind=8 * _HOUR,
    ),
    World("reports that come late", replace(_EACH_MINUTE, buffers=0.01)),
    World("server that counts anew", bend=_counts_anew),
    World("at the date line", bend=_at_the_date_line),
    World("restarts of Home Assistant", restarts=True),
    World(
        "late fixes over live, newest first, with a red light",
        EACH_10_S,
        _newest_first,
        service=Service(has_history=True, is_live=True),
    ),
    World(
        "parallel upload, totals out of order",
        EACH_10_S,
        _uploaded_in_parallel,
        service=_HISTORY,
    ),
    World(
        "messages during a slow history answer (3 to 45 s)",
        EACH_10_S,
        service=Service(has_history=True, is_live=True, answers=(3, 45)),
        outages=_until_half_way,
    ),
    World(
        "two rides around an outage, third in the queue",
        EACH_10_S,
        service=Service(has_history=True, queue=2 * _MINUTE),
        journey=_pairs,
        outages=_around_stops,
    ),
    World(
        "history that is too large half of the time",
        EACH_10_S,
        service=Service(has_history=True, refuses=0.5),
        outages=each_second_day,
    ),
    *(
        World(
            name,
            replace(_EACH_MINUTE, **errs),
            _with(_lost_arrival) if "parked" in errs else _as_sent,
            is_clear=False,
        )
        for name, errs in _UNCLEAR.items()
    ),
)


@cache
def lived(world: World) -> tuple[Journey, Home]:
    """Return the journey of a world, and a home after all its trips."""
    journey, home = world.journey(), Home(world.service, world.clock)
    end = journey.trips[-1].ends_at + _DAY
    said = reports(world.tracker, journey, BEGIN, end, _SEED)
    home.live(
        world.bend(said, journey),
        end,
        world.outages(journey),
        restarts(_SEED, end) if world.restarts else (),
    )
    return journey, home


def found_in(world: World) -> Found:
    """Return what was detected in a world."""
    journey, home = lived(world)
    rides = home.booked if world.service.has_history else home.rides
    rides = [
        it._replace(
            started_at=it.started_at + world.behind, moved_at=it.moved_at + world.behind
        )
        for it in rides
    ]
    found = [(trip, rides_of(trip, rides, _LATE)) for trip in journey.trips]
    seen = [(trip, of) for trip, of in found if of]
    return Found(
        trips=len(found),
        as_one=sum(len(of) == 1 for _, of in found),
        lost=len(found) - len(seen),
        invented=len({*rides} - {ride for _, of in found for ride in of}),
        started=len(home.started),
        ended=len(home.ended),
        distances=[distance_error(of, trip) for trip, of in seen],
        in_all=((home.totals[-1] - home.totals[0]) / journey.kilometres - 1) * 100,
        starts=[(of[0].started_at - it.starts_at).total_seconds() for it, of in seen],
        ends=[(of[-1].moved_at - it.ends_at).total_seconds() for it, of in seen],
    )


def unseen(world: World) -> tuple[int, int]:
    """Return the number of trips during outages (or of all, without outages), and of detected ones."""
    (journey, home), spans = lived(world), list(world.outages(world.journey()))
    trips = [
        trip
        for trip in journey.trips
        if not spans or any(trip.starts_at in it and trip.ends_at in it for it in spans)
    ]
    found = [rides_of(trip, home.booked, _MINUTE / 2) for trip in trips]
    return len(trips), sum(len(of) == 1 for of in found)


def distance_error(rides: Iterable[Ride], trip: Trip) -> float:
    """Return the error of the distance of a trip's detected rides, in percent."""
    return (sum(ride.distance for ride in rides) / trip.kilometres - 1) * 100


def rides_of(trip: Trip, rides: Iterable[Ride], late: timedelta) -> list[Ride]:
    """Return the detected rides that overlap a trip, or are less than `late` before or after it."""
    return [it for it in rides if trip.is_near(Span(it.started_at, it.moved_at), late)]
