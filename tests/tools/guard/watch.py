"""Weeks of a bike with a night guard: its decisions, its messages, and simulated thefts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import islice, pairwise
from random import Random
from typing import override

from custom_components.bike_tracker.night_guard.schedule import (
    DEFAULTS,
    GuardState,
    NightGuard,
    Situation,
    decide,
    state_of,
)
from custom_components.bike_tracker.tracking.occurrences import Occurrence
from custom_components.bike_tracker.tracking.state import Changes
from tests.tools.rides.home import BIKE, Home
from tests.tools.rides.trackers import Report, reports
from tests.tools.rides.trips import BEGIN, Journey, Span, Trip, a_journey
from tests.tools.rides.worlds import World, middle

from .nights import MINUTE, NEVER, SILENT, Coming, told

# The night often begins during the ride home. It ends before the next ride.
_DUSK = time(17, 30)
_NIGHT = NightGuard.from_data("night", {**DEFAULTS, "night_begins": str(_DUSK)})
_DAYS = 35
_SEED = 1
# Reports of the arrival may be received this long after it.
_LATE = 15 * MINUTE


@dataclass
class Watched(Home):
    """A home with a night guard that decides with `schedule.decide`, as the integration does.

    The integration's `arming.py` itself needs Home Assistant, with its clock and
    registries: a simulation of a million reports would last for hours.
    """

    alerts: list[str] = field(default_factory=list)
    """The causes in new messages about a triggered guard."""
    is_up: bool = True
    """Whether no outage of the service is under way."""
    mine: bool = False
    """Whether the rider has tapped *It's me*."""
    _compared_at: datetime = BEGIN
    _is_due: bool = True

    @property
    def guard(self) -> GuardState:
        """Return the state of the guard."""
        return state_of(self.account.trackers[BIKE].state.guard)

    @override
    def copied(self) -> Watched:
        """Return a copy of the home with the same past, but without messages."""
        other = super().copied()
        other.alerts = []
        return other

    def hear(self, report: Report, now: datetime | None = None) -> list[str]:
        """Receive a report by a poll or a push message, or miss it in an outage. Return the causes of new alerts."""
        now = now or report.comes_at
        if not self.is_up:
            self._came_back = self._is_due = True
            return []
        if self.service.is_live and not self._came_back:
            self.push(Report(report.position, now))
        else:
            self.poll(report, now)
        if self._is_due:
            self.compare(now)
        alerts, self.alerts = self.alerts, []
        return alerts

    @override
    def _fire(self, changes: Changes, now: datetime) -> list[Occurrence]:
        news = super()._fire(changes, now)
        for it in news:
            if it.type == "guard_triggered":
                self.alerts.append(it.attributes["cause"])
        if any(it.type == "ride_ended" for it in news):
            self.mine = False
            self.compare(now)
        return news

    def compare(self, now: datetime) -> None:
        """Arm or disarm the guard as the night guard decides."""
        self._is_due = False
        tracker = self.account.trackers[BIKE]
        began = _NIGHT.last_began(now)
        begins = began is not None and began > self._compared_at
        self.mine = self.mine and not begins
        situation = Situation(
            self.guard, self.mine, tracker.is_under_way, not self.is_up
        )
        wanted = tracker.position is not None and _NIGHT.is_night(now)
        decision = decide(situation, is_wanted=wanted, night_begins=begins)
        if decision == "arm":
            self.guard_again(now)
        elif decision == "disarm":
            self.account.disarm(BIKE)
        if self.is_up:
            self._compared_at = now

    def guard_again(self, now: datetime) -> None:
        """Arm the guard, as the button *Guard again* does."""
        self.account.arm(BIKE, now + self.clock)

    def tap_mine(self) -> None:
        """Disarm the guard until the ride is over or the next night begins, as the button *It's me* does."""
        self.mine = True
        self.account.disarm(BIKE)


@dataclass
class Watch:
    """The results of the weeks of a world."""

    nights: int = 0
    false_alarms: int = 0
    ridden: Counter[int] = field(default_factory=Counter)
    """Thefts, counted by the number of the thief's report that caused the message."""
    shaken_first: Counter[int] = field(default_factory=Counter)
    """Thefts of bikes that were shaken minutes before, which already caused a message about a vibration."""
    guarded_again: Counter[int] = field(default_factory=Counter)
    """Second thefts of bikes for which *Guard again* was tapped during the thief's first ride."""
    breakfasts: int = 0
    """False alarms on the morning ride, after *Guard again* was tapped at night."""


@cache
def watched(world: World, *, dusk_in_outage: bool = False) -> Watch:
    """Return the results of five weeks of a world. With `dusk_in_outage`, the nights begin in outages."""
    # A report each minute is enough: with a report each 10 seconds, the guard does the
    # same, but the simulation would last long.
    tracker = replace(world.tracker, every=max(60, world.tracker.every))
    return _Weeks(replace(world, tracker=tracker), dusk_in_outage).run()


