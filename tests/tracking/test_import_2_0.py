"""Import of the state that version 2.0 stored for a tracker."""

from typing import Any

import pytest

from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.import_2_0 import state_from_2_0
from custom_components.bike_tracker.tracking.state import Tracker, TrackerState
from custom_components.bike_tracker.tracking.stored import reader

from .conftest import Listener, a_device, a_position
from .house import House, minutes, story

PLACE = {"time": "2026-11-21T11:50:00Z", "latitude": 47.9, "longitude": 7.8}
RIDE = {
    "started_at": "2026-11-21T11:00:00Z",
    "moved_at": "2026-11-21T11:20:00Z",
    "distance": 5.5,
}
ON_THE_SPOT = {
    "started_at": "2026-11-21T11:30:00Z",
    "moved_at": "2026-11-21T11:31:00Z",
}
GUARD = {"armed_at": PLACE["time"], "place": PLACE, "after": PLACE["time"]}
TRIGGERED = {
    "seq": 7,
    "type": "guard_triggered",
    "noticed_at": PLACE["time"],
    "since": PLACE["time"],
    "attributes": {"cause": "place", "latitude": 47.9, "longitude": 7.8},
}
STATE_OF_2_0: dict[str, Any] = {
    "online": {"value": True, "changed_at": PLACE["time"]},
    "changed_by": "Ada",
    "guard": GUARD,
    "ride_state": {
        "total": 105.5,
        "highest_total": 106.0,
        "anchor": PLACE,
        "last_fix": PLACE,
        "newest_fix": PLACE,
        "measured_at": PLACE["time"],
        "ended": ON_THE_SPOT,
        "before_ended": RIDE,
    },
    "rides": {"rides": [RIDE], "since": RIDE["started_at"]},
    "occurrences": [TRIGGERED | {"type": "came_online", "seq": 6}, TRIGGERED],
}


def imported(**more: Any) -> TrackerState:
    """Return the state that is imported from a file of 2.0, in which these values are different."""
    state: TrackerState = reader(TrackerState)(state_from_2_0(STATE_OF_2_0 | more))
    return state


def a_house(state: TrackerState) -> House:
    """Return a house with this state. It does not fire the occurrences again that 2.0 had fired."""
    return House(Account("Bikes", {"red": state}), listener=Listener(7))


@pytest.mark.parametrize(
    ("last", "distance"), [(ON_THE_SPOT, 5.5), (RIDE | {"distance": 7.5}, 7.5)]
)
def test_everything_stays(last: dict[str, Any], distance: float) -> None:
    """Guard, total distance, occurrences and the last ride with a distance are the same after the import."""
    state = imported(ride_state=STATE_OF_2_0["ride_state"] | {"ended": last})
    tracker = Tracker(a_device(), state)
    assert state.guard == state.log.core.guard
    assert state.guard and state.guard.place.latitude == 47.9
    assert (state.changed_by, tracker.total_distance) == ("Ada", 106)
    assert tracker.ride and tracker.ride.distance == distance
    assert (tracker.rides, tracker.ride_under_way, state.gap) == ((), None, None)
    assert tracker.rides_since == minutes(-10)
    seen = {"cause": "place", "seen_latitude": 47.9, "seen_longitude": 7.8}
    assert state.occurrences[-1].attributes == seen


def test_rides_go_on() -> None:
    """After the import, only the next ride is fired."""
    house = a_house(imported())
    house.poll(a_position(9, fix_time=minutes(-10)))
    assert house.state.position
    house.polls(it._replace(id=it.id + 99) for it in story("ride 5 @15, stand 6"))
    assert house.rides == "started 0, ended 5, 1.25 km"


def test_ride_during_the_update() -> None:
    """A ride that happened during the update to the new version is fired as soon as the history shows the ride."""
    house = a_house(imported())
    reports = [it._replace(id=it.id + 99) for it in story("ride 5 @15, stand 20")]
    house.poll(reports[-1], recovering=True)
    house.answer(reports, minutes(26))
    assert house.rides == "started 0, ended 5, 1.25 km"


def test_guard_goes_on() -> None:
    """An alarm triggers the guard that was imported."""
    house = a_house(imported())
    house.poll(a_position(99, fix_time=minutes(1), alarm="tow"))
    assert house.guard == "alarm 1 0 m, triggered"


def test_ride_under_way() -> None:
    """If a ride was under way at the update, version 2.0 has fired its start. Only its end is fired now."""
    ride = RIDE | {"moved_at": PLACE["time"], "end": PLACE, "start": PLACE}
    state = imported(
        ride_state=STATE_OF_2_0["ride_state"] | {"ride": ride, "ended": None},
        rides={"open_since": RIDE["started_at"]},
    )
    house = a_house(state)
    house.polls(it._replace(id=it.id + 99) for it in story("stand 6"))
    assert house.kinds == ["ended"]
    assert house.fired[0][1].moved_at == minutes(-10)


@pytest.mark.parametrize("stored", [{}, {"position": {"device_id": 1, "id": 2}}])
def test_little(stored: dict[str, Any]) -> None:
    """A tracker without a place is imported without a place."""
    state: TrackerState = reader(TrackerState)(state_from_2_0(stored))
    assert state.ride_state.newest_fix is None
    house = a_house(state)
    house.polls(story("stand 3"))
    assert house.kinds == []
    assert house.totals[-1] == 0
