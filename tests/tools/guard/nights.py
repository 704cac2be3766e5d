"""Nights of a bike that is armed after its arrival, and what triggers its guard."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from random import Random

from tests.tools.rides.home import BIKE, Home, Service
from tests.tools.rides.trackers import Report, reports
from tests.tools.rides.trips import BEGIN, Journey, Span, Trip, a_journey
from tests.tools.rides.worlds import WORLDS, World
from tests.tools.simulator.streets import METRES_PER_DEGREE

NIGHTS = 30
CARRIED = 200
"""Meters by which a thief carries the bike off."""
NEVER = 0
"""Used in place of the number of a report if no report triggered the guard."""
MINUTE = timedelta(minutes=1)
SILENT = timedelta(minutes=31)
"""After a silence of this length, a poll ends the ride of a tracker."""
_DAYS = 60
_SEED = 1
_HOUR = timedelta(hours=1)
_CARRIED_AFTER = timedelta(hours=3)
# The tracker sends this many reports of a theft. The guard must be triggered by then.
_SOON = 20
# Meters between two reports of a bike that is driven away in a van.
_DRIVEN = 600
# For four nights in turn: the error of the house's clock in hours, and the minutes from
# the arming to the correction of the clock (negative if the clock is corrected first).
_WRONG = ((-8, -1), (8, -1), (-8, 10), (8, 10))


@dataclass(frozen=True)
class Case:
    """A world, and special events in its nights: an outage, a wrong clock, or another kind of theft."""

    world: World
    is_outage: bool = False
    """Whether the service fails while a thief shakes the bike."""
    is_again: bool = False
    """Whether the bike itself, not a copy of it, is carried off and brought back each night."""
    is_armed_there: bool = False
    """Whether the guard is armed again where the thief put the bike down. The bike is then carried further."""
    is_clock_wrong: bool = False
    """Whether the house's clock is wrong, and is corrected shortly before or after the arming."""


def _lost_arrival(said: Iterable[Report], journey: Journey) -> Iterator[Report]:
    """Lose the reports from two minutes before the arrival to 45 minutes after it. Then keep one report an hour."""
    for report in said:
        trip = journey.begun(report.comes_at)
        gone = report.comes_at - trip.ends_at if trip else -_HOUR
        is_hourly = (gone - 45 * MINUTE) % _HOUR < 15 * MINUTE
        if gone < -2 * MINUTE or (gone >= 45 * MINUTE and is_hourly):
            yield report


def _with_noise(said: Iterable[Report], _journey: Journey) -> Iterator[Report]:
    """Give a standing bike random speeds of up to 2 km/h. For each speed above 0, report motion, as Traccar does."""
    random = Random("noise")  # noqa: S311 - no secret
    for report in said:
        speed = max(report.position.speed or 0, random.uniform(-1, 2))
        yield report.changed(speed=max(speed, 0), motion=speed > 0)


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


class Coming:
    """The reports of a world, in the order in which they arrive."""

    def __init__(self, world: World, journey: Journey, days: int) -> None:
        """Begin before the first report. The tracker reports for this number of days."""
        end = BEGIN + timedelta(days=days)
        said = world.bend(reports(world.tracker, journey, BEGIN, end, _SEED), journey)
        self.reports = told(world, said)
        self.journey = journey
        self.number = 0

    def until(self, time: datetime) -> Iterator[tuple[Report, Report]]:
        """Let reports arrive up to a time. Yield each of them in a pair, after the report before it."""
        for number in range(self.number, len(self.reports)):
            if self.reports[number].comes_at > time:
                break
            self.number = number + 1
            yield self.reports[max(number - 1, 0)], self.reports[number]

    @property
    def last(self) -> Report:
        """Return the report that arrived last."""
        return self.reports[self.number - 1]

    @property
    def left(self) -> Sequence[Report]:
        """Return the reports that have not arrived yet."""
        return self.reports[self.number :]


def told(world: World, said: Iterable[Report]) -> list[Report]:
    """Return the reports that a server shows as current, in order of arrival. If it pushes reports, return all."""
    newest, coming = BEGIN - MINUTE, list[Report]()
    for report in sorted(said, key=lambda it: it.comes_at):
        at = report.position.device_time or report.comes_at
        if at > newest or world.service.is_live:
            newest = max(at, newest)
            coming.append(report)
    return coming


@dataclass
class Found:
    """The results of the nights of a world. Thefts are counted by the report that triggered the guard."""

    false_alarms: int = 0
    carried: Counter[int] = field(default_factory=Counter)
    says_so: Counter[int] = field(default_factory=Counter)
    driven: Counter[int] = field(default_factory=Counter)
    ridden: Counter[int] = field(default_factory=Counter)


@cache
def found_in(case: Case, nights: int = NIGHTS) -> Found:
    """Return the results of the last `nights` nights of sixty days in a world."""
    return _Nights(case).run(nights)


