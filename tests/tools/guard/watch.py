"""Weeks of a bike under a night guard: its own decisions, its alerts, and thefts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import islice, pairwise
from random import Random
from typing import override

from custom_components.bike_tracker.night_guard.schedule import (
    DEFAULTS,
    NightGuard,
    Situation,
    decide,
    state_of,
)
from custom_components.bike_tracker.tracking.occurrences import Occurrence
from custom_components.bike_tracker.tracking.state import Changes
from tests.tools.rides.home import BIKE, Home, Span
from tests.tools.rides.plan import BEGIN, a_journey
from tests.tools.rides.trackers import Report, reports
from tests.tools.rides.trips import Journey, Trip
from tests.tools.rides.worlds import World

# Night begins while the bike is ridden home, and ends before it is ridden off.
_NIGHT = NightGuard.from_data("night", {**DEFAULTS, "night_begins": "17:30:00"})
_BEGIN = datetime.combine(BEGIN, time(), UTC)
_DAYS = 35
_END = _BEGIN + timedelta(days=_DAYS)
_SEED = 1
_TOWN = 6
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_SILENT = timedelta(minutes=31)
# Reports of the arrival may come this late.
_LATE = 15 * _MINUTE
_ALARM = "vibration"
NEVER = 0


@dataclass
class Watched(Home):
    """A home with a night guard, as `night_guard/arming.py` runs it.

    `schedule.decide` decides. Running `arming.py` itself needs Home Assistant, whose clock
    and registries would make a million reports last hours.
    """

    alerts: list[tuple[datetime, str]] = field(default_factory=list)
    """Times and causes of the messages about a guard that was triggered."""
    is_up: bool = True
    mine: bool = False
    """Whether the rider tapped *It's me*."""
    _compared_at: datetime = _BEGIN
    _is_due: bool = True

    @property
    def guard(self) -> str:
        """Return the state of the guard."""
        return state_of(self.account.trackers[BIKE].state.guard)

    @override
    def copied(self) -> Watched:
        """Return a home with the same past and another future."""
        other = super().copied()
        other.alerts = []
        return other

    def hear(self, report: Report, now: datetime) -> None:
        """Poll or receive a message, or note that the service is out of reach."""
        if self.is_up:
            if self.service.is_live and not self._came_back:
                self.push(Report(report.position, now))
            else:
                self.poll(report, now)
            if self._is_due:
                self.compare(now)
        else:
            self._came_back = self._is_due = True

    @override
    def _fire(self, changes: Changes, now: datetime) -> list[Occurrence]:
        news = super()._fire(changes, now)
        for it in news:
            if it.type == "guard_triggered":
                self.alerts.append((now, it.attributes["cause"]))
        if any(it.type == "ride_ended" for it in news):
            self.mine = False
            self.compare(now)
        return news

    def compare(self, now: datetime) -> None:
        """Arm or disarm the guard if it is not as it should be."""
        self._is_due = False
        tracker = self.account.trackers[BIKE]
        began = _NIGHT.last_began(now)
        begins = began is not None and began > self._compared_at
        self.mine = self.mine and not begins
        place = tracker.position and (tracker.position.latitude or 0, 0)
        situation = Situation(
            state_of(tracker.state.guard),
            self.mine,
            tracker.is_under_way,
            not self.is_up,
        )
        wanted = bool(place) and _NIGHT.wants(place or (0, 0), (), now)
        decision = decide(situation, is_wanted=wanted, night_begins=begins)
        if decision == "arm":
            self._arm(now)
        elif decision == "disarm":
            self.account.disarm(BIKE)
        if self.is_up:
            self._compared_at = now

    def _arm(self, now: datetime) -> None:
        self.account.arm(BIKE, now + self.clock)

    def tap(self, button: str, now: datetime) -> None:
        """Tap a button of a message."""
        if button == "It's me":
            self.mine = True
            self.account.disarm(BIKE)
        else:
            self._arm(now)


