"""Nights of a bike that is armed when it arrives, and what its guard makes of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import cache
from heapq import merge
from itertools import pairwise
from random import Random

from custom_components.bike_tracker.account import Triggered
from tests.rides.home import BIKE, Home
from tests.rides.plan import BEGIN, a_journey
from tests.rides.trackers import Report, reports
from tests.rides.trips import Journey
from tests.rides.worlds import World
from tests.simulator.streets import METRES_PER_DEGREE

NIGHTS = 30
CARRIED = 200
_DAYS = 60
_SEED = 1
_STOLEN_AFTER = timedelta(hours=3)
_SOON = timedelta(minutes=1)


@dataclass(frozen=True)
class Night:
    """A time in which the bike stands and is guarded."""

    armed_at: datetime
    ends_at: datetime
    """When it is ridden again."""
    ridden_until: datetime

    @property
    def stolen_at(self) -> datetime:
        """Return when it is carried off, if it is."""
        return self.armed_at + _STOLEN_AFTER


@dataclass(frozen=True)
class Told:
    """What the guard told, and with which report."""

    triggered: Triggered
    night: Night
    time: datetime


@dataclass(frozen=True)
class Found:
    """What was made of the nights in a world."""

    false_alarms: int
    carried: tuple[int, ...]
    """Of each time it was carried off, with which report that was told; 0 is never."""
    ridden: tuple[int, ...]
    """The same for each time it was ridden off."""


@cache
def found_in(world: World, *, live: bool = False) -> Found:
    """Return what is made of nights in a world."""
    journey = a_journey(_SEED, _DAYS)
    nights = tuple(_nights(journey))
    said = tuple(_said(world, journey))
    quiet = [replace(night, ends_at=night.ends_at - 2 * _SOON) for night in nights]
    return Found(
        false_alarms=len(list(_told(said, quiet, live=live))),
        carried=_with_which_report(
            _carried_off(said, quiet),
            quiet,
            {night.armed_at: night.stolen_at for night in quiet},
            live=live,
        ),
        ridden=_with_which_report(
            said,
            [replace(night, ends_at=night.ridden_until) for night in nights],
            {night.armed_at: night.ends_at for night in nights},
            live=live,
        ),
    )


def _said(world: World, journey: Journey) -> Iterable[Report]:
    begin = datetime.combine(BEGIN, time(), UTC)
    end = begin + timedelta(days=_DAYS)
    said = reports(world.tracker, journey, begin, end, _SEED)
    return sorted(world.bend(said, journey), key=lambda report: report.comes_at)


def _nights(journey: Journey) -> Iterator[Night]:
    """Yield nights, guarded from the arrival on, or from some time later."""
    random = Random("nights")  # noqa: S311 - no secret
    stops = [
        (trip.ends_at, following)
        for trip, following in pairwise(journey.trips)
        if trip.ends_at.date() < following.starts_at.date()
    ]
    # The first days show how the tracker errs.
    for number, (arrives, trip) in enumerate(stops[-NIGHTS:]):
        later = 0 if number % 2 else random.uniform(0, 120)
        armed_at = arrives + _SOON / 2 + later * _SOON
        yield Night(armed_at, trip.starts_at, trip.ends_at)


def _carried_off(said: Iterable[Report], nights: Iterable[Night]) -> list[Report]:
    """Return what is reported of a bike that is carried off each night, and back later."""
    times = list(nights)
    return [
        _shifted(report)
        if any(night.stolen_at < report.comes_at <= night.ends_at for night in times)
        else report
        for report in said
    ]


def _shifted(report: Report) -> Report:
    assert report.position.latitude is not None
    latitude = report.position.latitude + CARRIED / METRES_PER_DEGREE
    return Report(report.position._replace(latitude=latitude), report.comes_at)


def _told(
    said: Iterable[Report], nights: Iterable[Night], *, live: bool
) -> Iterator[Told]:
    """Yield what is told of guarded nights, polled each minute, or as it happens."""
    home = Home()
    times = list(nights)
    coming = (
        (report.comes_at if live else _next_poll(report.comes_at), 1, report)
        for report in said
    )
    arming = ((night.armed_at, 0, night) for night in times)
    disarming = ((night.ends_at, 0, None) for night in times)
    newest: Report | None = None
    guarded: Night | None = None
    for now, _, thing in merge(
        coming, sorted((*arming, *disarming), key=lambda x: x[0]), key=lambda x: x[0]
    ):
        match thing:
            case Report():
                if newest is None or _time(thing) > _time(newest):
                    newest = thing
                    home.poll(newest, now)
            case Night():
                guarded = thing
                home.account.arm(BIKE, now)
            case None:
                guarded = None
                home.account.disarm(BIKE)
        if guarded and (guard := home.account.trackers[BIKE].guard):
            if guard.triggered:
                yield Told(guard.triggered, guarded, now)
                guarded = None


def _time(report: Report) -> datetime:
    return report.position.device_time or report.comes_at


def _next_poll(time: datetime) -> datetime:
    return time.replace(second=0, microsecond=0) + _SOON


def _with_which_report(
    said: Iterable[Report],
    nights: Iterable[Night],
    stolen_at: dict[datetime, datetime],
    *,
    live: bool,
) -> tuple[int, ...]:
    reported, times = list(said), list(nights)
    told = {one.night: one for one in _told(reported, times, live=live)}
    return tuple(
        sum(
            stolen_at[night.armed_at] < report.comes_at <= told[night].time
            for report in reported
        )
        if night in told
        else 0
        for night in times
    )
