"""When rides start and end, and how long they are. house.py explains the scripts and their summaries."""

import pytest

from custom_components.bike_tracker.tracking.distance import Fix
from custom_components.bike_tracker.tracking.rides import Ride, RideState
from custom_components.bike_tracker.tracking.routes import decode

from .conftest import NOW
from .house import METER, lived, minutes, rows

TABLE = """
A ride starts where the bike stood and ends where it stands.
  stand 3, ride 10 @15, stand 6 -> started 3, ended 13, 2.5 km
The first report of all starts no ride.
  ride 1 @15, stand 9 -> started 0, ended 1, 0.25 km
The start is the fix before, unless that is old.
  sleep 4, ride 1 @15, stand 6 -> started 0, ended 5, 0.25 km
  sleep 5, ride 1 @15, stand 6 -> started 6, ended 6, 0.25 km
Four minutes at a traffic light are one ride, twenty are two.
  ride 5 @15, stand 4, ride 5 @15, stand 6 -> started 0, ended 14, 2.5 km
  ride 5 @15, stand 20, ride 5 @15, stand 6 -> started 0, ended 5, started 25, ended 30, 2.5 km
  ride 5 @15, stand 1, sleep 19, ride 5 @15, stand 6 -> started 0, ended 5, started 26, ended 30, 2.5 km
A slow way between two reports may include a stop: after rest five minutes of it, else ten.
  says motion=none speed=none, ride 3 @15, sleep 15, jump 900, stand 9 -> started 0, ended 19, 1.65 km
  says motion=none speed=none, ride 3 @15, sleep 18, jump 900, stand 9 -> started 0, ended 3, started 22, ended 22, 1.65 km
  ride 3 @15, stand 1, sleep 13, jump 900, ride 3 @15, stand 9 -> started 0, ended 20, 2.4 km
  ride 3 @15, stand 1, sleep 16, jump 900, ride 3 @15, stand 9 -> started 0, ended 3, started 21, ended 23, 2.4 km
A tracker that was silent for half an hour ended the ride before.
  ride 5 @15, sleep 29, ride 2 @15, stand 6 -> started 0, ended 5, started 35, ended 36, 1.75 km
  ride 5 @15, sleep 30, ride 2 @15, stand 6 -> started 0, ended 5, started 36, ended 37, 1.75 km
Motion on the spot or at walking speed is no ride; before a ride it is its start.
  stand 3, stand 2 motion=yes, stand 9 -> 0 km
  stand 5, stand 2 motion=yes speed=none, ride 5 @15, stand 6 -> started 5, ended 12, 1.25 km
  stand 5, stand 9 motion=yes speed=none, ride 5 @15, stand 6 -> started 14, ended 19, 1.25 km
  stand 5, stand 9 motion=yes speed=2.9, stand 6 -> 0 km
Speed alone is motion; no speed without motion is rest.
  says motion=none, stand 3, jump 140, stand 9 -> started 3, ended 4, 0.14 km
  says motion=none, stand 5, stand 2 speed=3, ride 5 @15, stand 6 -> started 5, ended 12, 1.25 km
  says motion=none, stand 3, jump 400, stand 1, jump -400, stand 9 -> 0 km
Motion that is always reported counts once, then the place does.
  says motion=yes speed=none, stand 30, ride 5 @15, stand 20 -> started 30, ended 35, 1.25 km
  says motion=yes speed=none, stand 30, stand 1 is_fix=no motion=none, stand 1, ride 5 @15, stand 20 -> started 32, ended 37, 1.25 km
  says motion=yes speed=9, stand 30, ride 5 @15, stand 20 -> started 30, ended 39, 1.25 km
A tracker that claims rest is believed a report later.
  says motion=no speed=0, stand 3, ride 10 @15, stand 6 -> started 3, ended 13, 2.5 km
Its place alone starts nothing: only if it is there with the next report.
  says motion=no speed=0, stand 3, sleep 60, jump 3000, stand 1 -> 0 km
  says motion=no speed=0, stand 3, sleep 60, jump 3000, stand 9 -> started 64, ended 64, 3 km
A red light or a visit with the first reports.
  stand 3, jump 230, stand 7, ride 4 @15, stand 6 -> started 3, ended 14, 1.23 km
  stand 3, jump 230, stand 20, ride 4 @15, stand 6 -> started 3, ended 4, started 23, ended 27, 1.23 km
  stand 9, jump 400, stand 10, jump -400, stand 20 -> started 9, ended 10, started 19, ended 20, 0.8 km
The lost report of an arrival belongs to the ride: up to a kilometer, a day.
  ride 4 @15, sleep 60, jump 999.5, stand 60 -> started 0, ended 4, 2 km
  ride 4 @15, sleep 60, jump 1000.5, stand 60 -> started 0, ended 4, started 65, ended 65, 2 km
  ride 4 @15, stand 1, sleep 60, jump 140, stand 60 -> started 0, ended 4, 1.14 km
  ride 4 @15, stand 9, history, stand 30, jump 140, stand 60 -> started 0, ended 4, 1.14 km
  ride 4 @15, sleep 1430, jump 900, stand 60 -> started 0, ended 4, 1.9 km
  ride 4 @15, sleep 1450, jump 900, stand 60 -> started 0, ended 4, started 1455, ended 1455, 1.9 km
A fix that jumped: on the way, at rest, and repeated by messages without a fix.
  says motion=none speed=none, stand 3, jump 5000, stand 1, jump -5000, stand 9 -> 0 km
  says motion=none speed=none, ride 3 @15, jump 90000, ride 1 @0, jump -90000, ride 2 @15, stand 9 -> started 0, ended 6, 1.25 km
  stand 3, jump 15000, stand 1, stand 20 is_fix=no, jump -15000, stand 3 -> 0 km
  says accuracy=0, stand 3, jump 160, stand 1, jump -60, stand 9 -> 0 km
  says motion=none speed=none, stand 3, jump 5000, stand 1, jump -2000, stand 2, sleep 90 -> started 3, 0 km
  says motion=none speed=none, stand 9, jump 400, stand 1, jump -400, stand 2, says motion=no speed=0, jump 300, stand 10 -> started 9, ended 13, 1.1 km
A bike under way may turn round.
  bike every=10, ride 3 @15, jump 800, stand 0.2 speed=none motion=none, ride 3 @-15, stand 9 -> started 0, ended 6.33, 1.5 km
  ride 3 @15, stand 1, jump 400, stand 1, ride 1 @-15, stand 9 -> started 0, ended 6, 1.4 km
Under way, a jump of more than 100 km/h adds nothing, unless the tracker reports such a speed.
  ride 3 @15, jump 1430, ride 2 @15 speed=none motion=none, stand 9 -> started 0, ended 5, 2.68 km
  ride 3 @15, jump 1450, ride 2 @15 speed=none motion=none, stand 9 -> started 0, ended 5, 1 km
  ride 3 @15, jump 1450, ride 2 @15 speed=80, stand 9 -> started 0, ended 5, 2.7 km
  ride 3 @15, jump 1900, ride 2 @15 speed=80, stand 9 -> started 0, ended 5, 1 km
A train is confirmed by the next report; nothing is faster than one.
  says motion=none speed=none, jump 2500, stand 9 -> started 0, ended 1, 2.5 km
  says motion=none speed=none, jump 6000, stand 9 -> 0 km
A reported speed makes a far place plausible.
  ride 3 @15, jump 1000, stand 1 speed=50 motion=yes, jump 1000, stand 1 speed=50 motion=yes, stand 9 -> started 0, ended 5, 2.75 km
A place is another one beyond three times both accuracies, at least 20 m, or 50 m (150 m for a standing bike, but not when it arrives).
  says motion=none speed=none, stand 3, jump 29, stand 6, jump 2, stand 6 -> started 9, ended 10, 0.03 km
  says motion=none speed=none accuracy=15, stand 3, jump 89, stand 6, jump 2, stand 6 -> started 9, ended 10, 0.09 km
  says motion=none speed=none accuracy=0.5, stand 3, jump 19, stand 6, jump 2, stand 6 -> started 9, ended 10, 0.02 km
  says motion=none speed=none accuracy=0, stand 3, jump 49, stand 6, jump 2, stand 6 -> started 9, ended 10, 0.05 km
  says motion=none speed=none, stand 3, jump 45, stand 6 accuracy=0 -> 0 km
  says motion=none speed=none accuracy=0, stand 3, jump 45, stand 6 accuracy=5 -> 0 km
  says accuracy=0, stand 3, jump 149, stand 10, jump 2, stand 10 -> started 13, ended 14, 0.15 km
  says accuracy=0, ride 3 @15, jump 100, stand 9 -> started 0, ended 4, 0.85 km
A better fix of the same place replaces it, while the bike stands.
  says accuracy=20, stand 3, jump 20, stand 1 accuracy=1, jump 40, stand 9 accuracy=5 -> started 4, ended 5, 0.04 km
  says accuracy=20, stand 3, jump 20, stand 1 accuracy=25, jump 40, stand 9 accuracy=5 -> 0 km
  says accuracy=20 motion=none speed=none, stand 3, jump 20, stand 1 accuracy=0, jump -90, stand 9 accuracy=5 -> 0 km
A fix of a mobile network near the place is not the end of a ride, nor does it refute another place; a later fix replaces a far one.
  says accuracy=0, ride 4 @15, jump 800, stand 9 accuracy=1500, jump -800, stand 9, ride 4 @15, stand 9 -> started 0, ended 4, started 22, ended 26, 2 km
  stand 3, jump 400, stand 1, stand 1 accuracy=1500, stand 9 -> started 3, ended 4, 0.4 km
  ride 5 @15, jump 9000, stand 1, jump -9000, stand 9 accuracy=1500 -> started 0, ended 5, 1.25 km
  says motion=none speed=none accuracy=0, stand 3, sleep 300, jump 40000, stand 9 accuracy=1500, stand 9, jump 200, stand 9 -> started 304, ended 304, started 321, ended 322, 40.2 km
  says total_distance=1000, stand 3, jump 400, stand 1 accuracy=1500 total_distance=1000.4, jump -400, stand 1 motion=yes total_distance=1000.8, ride 1 @15 total_distance=1001.05, stand 9 total_distance=1001.05 -> started 4, ended 6, 0.25 km
  says total_distance=1000, stand 3, ride 1 @15 total_distance=1000.25, jump 400, ride 1 @0 accuracy=1500 total_distance=1000.65, jump -400, ride 1 @15 total_distance=1001.3, stand 9 total_distance=1001.3 -> started 3, ended 6, 0.5 km
A place before a silence was no jump, whether the next report is there or back.
  stand 3, jump 900, stand 1, sleep 60, jump -700, stand 20 -> started 3, ended 4, started 65, ended 65, 1.6 km
  stand 9, jump 400, stand 1, sleep 60, jump -400, stand 2, jump 300, stand 10 -> started 72, ended 73, 0.3 km
A fix that was 400 m off hides short rides: for a day, and until a ride.
  ride 4 @15, stand 9, jump 400, stand 1, jump -400, stand 1, sleep 1420, stand 1, jump 300, stand 12 -> started 0, ended 4, 1 km
  ride 4 @15, stand 9, jump 400, stand 1, jump -400, stand 1, sleep 1440, stand 1, jump 300, stand 12 -> started 0, ended 4, started 1456, ended 1457, 1.3 km
  stand 9, jump 400, stand 1, jump -400, stand 2, jump 600, stand 10 -> 0 km
  ride 3 @15, stand 1, jump 400, stand 1, jump -400, stand 20, jump 300, stand 20 -> started 0, ended 3, started 25, ended 26, 1.05 km
  stand 9, jump 140, stand 10, jump 130, stand 10 -> started 9, ended 10, 0.14 km
  stand 9, jump 400, stand 1, jump 3000, stand 1, jump -3400, stand 2, jump 300, stand 10 -> started 13, ended 14, 0.3 km
  stand 9, jump 400, stand 1, jump -400, stand 1 motion=yes speed=9, stand 20, jump 300, stand 10 -> started 31, ended 32, 0.3 km
  stand 9, jump 400, stand 1, jump -400, stand 2, ride 4 @15, stand 60, jump 300, stand 10 -> started 12, ended 16, started 76, ended 77, 1.3 km
Fixes that walls reflect are off for minutes.
  stand 9, jump 400, stand 8, jump -400, stand 9 -> 0 km
Where the accuracy of a fix, or of the place, is unknown, 150 m are drift.
  stand 9, jump 100, stand 20 accuracy=0 -> 0 km
  says accuracy=0, stand 9, jump 100, stand 20 accuracy=5 -> 0 km
  stand 9, jump 1100, stand 7, jump -1100, stand 9 -> started 9, ended 10, started 16, ended 17, 2.2 km
The last place of a silent bike: a place in doubt, drift, last meters.
  ride 5 @15, stand 1, jump 200, stand 1, wait 99 -> started 0, ended 7, 1.45 km
  says accuracy=0, ride 5 @15, stand 2, jump 100, stand 1, wait 99 -> started 0, ended 5, 1.25 km
  ride 5 @15, stand 2, jump 25, stand 1, wait 99 -> started 0, ended 5, 1.27 km
Half an hour after its last report a tracker is silent, and its ride over.
  stand 3, ride 5 @15, wait 29 -> started 3, 0 km
  stand 3, ride 5 @15, wait 30 -> started 3, ended 8, 1.25 km
A ride that a wrong clock ended goes on, and is fired once.
  stand 5, ride 5 @15, clock 9999, wait 0, clock 0, ride 5 @15, stand 9 -> started 5, ended 10, 2.5 km
The server's total knows bends; a reset, a jump and a detour are none.
  says total_distance=1000, sleep 1, jump 250, stand 9 total_distance=1000.3 -> started 0, ended 2, 0.3 km
  says total_distance=1000, sleep 1, jump 250, stand 9 total_distance=100 -> started 0, ended 2, 0.25 km
  says total_distance=1000, sleep 1, jump 250, stand 9 total_distance=none -> started 0, ended 2, 0.25 km
While a bike stands, its total grows by drift; during a ride all of it counts.
  says total_distance=1000, stand 3, ride 1 @15 total_distance=1000.25, stand 1 total_distance=1000.35, ride 1 @15 total_distance=1000.6, stand 9 total_distance=1000.6 -> started 3, ended 6, 0.6 km
  says total_distance=1000, stand 9, stand 9 total_distance=1000.2, jump 100, stand 9 total_distance=1000.3 -> started 18, ended 19, 0.1 km
The total includes the way to a fix that jumped.
  says total_distance=1000, stand 3, ride 1 @15 total_distance=1000.25, stand 2 total_distance=1000.25, jump 400, stand 1 total_distance=1000.65, jump -400, stand 1 total_distance=1001.05, ride 1 @15 total_distance=1001.3, stand 9 total_distance=1001.3 -> started 3, ended 9, 0.5 km
  says total_distance=1000, stand 3, jump 400, stand 1 total_distance=1000.4, jump -700, stand 1 total_distance=1001.1 speed=9 motion=yes, stand 9 total_distance=1001.1 -> started 3, ended 5, 0.3 km
  says total_distance=1000, stand 3, jump 400, stand 1 total_distance=1000.4, jump -400, stand 1 total_distance=1000.8, sleep 1, jump 400, ride 1 @15 total_distance=1001.6, stand 9 total_distance=1001.6 -> started 5, ended 7, 0.8 km
Between two fixes of a live ride little bends, if they are at most 90 s apart.
  receive live, says total_distance=1000, stand 1, ride 1 @15 total_distance=1000.32, stand 9 total_distance=1000.32 -> started 1, ended 2, 0.32 km
  receive live, says total_distance=1000, stand 1, ride 1 @15 total_distance=1000.34, stand 9 total_distance=1000.34 -> started 1, ended 2, 0.25 km
  receive live, bike every=90, says total_distance=1000, stand 1, ride 1 @15 total_distance=1000.5, stand 9 total_distance=1000.5 -> started 1.5, ended 3, 0.37 km
  receive live, bike every=91, says total_distance=1000, stand 1, ride 1 @15 total_distance=1000.5, stand 9 total_distance=1000.5 -> started 1.52, ended 3.03, 0.5 km
A clock that is ahead: fixes are as old as their receipt.
  bike behind=-4, stand 3, ride 5 @15, stand 9 -> started 7, ended 12, 1.25 km
  bike behind=-90, stand 3, ride 5 @15, stand 9 -> started 3, ended 8, 1.25 km
  bike behind=90, stand 3, ride 5 @15, stand 9 -> started -87, ended -82, 1.25 km
A service without the time of receipt: the last contact with the tracker counts.
  says server_time=none, clock -480, stand 3, ride 5 @15, stand 9 -> started 3, ended 8, 1.25 km
A report without a time or place is no fix.
  stand 3, jump 900, stand 9 fix_time=none -> 0 km
  stand 3, jump 900, stand 9 latitude=none -> 0 km
Motion without a fix begins a ride at the time of its message.
  stand 3, sleep 56, stand 3 is_fix=no motion=yes, ride 5 @15, stand 9 -> started 60, ended 67, 1.25 km
  stand 3, stand 3 is_fix=no motion=yes, stand 9 -> 0 km
  says server_time=none, receive live, stand 3, stand 3 is_fix=no motion=yes, ride 5 @15, stand 9 -> started 3, ended 11, 1.25 km
  stand 20, bike age=10, stand 1 is_fix=no motion=yes, bike age=0, ride 5 @15, stand 9 -> started 20, ended 26, 1.25 km
  stand 3, stand 3 is_fix=no motion=yes device_time=none, ride 5 @15, stand 9 -> started 3, ended 11, 1.25 km
"""