@dataclass
class Watch:
    """What a night guard made of the weeks in a world."""

    nights: int = 0
    false_alarms: int = 0
    ridden: list[int] = field(default_factory=list)
    """With which report of each theft a message was sent."""
    shaken_first: list[int] = field(default_factory=list)
    """The same for a bike that was shaken a minute before, which is a message already."""
    guarded_again: list[int] = field(default_factory=list)
    """The same for a bike that was ridden off, guarded again while it rode, and taken from there."""
    breakfasts: int = 0
    """Alarms on the ride after *Guard again* was tapped at night."""


@dataclass(frozen=True)
class Coming:
    """The reports of a world, in the order in which its server has them."""

    reports: Sequence[Report]
    journey: Journey
    outages: Sequence[Span] = ()

    def live(self, home: Watched, number: int, until: datetime) -> tuple[int, int]:
        """Let reports come; return the next one, and the number of false alarms."""
        false_alarms, said = 0, self.reports
        while number < len(said) and said[number].comes_at <= until:
            report = said[number]
            before = said[number - 1] if number else report
            for at in _times_between(before.comes_at, report.comes_at):
                home.is_up = not any(at in span for span in self.outages)
                home.compare(at)
            now = report.comes_at
            home.is_up = not any(now in span for span in self.outages)
            if now - before.comes_at > _SILENT:
                home.hear(before, now - _MINUTE)
            home.hear(report, now)
            number += 1
            if home.alerts:
                home.alerts.clear()
                trip = self.journey.begun(now)
                if trip and now < trip.ends_at + _LATE:
                    home.tap("It's me", now)
                else:
                    false_alarms += 1
                    home.tap("Guard again", now)
        return number, false_alarms


@cache
def watched(world: World, *, dusk_in_outage: bool = False) -> Watch:
    """Return what the night guard makes of some weeks in a world."""
    # A report each 10 seconds takes long to simulate, and the guard is the same.
    tracker = replace(world.tracker, every=max(60, world.tracker.every))
    world, journey, found = (
        replace(world, tracker=tracker),
        a_journey(_SEED, _DAYS),
        Watch(),
    )
    said = world.bend(
        reports(world.tracker, journey, _BEGIN, _END, _SEED),
        journey,
    )
    outages = list(_around_dusk(journey)) if dusk_in_outage else []
    coming = Coming(_told(world, said), journey, outages)
    home = Watched(world.service, world.clock)
    number = 1
    home.hear(coming.reports[0], coming.reports[0].comes_at)
    for trip, following in pairwise(journey.trips):
        if trip.ends_at.date() == following.starts_at.date():
            continue
        midnight = datetime.combine(following.starts_at.date(), time(2), UTC)
        number, false_alarms = coming.live(home, number, midnight)
        found.false_alarms += false_alarms
        found.nights += 1
        if home.guard == "armed":
            _steal(world, coming, number, home, trip, found)
            if (after := following.ends_at + _LATE).time() < time(17, 30):
                found.breakfasts += _breakfast(coming, number, home.copied(), after)
    number, false_alarms = coming.live(home, number, _END)
    found.false_alarms += false_alarms
    return found


def _told(world: World, said: Iterable[Report]) -> list[Report]:
    """Return the reports that become the server's current one, or all if it pushes them."""
    newest, told = datetime.min.replace(tzinfo=UTC), list[Report]()
    for report in sorted(said, key=lambda it: it.comes_at):
        at = report.position.device_time or report.comes_at
        if at > newest or world.service.is_live:
            newest = max(at, newest)
            told.append(report)
    return told


def _times_between(start: datetime, end: datetime) -> Iterator[datetime]:
    """Yield the begins and ends of the night."""
    assert _NIGHT.night
    day = start.date()
    while day <= end.date():
        for at in sorted(_NIGHT.night):
            if start < (moment := datetime.combine(day, at, UTC)) <= end:
                yield moment
        day += timedelta(days=1)


