"""Worlds with faulty trackers, clocks or services, and the rides that are detected there."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from random import Random
from typing import Any

from custom_components.bike_tracker.tracking.rides import Ride
from tests.tools.simulator.streets import HOME, meters

from .home import Home, Service
from .trackers import Report, Tracker, reports
from .trips import BEGIN, Journey, Span, Trip, a_journey, restarts

TRIPS = 45
SEED = 1
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
_DAYS = 60
_DAY = timedelta(days=1)
_LATE = timedelta(minutes=10)
_ZERO = timedelta()

type Bend = Callable[[Iterable[Report], Journey], Iterable[Report]]
"""Function that changes reports before they arrive."""


_EACH_10_S = Tracker("each 10 s", every=10, repeats=3_600)
_EACH_MINUTE = Tracker("each minute", every=60, parked=60)
_PLAIN, HISTORY = Service(), Service(has_history=True)


@dataclass(frozen=True)
class World:
    """A tracker and its trips, the faults of its reports, the service, and the house that receives the reports."""

    name: str
    tracker: Tracker = _EACH_MINUTE
    bend: Bend = lambda said, _journey: said
    service: Service = _PLAIN
    outages: Callable[[Journey], Sequence[Span]] = lambda _journey: ()
    behind: timedelta = _ZERO
    """How far the times of detected rides are behind the true times."""
    clock: timedelta = _ZERO
    """How far the house's clock is ahead of the true time."""
    journey: Callable[[], Journey] = lambda: Journey(
        a_journey(SEED, _DAYS).trips[:TRIPS]
    )
    restarts: bool = False
    is_clear: bool = True
    """Whether fixes are as exact as reported, clocks steady, and arrivals reported. If not, tests allow errors."""


@dataclass(frozen=True)
class Found:
    """The rides that were detected in a world: numbers of trips, rides and fired events, and errors."""

    trips: int
    as_one: int
    """Number of trips for each of which exactly one ride was detected."""
    invented: int
    """Number of rides that belong to no trip."""
    started: int
    ended: int
    distances: list[float]
    """Error of the distance of each detected trip, in percent."""
    in_all: float
    """Error of the distance of all trips together, in percent."""
    starts: list[float]
    """Error of the start of each detected trip, in seconds; negative if it is too early."""
    ends: list[float]


def on_trips(bent: Callable[[Report, timedelta, timedelta], Report | None]) -> Bend:
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


def at_random(seed: str, bent: Callable[[Random, Report], Report]) -> Bend:
    """Return a function that applies `bent` to each report, with random numbers of this seed."""

    def bend(said: Iterable[Report], _journey: Journey) -> Iterator[Report]:
        return map(partial(bent, Random(seed)), said)  # noqa: S311 - no secret

    return bend


def _each(bent: Callable[[Report], Report]) -> Bend:
    """Return a function that applies `bent` to each report, whatever the journey."""
    return lambda said, _journey: map(bent, said)


def _tunnel(report: Report, gone: timedelta, left: timedelta) -> Report | None:
    is_in_it = timedelta() < left and abs(gone - left) < 4 * MINUTE
    return None if is_in_it else report


def _lost_arrival(report: Report, _gone: timedelta, left: timedelta) -> Report | None:
    return None if -2 * MINUTE < left < MINUTE else report


def _cold_start(report: Report, gone: timedelta, left: timedelta) -> Report | None:
    """Lose all reports of the first minute of a trip. The fixes of the next two minutes are inexact."""
    if left < timedelta() or gone > 3 * MINUTE:
        return report
    if gone < MINUTE:
        return None
    random = Random(report.position.id)  # noqa: S311 - no secret
    return report.moved(random.gauss(0, 0.0005)).changed(accuracy=80.0)


def _clock(ahead: timedelta) -> Bend:
    """Return a function that adds `ahead` to the times of all reports."""
    return _each(partial(_with_clock, ahead=ahead))


def _with_clock(report: Report, ahead: timedelta) -> Report:
    sent_at, fix_time = report.sent_at + ahead, report.fix_time + ahead
    return report.changed(fix_time=fix_time, device_time=sent_at)


def _falls_back(said: Iterable[Report], journey: Journey) -> Iterator[Report]:
    """In the middle of every third trip, set the tracker's clock back by ten minutes for an hour."""
    back = [Span(trip.middle, trip.middle + HOUR) for trip in journey.trips[::3]]
    for report in said:
        is_back = any(report.comes_at in span for span in back)
        report = report.changed(server_time=report.comes_at)
        yield _with_clock(report, -10 * MINUTE if is_back else _ZERO)