class _Weeks:
    """Simulates weeks of a bike with a night guard and a thief each night."""

    def __init__(self, world: World, dusk_in_outage: bool) -> None:
        self._world, self._found = world, Watch()
        self._journey = a_journey(_SEED, _DAYS)
        self._outages = list(_around_dusk(self._journey)) if dusk_in_outage else []
        self._coming = Coming(world, self._journey, _DAYS)
        self._home = Watched(world.service, world.clock)

    def run(self) -> Watch:
        """Simulate all nights. In each night in which the guard is armed, thieves steal copies of the bike."""
        found = self._found
        # Receive only the first report for now.
        for _, report in self._coming.until(self._coming.reports[0].comes_at):
            self._home.hear(report)
        for trip, following in pairwise(self._journey.trips):
            if trip.ends_at.date() == following.starts_at.date():
                continue
            self._live(datetime.combine(following.starts_at.date(), time(2), UTC))
            found.nights += 1
            if self._home.guard == "armed":
                self._steal(trip)
                if (after := following.ends_at + _LATE).time() < _DUSK:
                    found.breakfasts += self._breakfast(after)
        self._live(BEGIN + timedelta(days=_DAYS))
        return found

    def _live(self, until: datetime) -> None:
        """Receive the reports up to a time. The rider taps *It's me* on a ride, otherwise *Guard again*."""
        home = self._home
        for before, report in self._coming.until(until):
            now = report.comes_at
            for at in _times_between(before.comes_at, now):
                home.is_up = not any(at in span for span in self._outages)
                home.compare(at)
            home.is_up = not any(now in span for span in self._outages)
            alerts = list[str]()
            if now - before.comes_at > SILENT:
                alerts += home.hear(before, now - MINUTE)
            if alerts + home.hear(report):
                trip = self._journey.begun(now)
                if trip and now < trip.ends_at + _LATE:
                    home.tap_mine()
                else:
                    self._found.false_alarms += 1
                    home.guard_again(now)

    def _breakfast(self, end: datetime) -> bool:
        """Shake the bike at night, and tap *Guard again*. Return whether the ride in the morning causes a message."""
        home, last = self._home.copied(), self._coming.last
        assert home.hear(_later(last, alarm="vibration"))
        home.guard_again(last.comes_at + 2 * MINUTE)
        assert home.guard == "armed"
        for before, report in pairwise([last, *self._coming.left]):
            if report.comes_at > end:
                break
            for at in _times_between(before.comes_at, report.comes_at):
                home.compare(at)
            if home.hear(report):
                return True
        return False

    def _steal(self, trip: Trip) -> None:
        world, found, last = self._world, self._found, self._coming.last
        start = last.comes_at + 3 * MINUTE
        random = Random(f"theft-{start}")  # noqa: S311 - no secret
        first = Trip(random, start, trip.end, 2)
        second = Trip(random, first.ends_at + 20 * MINUTE, first.end, 2)
        ride = _stolen(world, last, first)
        found.ridden[_alerted_with(self._home.copied(), ride)] += 1
        shaken = self._home.copied()
        alerts = shaken.hear(_later(last, alarm="vibration"))
        assert alerts
        # After a fix that jumped, the report of the vibration may also show another
        # place. The theft is then noticed with the first report.
        is_told = _says_where(alerts)
        found.shaken_first[1 if is_told else _alerted_with(shaken, ride)] += 1
        again, half = self._home.copied(), len(ride) // 2
        for report in ride[:half]:
            again.hear(report)
        again.guard_again(ride[half].comes_at)
        for report in ride[half:]:
            if again.hear(report):
                # If the bike stood at a red light in a tunnel, it was guarded there.
                # Its next report then triggers the guard, so tap *Guard again* twice.
                again.guard_again(report.comes_at)
        later = ride[-1]
        for _ in range(7):
            later = _later(later, motion=False, speed=0.0)
            again.hear(later)
        ride, is_armed = _stolen(world, later, second), again.guard == "armed"
        found.guarded_again[_alerted_with(again, ride) if is_armed else NEVER] += 1


def _times_between(start: datetime, end: datetime) -> Iterator[datetime]:
    """Yield the times between two times at which a night begins or ends, in order."""
    assert _NIGHT.night
    day = start.date()
    while day <= end.date():
        for at in sorted(_NIGHT.night):
            if start < (moment := datetime.combine(day, at, UTC)) <= end:
                yield moment
        day += timedelta(days=1)


def _around_dusk(journey: Journey) -> Iterator[Span]:
    """Yield outages. Each begins during the ride home and ends after the bike stands and the night has begun."""
    for trip in journey.trips:
        dusk = datetime.combine(trip.starts_at.date(), _DUSK, UTC)
        if abs(trip.ends_at - dusk) < 120 * MINUTE:
            yield Span(middle(trip), max(trip.ends_at, dusk) + 30 * MINUTE)


def _later(report: Report, **fields: object) -> Report:
    """Return a report of the same place, a minute later, with these values in its position."""
    own = (report.position.device_time or report.comes_at) + MINUTE
    later = replace(report, comes_at=report.comes_at + MINUTE)
    number = report.position.id + 1
    return later.changed(id=number, fix_time=own, device_time=own, **fields)


def _stolen(world: World, last: Report, trip: Trip) -> list[Report]:
    """Return the reports of a thief's ride. Leave out the first report, which may be from where the bike stood."""
    tracker = replace(world.tracker, parked=None, repeats=None)
    ride = reports(tracker, Journey([trip]), trip.starts_at, trip.ends_at, _SEED)
    said: Iterator[Report] = islice(ride, 1, None)
    if world.tracker.parked:
        said = iter(world.bend(said, Journey([trip])))
    number = last.position.id + 10
    stolen = (
        it.changed(id=number + it.position.id, total_distance=None) for it in said
    )
    return told(world, stolen)


def _says_where(alerts: list[str]) -> bool:
    """Return whether a message is about motion or another place."""
    return any(cause != "alarm" for cause in alerts)


def _alerted_with(home: Watched, ride: Sequence[Report]) -> int:
    """Return the number of the report that causes a message about motion or another place, or `NEVER`."""
    for number, report in enumerate(ride, 1):
        if _says_where(home.hear(report)):
            return number
    return NEVER
