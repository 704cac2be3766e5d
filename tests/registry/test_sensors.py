"""What sensors show: under way, and once a bike that moved meanwhile is there again."""

from datetime import timedelta

from homeassistant.const import Platform
from homeassistant.util import dt as dt_util
import pytest

from ..conftest import EMAIL, RED, Bikes, async_setup
from ..tools.simulator.server import Simulator

pytestmark = pytest.mark.freeze_time("2026-11-20 12:00:00+00:00")
# Minutes of riding, and until a ride is over.
RIDDEN = 20
STANDS = 7


async def test_ride(bikes: Bikes, writes: list[str]) -> None:
    """Distances are tenths of kilometres, durations minutes; the address stays behind."""
    bikes.simulator.report(RED, latitude=49.41, accuracy=5, address="Main Street 0")
    await async_setup(bikes.hass, bikes.entry)
    for minute in range(RIDDEN + STANDS):
        bikes.simulator.report(
            RED,
            latitude=49.41 + 0.002 * min(minute, RIDDEN),
            motion=0 < minute < RIDDEN,
            accuracy=5,
            address=f"Main Street {min(minute, RIDDEN)}",
            last_update=dt_util.utcnow() + timedelta(seconds=50),
        )
        await bikes.poll(60)
        if minute == RIDDEN - 1:
            state = bikes.state_of(f"{RED}_address", Platform.SENSOR)
            assert state
            assert state.state == "Main Street 0"

    ride = bikes.state_of(f"{RED}_ride", Platform.EVENT)
    assert ride
    assert ride.attributes["event_type"] == "ended"
    shown = {
        name: state.state
        for name in ("ride_distance", "total_distance", "ride_duration", "address")
        if (state := bikes.state_of(f"{RED}_{name}", Platform.SENSOR))
    }
    distance = str(round(ride.attributes["distance"], 1))
    assert shown == {
        "ride_distance": distance,
        "total_distance": distance,
        "ride_duration": str(float(round(ride.attributes["duration"] / 60))),
        "address": f"Main Street {RIDDEN}",
    }
    writes.clear()
    for _ in range(4):
        await bikes.poll(60)
    assert not [entity_id for entity_id in writes if "distance" in entity_id]


@pytest.mark.parametrize("way", ["outage", "unassigned", "reload", "reload in outage"])
async def test_moved_meanwhile(bikes: Bikes, way: str) -> None:
    """Every sensor has its right value at once; the place is true seconds later."""
    _report(bikes.simulator, 49.4, "Main Street 1", battery=80)
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll(60)
    if "outage" in way:
        bikes.simulator.fault("status-503")
        await bikes.poll(60)
    if way == "unassigned":
        bikes.simulator.unassign(EMAIL, RED)
        await bikes.poll(60)
    if "reload" in way:
        await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    _report(bikes.simulator, 49.9, "Station Road 2", battery=40)
    bikes.simulator.fault(None)
    if way == "unassigned":
        bikes.simulator.assign(EMAIL, RED)
    if "reload" in way:
        await async_setup(bikes.hass, bikes.entry)
    else:
        await bikes.poll(300)

    shown = {
        name: state.state
        for name in ("address", "battery", "speed", "last_update")
        if (state := bikes.state_of(f"{RED}_{name}", Platform.SENSOR))
    }
    reported_at = bikes.simulator.devices[RED].last_update
    assert shown == {
        "address": "Station Road 2",
        "battery": "40",
        "speed": "0.0",
        "last_update": reported_at.isoformat(timespec="seconds"),
    }
    place = bikes.state_of(RED)
    assert place
    assert place.attributes["latitude"] == 49.4
    await bikes.poll(5)
    place = bikes.state_of(RED)
    assert place
    assert place.attributes["latitude"] == 49.9


def _report(
    simulator: Simulator, latitude: float, address: str, *, battery: int
) -> None:
    simulator.report(
        RED,
        latitude=latitude,
        motion=False,
        accuracy=5,
        address=address,
        battery_level=battery,
    )
