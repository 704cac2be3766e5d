"""Weeks of a bike with a night guard: its decisions, its messages, and simulated thefts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
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
from tests.tools.rides.trips import BEGIN, Journey, Span, Trip
from tests.tools.rides.worlds import MINUTE, SEED, World

from .nights import NEVER, Coming, Found, number_of_first, told

# The night often begins during the ride home. It ends before the next ride.
_DUSK = time(17, 30)
_NIGHT = NightGuard.from_data("night", {**DEFAULTS, "night_begins": str(_DUSK)})
_DAYS = 35
# Reports of the arrival may be received this long after it.
_LATE = 15 * MINUTE


@dataclass
class Watched(Home):
    """A home with a night guard that decides with `schedule.decide`, as the integration does.

    The integration's `arming.py` itself needs Home Assistant, with its clock and
    registries: a simulation of a million reports would last for hours.
    """

    outages: Sequence[Span] = ()
    mine: bool = False
    """Whether the rider has tapped *It's me*."""
    _causes: tuple[str, ...] = ()
    """The causes in new messages about a triggered guard."""
    _heard_at: datetime = BEGIN
    _compared_at: datetime = BEGIN
    _is_due: bool = True

    @property
    def guard(self) -> GuardState:
        """Return the state of the guard."""
        return state_of(self.account.trackers[BIKE].state.guard)

    def hear(self, report: Report, now: datetime | None = None) -> tuple[str, ...]:
        """Receive a report by a poll or a push message, or miss it in an outage. Return the causes of new messages."""
        now = now or report.comes_at
        for at in _times_between(self._heard_at, now):
            self._compare(at)
        self._heard_at = now
        if not self._is_up(now):
            self._came_back = self._is_due = True
            return ()
        if self.service.is_live and not self._came_back:
            self.push(replace(report, comes_at=now))
        else:
            self.poll(report, now)
        if self._is_due:
            self._compare(now)
        causes, self._causes = self._causes, ()
        return causes

    def _is_up(self, now: datetime) -> bool:
        return not any(now in span for span in self.outages)

    @override
    def _fire(self, changes: Changes, now: datetime) -> list[Occurrence]:
        news = super()._fire(changes, now)
        for it in news:
            if it.type == "guard_triggered":
                self._causes += (it.attributes["cause"],)
        if any(it.type == "ride_ended" for it in news):
            self.mine = False
            self._compare(now)
        return news

    def _compare(self, now: datetime) -> None:
        """Arm or disarm the guard as the night guard decides."""
        self._is_due, is_up = False, self._is_up(now)
        tracker = self.account.trackers[BIKE]
        began = _NIGHT.last_began(now)
        begins = began is not None and began > self._compared_at
        self.mine = self.mine and not begins
        situation = Situation(self.guard, self.mine, tracker.is_under_way, not is_up)
        wanted = tracker.position is not None and _NIGHT.is_night(now)
        decision = decide(situation, is_wanted=wanted, night_begins=begins)
        if decision == "arm":
            self.arm(now)
        elif decision == "disarm":
            self.account.disarm(BIKE)
        if is_up:
            self._compared_at = now


@cache
def watched(world: World, *, dusk_in_outage: bool = False) -> Found:
    """Return the results of five weeks of a world. With `dusk_in_outage`, the nights begin in outages."""
    # A report each minute is enough: with a report each 10 seconds, the guard does the
    # same, but the simulation would last long.
    tracker = replace(world.tracker, every=max(60, world.tracker.every))
    return _Weeks(replace(world, tracker=tracker), dusk_in_outage).run()


