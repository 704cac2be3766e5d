"""Import of the state that version 2.0 stored for a tracker."""

from typing import Any

import pytest

from custom_components.bike_tracker.database.import_2_0 import state_from_2_0
from custom_components.bike_tracker.database.stored import reader
from custom_components.bike_tracker.tracking import Account
from custom_components.bike_tracker.tracking.state import TrackerState

from .conftest import a_position
from .house import House, minutes


def at(minute: int) -> str:
    """Return a time as a text: a minute of the hour before `NOW`."""
    return f"2026-11-21T11:{minute}:00Z"


PLACE = {"time": at(50), "latitude": 47.9, "longitude": 7.8}
RIDE = {"started_at": at(10), "moved_at": at(20), "distance": 5.5}
ON_THE_SPOT = {"started_at": at(30), "moved_at": at(31)}
RIDE_STATE = dict.fromkeys(("anchor", "last_fix", "newest_fix"), PLACE) | {
    "total": 105.5,
    "highest_total": 106.0,
    "measured_at": at(50),
    "ended": ON_THE_SPOT,
    "before_ended": RIDE,
}
AT = {"noticed_at": at(50), "since": at(50)}
SEEN = {"cause": "place", "latitude": 47.9, "longitude": 7.8}
STATE_OF_2_0: dict[str, Any] = {
    "online": {"value": True, "changed_at": at(50)},
    "changed_by": "Ada",
    "guard": {"armed_at": at(50), "place": PLACE, "after": at(50)},
    "ride_state": RIDE_STATE,
    "rides": {"rides": [RIDE], "since": RIDE["started_at"]},
    "occurrences": [
        {"seq": 6, "type": "came_online", **AT},
        {"seq": 7, "type": "guard_triggered", "attributes": SEEN, **AT},
    ],
}


def imported(**more: Any) -> House:
    """Return a house that imported `STATE_OF_2_0`, in which `more` replaces values. The house does not fire the occurrences of this state again."""
    state = reader(TrackerState)(state_from_2_0(STATE_OF_2_0 | more))
    return House(account=Account("Bikes", {"red": state}), last_fired=7)


@pytest.mark.parametrize(
    ("last", "distance"), [(ON_THE_SPOT, 5.5), (RIDE | {"distance": 7.5}, 7.5)]
)
def test_everything_stays(last: dict[str, Any], distance: float) -> None:
    """Guard, user, total distance, occurrences and the last ride with a distance are the same after the import."""
    state = imported(ride_state=RIDE_STATE | {"ended": last}).state
    assert state.guard == state.log.core.guard
    assert state.guard and state.guard.place.latitude == 47.9
    assert (state.changed_by, state.total_distance) == ("Ada", 106)
    assert state.ride and state.ride.distance == distance
    assert (state.ride_state.rides, state.ride_under_way, state.gap) == ((), None, None)
    assert state.log.rides_since == minutes(-10)
    seen = {"cause": "place", "seen_latitude": 47.9, "seen_longitude": 7.8}
    assert state.occurrences[-1].attributes == seen


DURING = "receive outage, ride 5 @15, stand 20, receive poll, stand 1, history"


@pytest.mark.parametrize("script", ["ride 5 @15, stand 6", DURING])
def test_rides_go_on(script: str) -> None:
    """After the import, only the next ride is fired, even if it happened while no report was received."""
    assert imported().live(script).rides == "started 0, ended 5, 1.25 km"


def test_guard_goes_on() -> None:
    """An alarm triggers the guard that was imported."""
    house = imported()
    house.poll(a_position(99, fix_time=minutes(1), alarm="tow"))
    assert house.guard == "alarm 1 0 m, triggered"


def test_ride_under_way() -> None:
    """If a ride was under way, version 2.0 has fired its start. After the import, only its end is fired."""
    ride = RIDE | {"moved_at": at(50), "end": PLACE, "start": PLACE}
    house = imported(
        ride_state=RIDE_STATE | {"ride": ride, "ended": None},
        rides={"open_since": RIDE["started_at"]},
    )
    assert house.live("stand 6").kinds == ["ended"]
    assert house.fired[0].since == minutes(-10)


@pytest.mark.parametrize("stored", [{}, {"position": {"device_id": 1, "id": 2}}])
def test_little(stored: dict[str, Any]) -> None:
    """A tracker without a place is imported without a place, and its first reports fire no ride."""
    old = stored | {"rides": {"open_since": at(10)}}
    state = reader(TrackerState)(state_from_2_0(old))
    assert state.ride_state.newest_fix is None
    house = House(account=Account("Bikes", {"red": state})).live("stand 3")
    assert house.kinds == []
    assert house.totals[-1] == 0