@pytest.mark.parametrize(("script", "summary"), rows(TABLE))
def test_rides(script: str, summary: str) -> None:
    """Each script fires the expected starts and ends, and stores rides with the expected total distance."""
    house = lived(script)
    assert house.rides == summary
    assert house.totals == sorted(house.totals)
    if house.kinds.count("started") == house.kinds.count("ended"):
        distance = sum(ride.distance for ride in house.book)
        assert house.totals[-1] - house.totals[0] == pytest.approx(distance)


def test_places_and_speed() -> None:
    """A ride has addresses, a route, and the highest believable speed. Without reported speeds, its speed is None."""
    house = lived(
        "stand 3 address=Lane, ride 2 @15, ride 1 @24, ride 1 @24 speed=900,"
        "ride 1 @24 speed=none, stand 9 address=Road, stand 1 address=none"
    )
    [ride] = house.book
    assert ride.start and ride.end and ride.route
    assert (ride.start.address, ride.end.address) == ("Lane", "Road")
    assert decode(ride.route) == [
        (pytest.approx(47.9 + it * METER, abs=1e-5), 7.8) for it in (0, 1_700)
    ]
    started = {"started_at": minutes(3).isoformat(), "distance": 1.7, "duration": 300}
    started["maximum_speed"] = 24.0
    assert ride.described(is_over=False) == started
    ended = started | {"ended_at": minutes(8).isoformat()}
    assert ride.described(is_over=True) == ended
    rides = [it for it in house.state.occurrences if it.type.startswith("ride_")]
    times = [(it.since, it.before) for it in rides]
    assert times == [(minutes(3), None), (minutes(8), None)]
    [ride] = lived("says speed=none, ride 3 @15, stand 9").book
    assert ride.described(is_over=True)["maximum_speed"] is None
    rounded = Ride(NOW, minutes(1), 1.23456, 12.3456).described(is_over=False)
    assert (rounded["distance"], rounded["maximum_speed"]) == (1.235, 12.3)