class _Weeks:
    """Simulates weeks of a bike with a night guard and a thief each night."""

    def __init__(self, world: World, dusk_in_outage: bool) -> None:
        self._world, self._found, self._coming = world, Found(), Coming(world, _DAYS)
        outages = _around_dusk(self._coming.journey) if dusk_in_outage else ()
        self._home = Watched(world.service, world.clock, outages=list(outages))

    def run(self) -> Found:
        """Simulate all nights. In each night in which the guard is armed, thieves steal copies of the bike."""
        found = self._found
        for trip, following in pairwise(self._coming.journey.trips):
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
        for report, now in self._coming.until(until):
            if home.hear(report, now):
                trip = self._coming.journey.begun(now)
                if trip and now < trip.ends_at + _LATE:
                    home.mine = True
                    home.account.disarm(BIKE)
                else:
                    self._found.false_alarms += 1
                    home.arm(now)

    def _breakfast(self, end: datetime) -> bool:
        """Shake the bike at night, and tap *Guard again*. Return whether the ride in the morning causes a message."""
        home, last = self._home.copied(), self._coming.last
        assert home.hear(_later(last, alarm="vibration"))
        home.arm(last.comes_at + 2 * MINUTE)
        assert home.guard == "armed"
        return any(home.hear(it) for it in self._coming.left if it.comes_at <= end)

    def _steal(self, trip: Trip) -> None:
        """Let a thief ride off on copies of the bike: at once, after a vibration, and with *Guard again* on the way."""
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
        for number, report in enumerate(ride):
            if number == half:
                again.arm(report.comes_at)
            # If the bike stood at a red light in a tunnel, it was guarded there. Its
            # next report then triggers the guard, so tap *Guard again* twice.
            if again.hear(report) and number >= half:
                again.arm(report.comes_at)
        later = ride[-1]
        for _ in range(7):
            later = _later(later, motion=False, speed=0.0)
            again.hear(later)
        ride, is_armed = _stolen(world, later, second), again.guard == "armed"
        found.guarded_again[_alerted_with(again, ride) if is_armed else NEVER] += 1


def _times_between(start: datetime, end: datetime) -> Iterator[datetime]:
    """Yield the times between two times at which a night begins or ends, in order."""
    assert _NIGHT.night
    for number in range((end.date() - start.date()).days + 1):
        day = start.date() + timedelta(days=number)
        moments = (datetime.combine(day, at, UTC) for at in sorted(_NIGHT.night))
        yield from (moment for moment in moments if start < moment <= end)


def _around_dusk(journey: Journey) -> Iterator[Span]:
    """Yield outages. Each begins during the ride home and ends after the bike stands and the night has begun."""
    for trip in journey.trips:
        dusk = datetime.combine(trip.starts_at.date(), _DUSK, UTC)
        if abs(trip.ends_at - dusk) < 120 * MINUTE:
            yield Span(trip.middle, max(trip.ends_at, dusk) + 30 * MINUTE)


def _later(report: Report, **fields: object) -> Report:
    """Return a report of the same place, a minute later, with these values in its position."""
    own, number = report.sent_at + MINUTE, report.position.id + 1
    later = replace(report, comes_at=report.comes_at + MINUTE)
    return later.changed(id=number, fix_time=own, device_time=own, **fields)


def _stolen(world: World, last: Report, trip: Trip) -> list[Report]:
    """Return the reports of a thief's ride. Leave out the first report, which may be from where the bike stood."""
    tracker = replace(world.tracker, parked=None, repeats=None)
    ride = reports(tracker, Journey([trip]), trip.starts_at, trip.ends_at, SEED)
    said: Iterator[Report] = islice(ride, 1, None)
    if world.tracker.parked:
        said = iter(world.bend(said, Journey([trip])))
    number = last.position.id + 10
    stolen = (
        it.changed(id=number + it.position.id, total_distance=None) for it in said
    )
    return list(told(world, stolen))


def _says_where(alerts: Iterable[str]) -> bool:
    """Return whether a message is about motion or another place."""
    return any(cause != "alarm" for cause in alerts)


def _alerted_with(home: Watched, ride: Sequence[Report]) -> int:
    """Return the number of the report that causes a message about motion or another place, or `NEVER`."""
    return number_of_first(_says_where(home.hear(report)) for report in ride)