def _glitch(random: Random, report: Report) -> Report:
    """Shift the times of some reports by an hour, forward or back."""
    is_off, off = random.random() < 0.02, random.choice([HOUR, -HOUR])
    return _with_clock(report, off if is_off else _ZERO)


def _as_received(said: Iterable[Report]) -> Iterator[Report]:
    """Yield the reports with the IDs and kilometers that a server such as Traccar adds.

    Traccar adds the distance from its newest fix. The total of a late fix therefore
    contains the way back from the newest fix to the late fix.
    """
    newest, total = None, 0.0
    for number, it in enumerate(sorted(said, key=lambda it: it.comes_at), 1):
        reached = total + meters((newest or it).point, it.point)
        yield it.changed(
            id=number, total_distance=reached / 1_000, server_time=it.comes_at
        )
        if newest is None or it.fix_time >= newest.fix_time:
            newest, total = it, reached


def _newest_first(said: Iterable[Report], journey: Journey) -> Iterable[Report]:
    """Let each trip lead through a dead zone. Send the reports from there afterwards within a minute, newest first."""

    def bend(report: Report, gone: timedelta, left: timedelta) -> Report:
        is_held = gone > MINUTE and left > MINUTE
        late = left - MINUTE + (left - MINUTE) / 30 if is_held else _ZERO
        return replace(report, comes_at=report.comes_at + late)

    return _as_received(on_trips(bend)(said, journey))


def _uploaded_in_parallel(said: Iterable[Report], journey: Journey) -> Iterable[Report]:
    """After each trip, upload its reports over several connections at once, so that they arrive in any order."""
    random = Random("parallel")  # noqa: S311 - no secret

    def bend(report: Report, _gone: timedelta, left: timedelta) -> Report:
        late = left + 2 * MINUTE + MINUTE / 3 * random.random()
        return replace(report, comes_at=report.comes_at + late * (left > -MINUTE))

    return _as_received(on_trips(bend)(said, journey))


def _counts_anew(said: Iterable[Report], _journey: Journey) -> Iterator[Report]:
    random, counted = Random("anew"), 0.0  # noqa: S311 - no secret
    for report in said:
        total = report.position.total_distance or 0
        if random.random() < 0.002:
            counted = total
        yield report.changed(total_distance=total - counted)


def _at_the_date_line(report: Report) -> Report:
    east = report.point[1] - HOME[1]
    return report.changed(longitude=180 + east if east < 0 else east - 180)


def _pairs() -> Journey:
    """Return a pair of trips for each day. The second starts a quarter of an hour after the end of the first."""
    random, trips = Random("pairs"), list[Trip]()  # noqa: S311 - no secret
    for number in range(TRIPS):
        starts_at = BEGIN + 8 * HOUR + number // 2 * _DAY
        if number % 2:
            starts_at = trips[-1].ends_at + 15 * MINUTE
        start = trips[-1].end if trips else HOME
        trips.append(Trip(random, starts_at, start, 2))
    return Journey(trips)


def _until_half_way(journey: Journey) -> list[Span]:
    """Return an outage for each trip, from ten minutes before its start to its middle."""
    return [Span(trip.starts_at - _LATE, trip.middle) for trip in journey.trips]


def _around_stops(journey: Journey) -> list[Span]:
    """Return an outage for each pair of trips, from the middle of the first trip to the middle of the second."""
    pairs = zip(journey.trips[::2], journey.trips[1::2], strict=False)
    return [Span(first.middle, second.middle) for first, second in pairs]


def _each_second_day(journey: Journey) -> list[Span]:
    """Return an outage for every second day, from midnight to midnight."""
    days = (journey.trips[-1].ends_at - BEGIN).days + 1
    return [Span(BEGIN + n * _DAY, BEGIN + (n + 1) * _DAY) for n in range(1, days, 2)]


def minutely(**fields: Any) -> Tracker:
    """Return a tracker that reports each minute, and has these values in its other fields."""
    return replace(_EACH_MINUTE, **fields)