class _Nights:
    """A bike that is armed each night, on its arrival or up to two hours later."""

    def __init__(self, case: Case) -> None:
        self._case, self._found = case, Found()
        self._home = Home(case.world.service, case.world.clock)
        self._coming = Coming(case.world, a_journey(_SEED, _DAYS), _DAYS)

    def run(self, nights: int) -> Found:
        """Simulate all nights. In each of the last `nights` nights, arm the bike, and let a thief come."""
        random = Random("nights")  # noqa: S311 - no secret
        all_nights = [
            (trip, following, random.choice([0, 0, random.uniform(0, 120)]))
            for trip, following in pairwise(self._coming.journey.trips)
            if trip.ends_at.date() < following.starts_at.date()
        ]
        for count, (trip, following, later) in enumerate(all_nights[-nights:]):
            off, right = _WRONG[count % 4] if self._case.is_clock_wrong else (0, 0)
            armed_at = trip.ends_at + MINUTE / 2 + later * MINUTE
            self._arm(armed_at, off * _HOUR, armed_at + right * MINUTE)
            self._live(armed_at + _CARRIED_AFTER)
            if not _is_triggered(self._home):
                self._steal()
            self._live(following.starts_at)
            self._ride_off(following)
            self._home.account.disarm(BIKE)
        return self._found

    def _arm(self, at: datetime, off: timedelta, right_at: datetime) -> None:
        """Arm the bike. From an hour before `right_at` until then, the house's clock is wrong by `off`."""
        home, clock = self._home, self._home.clock
        self._live(right_at - _HOUR)
        home.clock = clock + off
        self._live(min(right_at, at))
        home.clock = clock + off if right_at > at else clock
        self._live(at)
        home.account.arm(BIKE, at + home.clock)
        self._live(right_at)
        home.clock = clock

    def _live(self, until: datetime) -> None:
        """Poll each report up to a time. After a long silence, first poll a minute before the report."""
        for before, report in self._coming.until(until):
            if report.comes_at - before.comes_at > SILENT:
                self._home.poll(before, report.comes_at - MINUTE)
            self._home.poll(report, report.comes_at)

    def _ride_off(self, trip: Trip) -> None:
        if _is_triggered(self._home):
            self._found.false_alarms += 1
            return
        # If the whole trip leads through a tunnel, nothing is received before its end,
        # so include the reports of the next ten minutes.
        end = trip.ends_at + 10 * MINUTE
        after = [it for it in self._coming.left if it.comes_at <= end]
        self._found.ridden[_fired_with(self._home.copied(), after)] += 1
        self._live(trip.ends_at)

    def _steal(self) -> None:
        """Simulate each kind of theft on a copy of the bike.

        With `is_again`, carry the bike itself off.
        """
        case, home, found = self._case, self._home, self._found
        soon = self._coming.left[:_SOON]
        found.says_so[_fired_with(home.copied(), map(_says_so, soon))] += 1
        driven = (_driven(report, count) for count, report in enumerate(soon, 1))
        found.driven[_fired_with(home.copied(), driven)] += 1
        if case.is_outage:
            number = _shaken(home.copied(), soon)
        elif case.is_armed_there:
            number = _carried_on(home.copied(), soon)
        else:
            it = home if case.is_again else home.copied()
            number = _fired_with(it, map(_shifted, soon))
        found.carried[number] += 1
        if case.is_again:
            # Bring the bike back: skip the reports of the theft. An hour later, guard
            # the bike again.
            self._coming.number += _SOON
            self._live(soon[-1].comes_at + _HOUR)
            home.account.arm(BIKE, soon[-1].comes_at + _HOUR)


def _carried_on(home: Home, soon: Sequence[Report]) -> int:
    """Carry the bike off, arm it there, and carry it on. Return which report then triggers the guard."""
    _fired_with(home, map(_shifted, soon[:3]))
    home.account.disarm(BIKE)
    home.account.arm(BIKE, soon[2].comes_at + MINUTE / 10)
    _fired_with(home, map(_shifted, soon[3:7]))
    assert not _is_triggered(home)
    return _fired_with(home, (_shifted(it, 2 * CARRIED) for it in soon[7:]))


def _shaken(home: Home, soon: Sequence[Report]) -> int:
    """Let the bike move on the spot in an outage. Return 1 if the guard is triggered after it, otherwise `NEVER`."""
    moved = [it.changed(motion=count in (3, 4)) for count, it in enumerate(soon)]
    outage = Span(moved[1].comes_at, moved[8].comes_at)
    home.service = Service(has_history=True)
    home.live(moved[:12], moved[12].comes_at, [outage])
    return 1 if _is_triggered(home) else NEVER


def _fired_with(home: Home, coming: Iterable[Report]) -> int:
    """Poll all these reports. Return the number of the report that triggers the guard, or `NEVER`."""
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
    return report.changed(latitude=latitude)


def _says_so(report: Report) -> Report:
    return _shifted(report).changed(motion=True, speed=10.0)


def _driven(report: Report, count: int) -> Report:
    return _shifted(report, _DRIVEN * count).changed(motion=True, speed=36.0)