def test_drifts() -> None:
    """The last five places with drift are known. A new place within 300 m of a known place replaces it.

    After drift at two places, drift is expected everywhere.
    """
    state, places = RideState(), [Fix(minutes(it), 47 + it, 7.8) for it in range(6)]
    for place in places:
        state = state.with_drift(place, _north(place, 400))
    assert [it.place for it in state.drifts] == places[1:]
    assert state.with_drift(places[5], _north(places[5], 1_001)) is state
    near, other = _north(places[5], 299), _north(places[5], 301)
    assert state.drift_at(near, minutes(9)).apart == pytest.approx(400, abs=1)
    two, state = (state._replace(drifts=state.drifts[-it:]) for it in (2, 1))
    assert two.drift_at(other, minutes(9)).apart == pytest.approx(400, abs=1)
    assert state.drift_at(other, minutes(9)).apart == 0
    assert state.drifts[0].apart_for_minutes == 0
    stayed = state.with_drift(near, _north(near, 500), stayed=True)
    assert stayed.drifts[0].apart_for_minutes == pytest.approx(500, abs=1)
    assert state.with_drift(near, _north(near, 900)).drifts[0].place == near
    assert len(state.with_drift(other, _north(other, 900)).drifts) == 2


def _north(place: Fix, meters: float) -> Fix:
    return place._replace(latitude=place.latitude + meters * METER)