_unclear = partial(World, is_clear=False)
WORLDS = (
    World("6 m, as reported"),
    World("20 m, as reported", minutely(accuracy=20)),
    World("6 m, without accuracy", minutely(claims=0)),
    World(
        "always reports rest",
        bend=_each(lambda it: it.changed(motion=False, speed=0.0)),
    ),
    World("tunnels of 4 minutes", bend=on_trips(_tunnel)),
    World("cold starts", bend=on_trips(_cold_start)),
    World("clock 3 minutes ahead", bend=_clock(3 * MINUTE), behind=-3 * MINUTE),
    World("clock 2 hours ahead", bend=_clock(2 * HOUR)),
    World("clock 3 hours behind", bend=_clock(-3 * HOUR), behind=3 * HOUR),
    _unclear("clock that falls back by 10 minutes", _EACH_10_S, _falls_back, HISTORY),
    _unclear(
        "2 % of the times an hour off",
        bend=at_random("glitches", _glitch),
        service=Service(says_time=False, is_live=True),
    ),
    World(
        "house 8 hours behind",
        service=Service(says_time=False),
        clock=-8 * HOUR,
        behind=8 * HOUR,
    ),
    World("reports that come late", minutely(buffers=0.01)),
    World("server that counts anew", bend=_counts_anew),
    World("at the date line", bend=_each(_at_the_date_line)),
    World("restarts of Home Assistant", restarts=True),
    World(
        "late fixes over live, newest first, with a red light",
        _EACH_10_S,
        _newest_first,
        replace(HISTORY, is_live=True),
    ),
    World(
        "parallel upload, totals out of order",
        _EACH_10_S,
        _uploaded_in_parallel,
        HISTORY,
    ),
    World(
        "messages during a slow history answer (3 to 45 s)",
        _EACH_10_S,
        service=replace(HISTORY, is_live=True, answers=(3, 45)),
        outages=_until_half_way,
    ),
    World(
        "two rides around an outage, third in the queue",
        _EACH_10_S,
        service=replace(HISTORY, queue=2 * MINUTE),
        outages=_around_stops,
        journey=_pairs,
    ),
    World(
        "history that is too large half of the time",
        _EACH_10_S,
        service=replace(HISTORY, refuses=0.5),
        outages=_each_second_day,
    ),
    _unclear("noise of 20 m, reports 4 m", minutely(accuracy=20, claims=4)),
    _unclear(
        "drift of 15 m, reports 4 m", minutely(accuracy=15, claims=4, drifts=0.95)
    ),
    _unclear("noise of 30 m, without accuracy", minutely(accuracy=30, claims=0)),
    _unclear("strays indoors", minutely(strays=0.006)),
    _unclear("strays indoors, without accuracy", minutely(strays=0.006, claims=0)),
    _unclear("2 % spikes", minutely(spikes=0.02)),
    _unclear("2 % spikes, without accuracy", minutely(spikes=0.02, claims=0)),
    _unclear(
        "arrival lost, then hourly", minutely(parked=3_600), on_trips(_lost_arrival)
    ),
    _unclear(
        "arrival lost, without accuracy",
        minutely(parked=3_600, claims=0),
        on_trips(_lost_arrival),
    ),
)


@cache
def found_in(world: World) -> Found:
    """Simulate a world, and return the results."""
    journey, home = world.journey(), Home(world.service, world.clock)
    end, behind = journey.trips[-1].ends_at + _DAY, world.behind
    said = world.bend(reports(world.tracker, journey, BEGIN, end, SEED), journey)
    starts = restarts(SEED, end) if world.restarts else ()
    home.live(said, end, world.outages(journey), starts)
    rides = [
        it._replace(started_at=it.started_at + behind, moved_at=it.moved_at + behind)
        for it in home.book
    ]
    found = [(trip, rides_of(trip, rides, _LATE)) for trip in journey.trips]
    seen = [(trip, of) for trip, of in found if of]
    return Found(
        trips=len(found),
        as_one=sum(len(of) == 1 for _, of in found),
        invented=len({*rides} - {ride for _, of in found for ride in of}),
        started=len(home.of_type("ride_started")),
        ended=len(home.of_type("ride_ended")),
        distances=[distance_error(of, trip) for trip, of in seen],
        in_all=((home.totals[-1] - home.totals[0]) / journey.kilometers - 1) * 100,
        starts=[(of[0].started_at - it.starts_at).total_seconds() for it, of in seen],
        ends=[(of[-1].moved_at - it.ends_at).total_seconds() for it, of in seen],
    )


def distance_error(rides: Iterable[Ride], trip: Trip) -> float:
    """Return the error of the distance of a trip's detected rides, in percent."""
    return (sum(ride.distance for ride in rides) / trip.kilometers - 1) * 100


def rides_of(trip: Trip, rides: Iterable[Ride], late: timedelta) -> list[Ride]:
    """Return the detected rides that overlap a trip, or are less than `late` before or after it."""
    return [it for it in rides if trip.is_near(Span(it.started_at, it.moved_at), late)]
