"""Simulated nights of a parked bike with an armed guard, and thefts of that bike."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice, pairwise
from math import inf
from random import Random

from tests.tools.rides.home import BIKE, Home
from tests.tools.rides.trackers import Report, reports
from tests.tools.rides.trips import BEGIN, Span, Trip, a_journey
from tests.tools.rides.worlds import (
    HISTORY,
    HOUR,
    MINUTE,
    SEED,
    WORLDS,
    World,
    at_random,
    minutely,
    on_trips,
)
from tests.tools.simulator.streets import METERS_PER_DEGREE

NIGHTS = 30
NEVER = inf
"""Used in place of the number of a report if no report triggered the guard."""
# If a tracker sends nothing for this long, the next poll ends its ride.
_SILENT = timedelta(minutes=31)
_DAYS = 60
# Meters by which a thief carries the bike off.
_CARRIED = 200
# Number of reports that a tracker sends during a theft.
_SOON = 20
# Meters between two reports of a bike that is driven away in a van.
_DRIVEN = 600
# For four nights in turn: the error of the house's clock in hours, and the minutes from
# the arming to the correction of the clock (-1: a minute before the arming).
_WRONG = ((-8, -1), (8, -1), (-8, 10), (8, 10))


@dataclass
class Found:
    """The results of a case. Each counter counts thefts by the number of the report that triggered the guard."""

    false_alarms: int = 0
    ridden: Counter[float] = field(default_factory=Counter)
    """Next rides after each night, with the guard still armed. They stand for a thief's rides."""
    carried: Counter[float] = field(default_factory=Counter)
    says_so: Counter[float] = field(default_factory=Counter)
    """Thefts of bikes that were carried off and whose trackers reported motion."""
    driven: Counter[float] = field(default_factory=Counter)


def _current(said: Iterable[Report]) -> Iterator[Report]:
    """Yield the reports in order of arrival. Leave out reports that were sent before an already arrived report."""
    newest = BEGIN - MINUTE
    for report in sorted(said, key=lambda it: it.comes_at):
        if report.sent_at > newest:
            newest = report.sent_at
            yield report


def _is_triggered(home: Home) -> bool:
    """Return whether the guard is triggered."""
    guard = home.account.trackers[BIKE].state.guard
    return guard is not None and guard.triggered is not None


def _triggered_by(home: Home, coming: Iterable[Report]) -> float:
    """Poll these reports. Return the number of the first report that triggers the guard, or `NEVER`."""
    first = NEVER
    for number, report in enumerate(coming, 1):
        home.poll(report, report.comes_at)
        if _is_triggered(home):
            first = min(first, number)
    return first


def _shifted(report: Report, meters: float = _CARRIED) -> Report:
    return report.moved(meters / METERS_PER_DEGREE)


def _carried_off(home: Home, soon: Sequence[Report]) -> float:
    return _triggered_by(home, map(_shifted, soon))


def _carried_on(home: Home, soon: Sequence[Report]) -> float:
    """Carry the bike off, arm it there, and carry it on. Return the number of the report that triggers the new guard."""
    _carried_off(home, soon[:3])
    home.account.disarm(BIKE, soon[2].comes_at)
    home.arm(soon[2].comes_at + MINUTE / 10)
    assert _carried_off(home, soon[3:7]) == NEVER
    return _carried_off(home, [_shifted(report) for report in soon[7:]])


def _shaken(home: Home, soon: Sequence[Report]) -> float:
    """Let the bike move on the spot in an outage. Return 1 if the guard is triggered after it, otherwise `NEVER`."""
    moved = [it.changed(motion=count in (3, 4)) for count, it in enumerate(soon)]
    outage = Span(moved[1].comes_at, moved[8].comes_at)
    home.service = HISTORY
    home.live(moved[:12], moved[12].comes_at, [outage])
    return 1 if _is_triggered(home) else NEVER


@dataclass(frozen=True)
class Case:
    """A world, and how its nights differ from the nights of other cases."""

    world: World
    carried: Callable[[Home, Sequence[Report]], float] = _carried_off
    """Function that simulates a theft, and returns the number of the report that triggers the guard."""
    is_again: bool = False
    """Whether the bike itself, not a copy of it, is carried off and brought back each night."""
    is_clock_wrong: bool = False
    """Whether the house's clock is wrong, and is corrected shortly before or after the arming."""


def _lost_arrival(report: Report, _gone: timedelta, left: timedelta) -> Report | None:
    """Lose the reports from two minutes before the arrival to 45 minutes after it. Then keep one report an hour."""
    since = -left - 45 * MINUTE
    is_hourly = since >= timedelta() and since % HOUR < 15 * MINUTE
    return report if left > 2 * MINUTE or is_hourly else None


