"""Nights of a bike that is armed when it arrives, and what its guard makes of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from random import Random

from tests.tools.rides.home import BIKE, Home, Service, Span
from tests.tools.rides.plan import BEGIN, a_journey
from tests.tools.rides.trackers import Report, reports
from tests.tools.rides.trips import Journey
from tests.tools.rides.worlds import WORLDS, World
from tests.tools.simulator.streets import METRES_PER_DEGREE

NIGHTS = 30
CARRIED = 200
"""Metres."""
NEVER = 0
_DAYS = 60
_SEED = 1
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
# A ride is over then.
_SILENT = timedelta(minutes=31)
_CARRIED_AFTER = timedelta(hours=3)
# So many reports are waited for.
_SOON = 20
# Metres between two reports of a bike in a van.
_DRIVEN = 600
_OFF = 8 * _HOUR


@dataclass(frozen=True)
class Case:
    """What goes wrong in the nights of a world, and what a thief does."""

    world: World
    is_outage: bool = False
    """Whether the service is down while a thief shakes the bike where it stands."""
    is_again: bool = False
    """Whether the bike that was carried off is the same each night, and brought back."""
    is_armed_there: bool = False
    """Whether the guard is armed again where the bike was carried, and it is carried on."""
    is_clock_wrong: bool = False
    """Whether the house's clock is put right shortly before or after it arms."""


def _lost_arrival(said: Iterable[Report], journey: Journey) -> Iterator[Report]:
    """Yield reports but those of the last minutes, and then one each hour."""
    for report in said:
        trip = journey.begun(report.comes_at)
        gone = report.comes_at - trip.ends_at if trip else -_HOUR
        is_hourly = (gone - 45 * _MINUTE) % _HOUR < 15 * _MINUTE
        if gone < -2 * _MINUTE or (gone >= 45 * _MINUTE and is_hourly):
            yield report


def _with_noise(said: Iterable[Report], _journey: Journey) -> Iterator[Report]:
    """Yield what Traccar makes of a receiver whose speed is never 0: motion, mostly."""
    random = Random("noise")  # noqa: S311 - no secret
    for report in said:
        speed = max(report.position.speed or 0, random.uniform(-1, 2))
        position = report.position._replace(speed=max(speed, 0), motion=speed > 0)
        yield Report(position, report.comes_at)


_PLAIN = WORLDS[0]
CASES = (
    *(Case(it) for it in WORLDS if it.tracker.parked and not it.service.is_live),
    Case(
        replace(
            _PLAIN,
            name="arrival lost, hourly from 45 minutes on",
            tracker=replace(_PLAIN.tracker, parked=900),
            bend=_lost_arrival,
        )
    ),
    Case(replace(_PLAIN, name="clock put right"), is_clock_wrong=True),
    Case(replace(_PLAIN, name="speeds of 2 km/h while it stands", bend=_with_noise)),
    Case(replace(_PLAIN, name="motion on the spot in an outage"), is_outage=True),
    Case(replace(_PLAIN, name="carried at rest, second time"), is_again=True),
    Case(
        replace(_PLAIN, name="armed again after being carried off"), is_armed_there=True
    ),
)


@dataclass(frozen=True)
class Night:
    """A time in which the bike stands and is guarded, until it is ridden off."""

    armed_at: datetime
    ridden_at: datetime
    ends_at: datetime


@dataclass
class Found:
    """What was made of the nights in a world.

    Of each theft: with which report it was triggered, by how often.
    """

    false_alarms: int = 0
    carried: Counter[int] = field(default_factory=Counter)
    says_so: Counter[int] = field(default_factory=Counter)
    driven: Counter[int] = field(default_factory=Counter)
    ridden: Counter[int] = field(default_factory=Counter)


@cache
def found_in(case: Case, nights: int = NIGHTS) -> Found:
    """Return what is made of the last nights of some weeks in a world."""
    world, journey = case.world, a_journey(_SEED, _DAYS)
    last = list(_nights(journey))[-nights:]
    begin = datetime.combine(BEGIN, time(), UTC)
    end = begin + timedelta(days=_DAYS)
    said = world.bend(reports(world.tracker, journey, begin, end, _SEED), journey)
    coming = list(_newest_first(sorted(said, key=lambda report: report.comes_at)))
    home, found, number = Home(world.service, world.clock), Found(), 0
    for count, night in enumerate(last):
        off = [-_OFF, _OFF, -_OFF, _OFF][count % 4] if case.is_clock_wrong else None
        right_at = night.armed_at + (-1 if count % 4 < 2 else 10) * _MINUTE
        if off:
            number = _live(home, coming, number, right_at - _HOUR)
            number = _live(home, coming, number, min(right_at, night.armed_at), off)
        number = _live(home, coming, number, night.armed_at)
        is_wrong = off is not None and right_at > night.armed_at
        home.account.arm(
            BIKE, night.armed_at + (off if off and is_wrong else world.clock)
        )
        if off and is_wrong:
            number = _live(home, coming, number, right_at, off)
        number = _live(home, coming, number, night.armed_at + _CARRIED_AFTER)
        if not _is_triggered(home):
            number = _steal(case, home, coming, number, found)
        number = _live(home, coming, number, night.ridden_at)
        if _is_triggered(home):
            found.false_alarms += 1
        else:
            # In a tunnel nothing is received before its arrival.
            end = night.ends_at + 10 * _MINUTE
            after = (report for report in coming[number:] if report.comes_at <= end)
            found.ridden[_fired_with(home.copied(), after)] += 1
            number = _live(home, coming, number, night.ends_at)
        home.account.disarm(BIKE)
    return found


