"""Rides from before: of each answer the whole ones, and from where on the rest comes."""

from datetime import datetime, timedelta

import pytest

from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.tracking.history import HistoryAnswer, rides_before
from custom_components.bike_tracker.tracking.ride_state import Ride

from .conftest import NOW, a_position
from .house import minutes, story

_DAY = timedelta(days=1)


def rides_of(
    reports: list[Position], start: datetime, until: datetime, now: datetime
) -> tuple[list[Ride], datetime | None]:
    """Return what one answer gives."""
    rides, rest = rides_before(HistoryAnswer(reports, until), start, now)
    return list(rides), rest


def test_whole_rides() -> None:
    """All of them come, also one that was not seen to end; the rest is what was before."""
    reports = story("stand 30, ride 10 @15, stand 60, ride 10 @-15", every=10)
    start, until = NOW - timedelta(hours=1), minutes(112)
    rides, rest = rides_of(reports, start, until, until)
    assert [round(ride.distance, 1) for ride in rides] == [2.5, 2.5]
    assert rest == start


@pytest.mark.parametrize(
    ("start", "until", "count"), [(15, 1_440, 1), (31, 1_440, 1), (15, 100, 0)]
)
def test_ride_across_the_start(start: float, until: float, count: int) -> None:
    """It comes with what was before, whole, and only then."""
    reports = story("stand 10, ride 30 @15, stand 60, ride 10 @-15, stand 600")
    now = NOW + _DAY
    rides, rest = rides_of(reports, minutes(start), minutes(until), now)
    assert [ride.started_at for ride in rides] == [minutes(100)] * count
    assert rest
    assert minutes(40) < rest <= minutes(50)
    [earlier], _ = rides_of(reports, rest - _DAY, rest, now)
    assert earlier.distance == pytest.approx(7.5, rel=0.05)


def test_ride_of_a_day() -> None:
    """One that lasts for more than half of what is asked for is taken as it is."""
    reports = story("ride 800 @15, stand 300")
    start, until = minutes(10), NOW + _DAY
    rides, rest = rides_of(reports, start, until, until)
    assert len(rides) == 1
    assert rest == start


@pytest.mark.parametrize(("age", "has_rest"), [(30, False), (29.999, True)])
def test_oldest_day(age: float, has_rest: bool) -> None:
    """After 30 days there is no rest: what was under way then is taken as it is."""
    reports = story("ride 30 @15, stand 30", every=10)
    start, until = minutes(10), NOW + _DAY
    rides, rest = rides_of(reports, start, until, start + age * _DAY)
    assert len(rides) == (not has_rest)
    assert (rest is not None) is has_rest


def test_nothing_of_that_time() -> None:
    """A service that ignores the time tells of its newest report alone."""
    reports = [a_position(1, fix_time=NOW + 3 * _DAY), a_position(2, fix_time=None)]
    assert rides_of(reports, NOW, NOW + _DAY, NOW + 4 * _DAY) == ([], NOW)
