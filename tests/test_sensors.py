"""Sensors: rides, values after an outage, and the steps of the last update."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, NamedTuple

from homeassistant.const import Platform
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from .conftest import EMAIL, RED, Bikes, Poll, async_setup
from .tools.simulator.server import Simulator

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
            state = bikes.state(f"{RED}_address", Platform.SENSOR)
            assert state.state == "Main Street 0"

    ride = bikes.state(f"{RED}_ride", Platform.EVENT)
    assert ride.attributes["event_type"] == "ended"
    shown = {
        name: bikes.value_of(f"{RED}_{name}", Platform.SENSOR)
        for name in ("ride_distance", "total_distance", "ride_duration", "address")
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
        name: bikes.value_of(f"{RED}_{name}", Platform.SENSOR)
        for name in ("address", "battery", "speed", "last_update")
    }
    reported_at = bikes.simulator.devices[RED].last_update
    assert shown == {
        "address": "Station Road 2",
        "battery": "40",
        "speed": "0.0",
        "last_update": reported_at.isoformat(timespec="seconds"),
    }
    place = bikes.state(RED)
    assert place.attributes["latitude"] == 49.4
    await bikes.poll(5)
    place = bikes.state(RED)
    assert place.attributes["latitude"] == 49.9


def _report(
    simulator: Simulator, latitude: float, address: str, *, battery: int
) -> None:
    more: dict[str, Any] = {"address": address, "battery_level": battery}
    simulator.report(RED, latitude=latitude, motion=False, accuracy=5, **more)


STATE = "sensor.red_bike_last_update"

type Ride = Callable[[int], Awaitable[list[Written]]]


class Written(NamedTuple):
    """What was written, and when the tracker reported last."""

    writes: int
    is_exact: bool


@pytest.fixture
def ride(bikes: Bikes, setup: MockConfigEntry, writes: list[str]) -> Ride:
    """Return a function that lets a tracker report before each of so many polls."""

    async def _ride(polls: int) -> list[Written]:
        written = []
        for _ in range(polls):
            reported_at = dt_util.utcnow() + timedelta(seconds=50)
            bikes.simulator.touch([RED], last_update=reported_at)
            writes.clear()
            await bikes.poll(60)
            shown = dt_util.parse_datetime(bikes.state(STATE).state)
            written.append(Written(writes.count(STATE), shown == reported_at))
        return written

    return _ride


async def test_reports_that_keep_coming(ride: Ride) -> None:
    """They are written in steps of five minutes, with the poll that brings them."""
    await ride(5)

    written = await ride(15)

    assert [each.writes for each in written] == [int(each.is_exact) for each in written]
    assert sum(each.writes for each in written) == 3


async def test_end_of_a_series(ride: Ride, poll: Poll, writes: list[str]) -> None:
    """A tracker that falls silent keeps its last step, and costs no row."""
    await ride(7)
    writes.clear()

    for _ in range(10):
        await poll(60)

    assert not writes


@pytest.mark.parametrize("way", ["outage", "unassigned"])
async def test_coming_back(bikes: Bikes, ride: Ride, way: str) -> None:
    """A tracker that comes back shows what is known now."""
    await ride(7)
    if way == "outage":
        bikes.simulator.fault("status-503")
    else:
        bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll(60)
    bikes.simulator.fault(None)
    bikes.simulator.assign(EMAIL, RED)

    assert await ride(1) == [Written(1, is_exact=True)]
