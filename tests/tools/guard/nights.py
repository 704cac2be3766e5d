"""Nights of a bike that is armed when it arrives, and what its guard makes of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import islice, pairwise
from random import Random

from custom_components.bike_tracker.tracking import Account, Remembered
from tests.tools.rides.home import BIKE, Home
from tests.tools.rides.plan import BEGIN, a_journey
from tests.tools.rides.trackers import Report, reports
from tests.tools.rides.trips import Journey
from tests.tools.rides.worlds import World
from tests.tools.simulator.streets import METRES_PER_DEGREE

NIGHTS = 30
CARRIED = 200
"""Metres."""
NEVER = 0
_DAYS = 60
_SEED = 1
_MINUTE = timedelta(minutes=1)
_CARRIED_AFTER = timedelta(hours=3)
# So many reports are waited for.
_SOON = 20


@dataclass(frozen=True)
class Night:
    """A time in which the bike stands and is guarded, until it is ridden off."""

    armed_at: datetime
    ridden_at: datetime
    ends_at: datetime


@dataclass
class Found:
    """What was made of the nights in a world."""

    false_alarms: int = 0
    carried: Counter[int] = field(default_factory=Counter)
    """With which report it was told that it was carried off, by how often."""
    ridden: Counter[int] = field(default_factory=Counter)
    """The same of each time it was ridden off."""


@cache
def found_in(world: World, nights: int = NIGHTS) -> Found:
    """Return what is made of the last nights of some weeks in a world."""
    journey = a_journey(_SEED, _DAYS)
    begin = datetime.combine(BEGIN, time(), UTC)
    end = begin + timedelta(days=_DAYS)
    said = world.bend(reports(world.tracker, journey, begin, end, _SEED), journey)
    coming = list(_newest_first(sorted(said, key=lambda report: report.comes_at)))
    home, found, number = Home(), Found(), 0
    for night in list(_nights(journey))[-nights:]:
        number = _live(home, coming, number, night.armed_at)
        home.account.arm(BIKE, night.armed_at)
        number = _live(home, coming, number, night.armed_at + _CARRIED_AFTER)
        if not _is_triggered(home):
            thief = Home(
                account=Account(Remembered(dict(home.account.remembered.stories)))
            )
            shifted = map(_shifted, islice(coming, number, number + _SOON))
            found.carried[_told_with(thief, shifted)] += 1
        number = _live(home, coming, number, night.ridden_at)
        if _is_triggered(home):
            found.false_alarms += 1
        else:
            after = (report for report in coming[number:])
            ridden = [report for report in after if report.comes_at <= night.ends_at]
            found.ridden[_told_with(home, ridden)] += 1
            number += len(ridden)
        home.account.disarm(BIKE)
    return found


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


def _live(home: Home, coming: Sequence[Report], number: int, until: datetime) -> int:
    """Let reports come, from this one on; return the number of the next one."""
    while number < len(coming) and coming[number].comes_at <= until:
        home.poll(coming[number], coming[number].comes_at)
        number += 1
    return number


def _told_with(home: Home, coming: Iterable[Report]) -> int:
    """Return with which of these reports the guard is triggered."""
    told = NEVER
    for number, report in enumerate(coming, 1):
        home.poll(report, report.comes_at)
        if not told and _is_triggered(home):
            told = number
    return told


def _is_triggered(home: Home) -> bool:
    guard = home.account.trackers[BIKE].story.guard
    return guard is not None and guard.triggered is not None


def _shifted(report: Report) -> Report:
    assert report.position.latitude is not None
    latitude = report.position.latitude + CARRIED / METRES_PER_DEGREE
    return Report(report.position._replace(latitude=latitude), report.comes_at)
