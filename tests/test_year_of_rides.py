"""Months of rides, or a year as `scripts/soak --rides` has it: none lost, none invented."""

from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.const import STATE_UNAVAILABLE, Platform
from homeassistant.core import Event, HomeAssistant, callback
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from .conftest import RED, Poll, StateOf
from .rides.accuracy import distance_error, rides_of
from .rides.home import Home, Span
from .rides.page import PAGE, page
from .rides.plan import BEGIN, a_journey, outages, overlaps, restarts
from .rides.trackers import Tracker, reports
from .rides.trips import Journey
from .simulator.server import Simulator
from .soak.options import POLLS_A_DAY, Options

_DAY = timedelta(days=1)
_LONGEST_OUTAGE = timedelta(hours=3, minutes=30)
# Weeks of the longest journey in Home Assistant, of which a day takes seconds.
_MOST_DAYS = 21

TRACKERS = (
    Tracker("sleeps", 10, repeats=3_600, jumps=0.001, buffers=0.002),
    Tracker("stays awake", 10, parked=300, jumps=0.001),
    Tracker("every minute", 60, parked=1_800, buffers=0.01),
    Tracker("jumps", 60, repeats=3_600, jumps=0.01),
    Tracker("says little", 60, 600, says_accuracy=False, says_speed=False),
    Tracker("counts nothing", 60, repeats=600, says_total=False, accuracy=15),
    Tracker("every ten minutes", 600, repeats=3_600),
)


@pytest.fixture
def options(pytestconfig: pytest.Config) -> Options:
    """Return how long, as `scripts/soak` was told; two months otherwise."""
    plugins = pytestconfig.pluginmanager.get_plugins()
    told = (plugin for plugin in plugins if isinstance(plugin, Options))
    return next(told, Options(polls=60 * POLLS_A_DAY))


@pytest.mark.parametrize("tracker", TRACKERS, ids=lambda tracker: tracker.name)
def test_year(tracker: Tracker, options: Options) -> None:
    """Each ride is told as it was, whatever the service does, and nothing else is."""
    days = options.polls // POLLS_A_DAY
    journey = a_journey(options.seed, days)
    begin = datetime.combine(BEGIN, time(), UTC)
    end = begin + _DAY * (days + 1)
    downs = outages(journey, options.seed, end)
    home = Home()
    home.live(
        reports(tracker, journey, begin, end, options.seed),
        end,
        downs,
        restarts(options.seed, end),
    )

    _rides_are_right(tracker, journey, home, downs)
    totals = [total for _, total in home.totals]
    assert totals == sorted(totals)
    true = sum(trip.kilometres for trip in journey.trips)
    counted = (totals[-1] - totals[0]) / true
    options.say(
        f"{tracker.name}: {len(journey.trips)} trips, {len(home.rides)} rides,"
        f" {true:,.0f} km, {counted:.1%} of them counted"
    )
    assert (0.6 if tracker.every == 600 else 0.93) < counted < 1.01


def _rides_are_right(
    tracker: Tracker, journey: Journey, home: Home, downs: list[Span]
) -> None:
    told = [ride for _, ride in home.started]
    assert [ride.started_at for ride in told] == [
        ride.started_at for _, ride in home.ended
    ]
    assert all(
        before.moved_at < ride.started_at for before, ride in pairwise(home.rides)
    )
    late = timedelta(minutes=10 if tracker.every == 600 else 6)
    # Reports that come late are not seen at all until they come.
    late += timedelta(minutes=8 if tracker.buffers else 0)
    left = list(home.rides)
    for trip in journey.trips:
        found = rides_of(trip, left, late)
        is_seen = not any(overlaps(trip, span, 2 * late) for span in downs)
        if is_seen:
            assert len(found) == 1 or (tracker.every == 600 and len(found) == 2)
            assert abs(found[0].started_at - trip.starts_at) <= late
            assert abs(found[-1].moved_at - trip.ends_at) <= late
            assert -90 < distance_error(found, trip) < 5
        else:
            # What was ridden during an outage is known after it.
            found = found or rides_of(trip, left, _LONGEST_OUTAGE)
            assert 1 <= len(found) <= 2
        for ride in found:
            left.remove(ride)
    assert not left


def test_page() -> None:
    """docs/rides.md says what is measured."""
    assert PAGE.read_text() == page()