def _steal(
    case: Case, home: Home, coming: Sequence[Report], number: int, found: Found
) -> int:
    """Steal the bike in some ways; return the number of the next report."""
    soon = coming[number : number + _SOON]
    found.says_so[_fired_with(home.copied(), map(_says_so, soon))] += 1
    driven = (_driven(report, count) for count, report in enumerate(soon, 1))
    found.driven[_fired_with(home.copied(), driven)] += 1
    if case.is_outage:
        found.carried[_shaken(home.copied(), soon)] += 1
        return number
    if case.is_armed_there:
        found.carried[_carried_on(home.copied(), soon)] += 1
        return number
    found.carried[
        _fired_with(home if case.is_again else home.copied(), map(_shifted, soon))
    ] += 1
    if not case.is_again:
        return number
    # It is brought back, and guarded again.
    number = _live(home, coming, number + _SOON, soon[-1].comes_at + _HOUR)
    home.account.arm(BIKE, soon[-1].comes_at + _HOUR)
    return number


def _carried_on(home: Home, soon: Sequence[Report]) -> int:
    """Return with which report of its second place the guard is triggered."""
    _fired_with(home, map(_shifted, soon[:3]))
    home.account.disarm(BIKE)
    home.account.arm(BIKE, soon[2].comes_at + _MINUTE / 10)
    _fired_with(home, map(_shifted, soon[3:7]))
    assert not _is_triggered(home)
    return _fired_with(home, (_shifted(it, 2 * CARRIED) for it in soon[7:]))


def _shaken(home: Home, soon: Sequence[Report]) -> int:
    """Return with which poll after an outage it is triggered that the bike was moved."""
    moved = [
        Report(report.position._replace(motion=count in (3, 4)), report.comes_at)
        for count, report in enumerate(soon)
    ]
    outage = Span(moved[1].comes_at, moved[8].comes_at)
    home.service = Service(has_history=True)
    home.live(moved[:12], moved[12].comes_at, [outage])
    return 1 if _is_triggered(home) else NEVER


def _newest_first(said: Iterable[Report]) -> Iterator[Report]:
    """Yield the reports that a server tells of, which are newer than those before."""
    newest: datetime | None = None
    for report in said:
        time = report.position.device_time
        if newest is None or (time and time > newest):
            newest = time
            yield report


def _nights(journey: Journey) -> Iterator[Night]:
    """Yield nights, guarded from the arrival on, or from some time later."""
    random = Random("nights")  # noqa: S311 - no secret
    for trip, following in pairwise(journey.trips):
        if trip.ends_at.date() < following.starts_at.date():
            later = random.choice([0, 0, random.uniform(0, 120)])
            armed_at = trip.ends_at + _MINUTE / 2 + later * _MINUTE
            yield Night(armed_at, following.starts_at, following.ends_at)


def _live(
    home: Home,
    coming: Sequence[Report],
    number: int,
    until: datetime,
    off: timedelta | None = None,
) -> int:
    """Let reports come, from this one on; return the number of the next one.

    The house's clock is off by so much.
    """
    clock = home.clock
    home.clock = clock if off is None else off
    while number < len(coming) and coming[number].comes_at <= until:
        now = coming[number].comes_at
        if number and now - coming[number - 1].comes_at > _SILENT:
            home.poll(coming[number - 1], now - _MINUTE)
        home.poll(coming[number], now)
        number += 1
    home.clock = clock
    return number


def _fired_with(home: Home, coming: Iterable[Report]) -> int:
    """Return with which of these reports the guard is triggered."""
    fired = NEVER
    for number, report in enumerate(coming, 1):
        home.poll(report, report.comes_at)
        if not fired and _is_triggered(home):
            fired = number
    return fired


def _is_triggered(home: Home) -> bool:
    guard = home.account.trackers[BIKE].state.guard
    return guard is not None and guard.triggered is not None


def _shifted(report: Report, metres: float = CARRIED) -> Report:
    assert report.position.latitude is not None
    latitude = report.position.latitude + metres / METRES_PER_DEGREE
    return Report(report.position._replace(latitude=latitude), report.comes_at)


def _says_so(report: Report) -> Report:
    position = _shifted(report).position._replace(motion=True, speed=10.0)
    return Report(position, report.comes_at)


def _driven(report: Report, count: int) -> Report:
    position = _shifted(report, _DRIVEN * count).position
    return Report(position._replace(motion=True, speed=36.0), report.comes_at)