def _noise(random: Random, report: Report) -> Report:
    """Give a standing bike random speeds of up to 2 km/h. For each speed above 0, report motion, as Traccar does."""
    speed = max(report.position.speed or 0, random.uniform(-1, 2))
    return report.changed(speed=max(speed, 0), motion=speed > 0)


CASES = (
    *(Case(it) for it in WORLDS if it.tracker.parked and not it.service.is_live),
    Case(
        World(
            "arrival lost, hourly from 45 minutes on",
            minutely(parked=900),
            on_trips(_lost_arrival),
        )
    ),
    Case(World("clock put right"), is_clock_wrong=True),
    Case(World("speeds of 2 km/h while it stands", bend=at_random("noise", _noise))),
    Case(World("motion on the spot in an outage"), _shaken),
    Case(World("carried at rest, second time"), is_again=True),
    Case(World("armed again after being carried off"), _carried_on),
)


class Nights:
    """A bike that is armed each night, on its arrival or up to two hours later."""

    def __init__(self, case: Case) -> None:
        self._case, self._found, world = case, Found(), case.world
        self._home = Home(world.service, world.clock)
        self._journey, end = a_journey(SEED, _DAYS), BEGIN + timedelta(days=_DAYS)
        said = reports(world.tracker, self._journey, BEGIN, end, SEED)
        # The reports that have not arrived yet, and the last arrived report (at first, the first).
        self._left = deque(_current(world.bend(said, self._journey)))
        self._last = self._left[0]

    def run(self, nights: int = NIGHTS) -> Found:
        """Simulate all nights. In each of the last `nights` nights, arm the bike, and steal it."""
        random = Random("nights")  # noqa: S311 - no secret
        all_nights = [
            (trip, following, random.choice([0, 0, random.uniform(0, 120)]))
            for trip, following in pairwise(self._journey.trips)
            if trip.ends_at.date() < following.starts_at.date()
        ]
        for count, (trip, following, later) in enumerate(all_nights[-nights:]):
            off, right = _WRONG[count % 4] if self._case.is_clock_wrong else (0, 0)
            armed_at = trip.ends_at + MINUTE / 2 + later * MINUTE
            self._arm(armed_at, off * HOUR, armed_at + right * MINUTE)
            self._live(armed_at + 3 * HOUR)
            if not _is_triggered(self._home):
                self._steal()
            self._live(following.starts_at)
            self._ride_off(following)
            self._home.account.disarm(BIKE, following.starts_at)
        return self._found

    def _arm(self, at: datetime, off: timedelta, right_at: datetime) -> None:
        """Arm the bike. From an hour before `right_at` until then, the house's clock is wrong by `off`."""
        home, clock = self._home, self._home.clock
        self._live(right_at - HOUR)
        home.clock = clock + off
        if right_at < at:
            self._live(right_at)
            home.clock = clock
        self._live(at)
        home.arm(at)
        self._live(right_at)
        home.clock = clock

    def _live(self, until: datetime) -> None:
        """Poll each report when it arrives, up to a time. Also poll a minute before a report that ends a long silence."""
        while self._left and self._left[0].comes_at <= until:
            before, self._last = self._last, self._left.popleft()
            now = self._last.comes_at
            if now - before.comes_at > _SILENT:
                self._home.poll(before, now - MINUTE)
            self._home.poll(self._last, now)

    def _ride_off(self, trip: Trip) -> None:
        """Ride the armed bike. If its guard is already triggered, count a false alarm instead."""
        if _is_triggered(self._home):
            self._found.false_alarms += 1
            return
        # If the whole trip leads through a tunnel, nothing is received before its end,
        # so include the reports of the next ten minutes.
        end = trip.ends_at + 10 * MINUTE
        after = [it for it in self._left if it.comes_at <= end]
        self._found.ridden[_triggered_by(self._home.copied(), after)] += 1
        self._live(trip.ends_at)

    def _steal(self) -> None:
        """Simulate each kind of theft on a copy of the bike. With `is_again`, carry the bike itself off."""
        case, home, found = self._case, self._home, self._found
        soon = list(islice(self._left, _SOON))
        says_so = (_shifted(it).changed(motion=True, speed=10.0) for it in soon)
        found.says_so[_triggered_by(home.copied(), says_so)] += 1
        driven = (
            _shifted(it, _DRIVEN * count).changed(motion=True, speed=36.0)
            for count, it in enumerate(soon, 1)
        )
        found.driven[_triggered_by(home.copied(), driven)] += 1
        found.carried[case.carried(home if case.is_again else home.copied(), soon)] += 1
        if case.is_again:
            # Bring the bike back: skip the reports of the theft. An hour later, guard
            # the bike again.
            for _ in soon:
                self._left.popleft()
            self._live(soon[-1].comes_at + HOUR)
            home.arm(soon[-1].comes_at + HOUR)