@pytest.mark.parametrize(
    ("script", "address"),
    [
        ("stand 3 address=Lane", "Lane"),
        ("stand 3 address=Lane, ride 2 @15 address=Road", "Lane"),
        ("ride 2 @15, stand 2 address=Road, jump 5, stand 4", "Road"),
        ("stand 3 address=Lane, jump 400, stand 1 address=Canal", "Canal"),
        ("stand 3, stand 1 is_fix=no address=Canal", "Canal"),
        ("stand 3, ride 2 @15 address=Road", None),
    ],
)
def test_address(script: str, address: str | None) -> None:
    """The address is that of the place where the bike stood last, even during a ride."""
    assert lived(script).state.address == address


def test_placeholder_before_the_first_fix() -> None:
    """Before the first fix, servers count the distance from the coordinates 0/0. This distance is not used."""
    first = "stand 1 latitude=47.9 total_distance=5432.1"
    nowhere = "says latitude=none total_distance=0, stand 1"
    assert lived(f"{nowhere}, {first}").totals[-1] == 0
    assert lived(f"says latitude=none, {first}").totals[-1] == 5_432.1
    assert lived("stand 1").totals == [0, 0]


def test_report_that_brings_nothing_new() -> None:
    """If a server repeats a report, but without its address, nothing changes."""
    house = lived("stand 3 address=Lane")
    state, last = house.state, house.state.position
    assert last
    house.poll(last._replace(address=None))
    assert house.state == state
