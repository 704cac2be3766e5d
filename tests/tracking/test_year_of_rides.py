"""Rides of two months or, in a long run, of a year: none is lost, and none is invented."""

from datetime import timedelta
from itertools import pairwise

import pytest

from ..long import DAYS, IS_LONG, SEED, longest, some
from ..tools.rides.__main__ import PAGE, tables
from ..tools.rides.home import BIKE, Home
from ..tools.rides.trackers import Tracker, reports
from ..tools.rides.trips import BEGIN, Journey, Span, a_journey, outages, restarts
from ..tools.rides.worlds import (
    TRIPS,
    WORLDS,
    World,
    distance_error,
    found_in,
    rides_of,
)
from ..tools.tables import tables_of

_DAY = timedelta(days=1)
# Number of simulated days, unless a long run sets the environment variable DAYS.
_SHORT = 60

_OFTEN = 0.01
TRACKERS = (
    Tracker("sleeps", 10, repeats=3_600, jumps=0.001, buffers=0.002),
    Tracker("stays awake", 10, parked=300, jumps=0.001),
    Tracker("every minute", 60, parked=1_800, buffers=0.01),
    Tracker("jumps", 60, repeats=3_600, jumps=_OFTEN),
    Tracker("says little", 60, 600, claims=0, says_speed=False),
    Tracker("counts nothing", 60, repeats=600, says_total=False, accuracy=15),
    Tracker("every ten minutes", 600, repeats=3_600),
)


@pytest.mark.parametrize(
    "tracker", some(TRACKERS, every=4), ids=lambda tracker: tracker.name
)
def test_year(tracker: Tracker) -> None:
    """Exactly the true rides are detected, despite outages of the service and restarts of Home Assistant."""
    days = DAYS or _SHORT
    journey = a_journey(SEED, days)
    end = BEGIN + _DAY * (days + 1)
    downs = outages(journey, SEED, end)
    home, said = Home(), reports(tracker, journey, BEGIN, end, SEED)
    home.live(said, end, downs, restarts(SEED, end))
    _check(tracker, journey, home, downs)
    # The state keeps only the last rides. The database has all rides.
    assert len(home.account.states[BIKE].ride_state.rides) <= 4
    assert home.totals == sorted(home.totals)
    counted = (home.totals[-1] - home.totals[0]) / journey.kilometers
    assert (0.6 if tracker.every == 600 else 0.93) < counted < 1.01


def _check(tracker: Tracker, journey: Journey, home: Home, downs: list[Span]) -> None:
    starts, ends = (
        [it.attributes["started_at"] for it in home.of_type(kind)]
        for kind in ("ride_started", "ride_ended")
    )
    is_rare, jumps_often = tracker.every == 600, tracker.jumps == _OFTEN
    assert starts == ends
    assert len(starts) == len(home.book)
    assert all(a.moved_at < b.started_at for a, b in pairwise(home.book))
    # Of delayed reports, a poll gets only the newest, so detected rides may be late.
    late = timedelta(minutes=(10 if is_rare else 6) + (8 if tracker.buffers else 0))
    left = list(home.book)
    for trip in journey.trips:
        struck = [span for span in downs if trip.is_near(span, 2 * late)]
        if struck:
            # A ride during an outage becomes known with the first fix after the outage.
            known = max(span.ends_at for span in struck) - trip.ends_at
            known += timedelta(seconds=tracker.parked or 0)
            found = rides_of(trip, left, late + max(known, timedelta()))
            # No ride is found if the fix that should confirm the new place was far from it.
            assert (not jumps_often) <= len(found) <= 2
        elif not (found := rides_of(trip, left, late)):
            # A ride may be missing only if it was shorter than the time between two
            # reports, so that no report fell into it.
            assert (trip.ends_at - trip.starts_at).total_seconds() < tracker.every
            assert is_rare
        else:
            assert len(found) <= 1 + is_rare
            # If a tracker reports rarely, its first report of a ride may come from a
            # red light. Then the ride starts with the second report.
            assert abs(found[0].started_at - trip.starts_at) <= late * (1 + is_rare)
            assert abs(found[-1].moved_at - trip.ends_at) <= late
            # If the fix of an arrival was far from the true place, the last minute of that
            # ride belongs to the next ride, which then is too long.
            assert -90 < distance_error(found, trip) < (20 if jumps_often else 5)
        for ride in found:
            left.remove(ride)
    assert not left


@pytest.mark.parametrize("world", some(WORLDS, every=12), ids=lambda world: world.name)
def test_worlds(world: World) -> None:
    """If trackers, clocks or services have faults, each trip is one ride, and at most a few rides are invented."""
    found = found_in(world)
    assert found.as_one == TRIPS
    assert found.invented <= (0 if world.is_clear else 5)
    assert (-6 if world.is_clear else -12) < found.in_all < 3
    if world.is_clear and not world.service.is_live:
        assert (found.started, found.ended) == (TRIPS, TRIPS)


@longest
@pytest.mark.skipif(not IS_LONG, reason="measures all worlds")
def test_page() -> None:
    """The tables of docs/rides.md have the measured values."""
    assert tables_of(PAGE) == list(tables())