def _around_dusk(journey: Journey) -> Iterator[Span]:
    """Yield outages from the middle of the ride home until the bike stands and night began."""
    for trip in journey.trips:
        dusk = datetime.combine(trip.starts_at.date(), time(17, 30), UTC)
        if abs(trip.ends_at - dusk) < 2 * _HOUR:
            half = trip.starts_at + (trip.ends_at - trip.starts_at) / 2
            yield Span(half, max(trip.ends_at, dusk) + 30 * _MINUTE)


def _breakfast(coming: Coming, number: int, home: Watched, end: datetime) -> int:
    """Tap *Guard again* at night after the bike was shaken, and ride off in the morning."""
    last = coming.reports[number - 1]
    home.hear(_later(last, alarm=_ALARM), last.comes_at + _MINUTE)
    assert home.alerts
    home.alerts.clear()
    home.tap("Guard again", last.comes_at + 2 * _MINUTE)
    assert home.guard == "armed"
    while number < len(coming.reports) and coming.reports[number].comes_at <= end:
        report = coming.reports[number]
        for at in _times_between(coming.reports[number - 1].comes_at, report.comes_at):
            home.compare(at)
        home.hear(report, report.comes_at)
        number += 1
        if home.alerts:
            return 1
    return 0


def _steal(
    world: World,
    coming: Coming,
    number: int,
    home: Watched,
    trip: Trip,
    found: Watch,
) -> None:
    last = coming.reports[number - 1]
    start = last.comes_at + 3 * _MINUTE
    random = Random(f"theft-{start}")  # noqa: S311 - no secret
    first = Trip(random, start, trip.end, 2, _TOWN)
    second = Trip(random, first.ends_at + 20 * _MINUTE, first.end, 2, _TOWN)
    ride = _stolen(world, last, first)
    found.ridden.append(_alerted_with(home.copied(), ride))
    shaken = home.copied()
    shaken.hear(_later(last, alarm=_ALARM), last.comes_at + _MINUTE)
    assert shaken.alerts
    found.shaken_first.append(_alerted_with(shaken, ride))
    again = home.copied()
    half = len(ride) // 2
    for report in ride[:half]:
        again.hear(report, report.comes_at)
    again.tap("Guard again", ride[half].comes_at)
    again.alerts.clear()
    for report in ride[half:]:
        again.hear(report, report.comes_at)
        if again.alerts:
            # It stood at a red light in a tunnel, was guarded there and rode on.
            again.alerts.clear()
            again.tap("Guard again", report.comes_at)
    later = ride[-1]
    for _ in range(7):
        later = _later(later, motion=False, speed=0.0)
        again.hear(later, later.comes_at)
    found.guarded_again.append(
        _alerted_with(again, _stolen(world, later, second))
        if again.guard == "armed"
        else NEVER
    )


def _later(report: Report, **fields: object) -> Report:
    """Return a report of the same place a minute later."""
    own = (report.position.device_time or report.comes_at) + _MINUTE
    position = report.position._replace(
        id=report.position.id + 1,
        fix_time=own,
        device_time=own,
        **fields,  # type: ignore[arg-type]
    )
    return Report(position, report.comes_at + _MINUTE)


def _stolen(world: World, last: Report, trip: Trip) -> list[Report]:
    """Return the reports of a ride of a thief, without the one before the bike is off."""
    tracker = replace(world.tracker, parked=None, repeats=None)
    ride = reports(tracker, Journey([trip]), trip.starts_at, trip.ends_at, _SEED)
    said: Iterator[Report] = islice(ride, 1, None)
    if world.tracker.parked:
        said = iter(world.bend(said, Journey([trip])))
    stolen = [
        Report(
            it.position._replace(
                id=last.position.id + 10 + it.position.id,
                total_distance=None,
            ),
            it.comes_at,
        )
        for it in said
    ]
    return _told(world, stolen)


def _alerted_with(home: Watched, ride: Sequence[Report]) -> int:
    """Return with which of these reports a message about motion or a place is sent."""
    for number, report in enumerate(ride, 1):
        home.hear(report, report.comes_at)
        if any(cause != "alarm" for _, cause in home.alerts):
            home.alerts.clear()
            return number
    return NEVER
