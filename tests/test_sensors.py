"""Sensors of rides, the address, and the steps of *Last update*."""

from datetime import timedelta

from homeassistant.const import STATE_UNKNOWN, Platform
from homeassistant.util import dt as dt_util
import pytest

from .conftest import BLUE, EMAIL, RED, Bikes, async_setup
from .riding import async_ride, go, riding, standing, told

pytestmark = pytest.mark.freeze_time("2026-11-20 12:00:00+00:00")
UPDATE = "sensor.red_bike_last_update"


def shown(bikes: Bikes, *names: str, tracker: str = RED) -> list[str | None]:
    """Return the values of some sensors of a tracker; None for a sensor that does not exist."""
    return [bikes.value_of(f"{tracker}_{it}", Platform.SENSOR) for it in names]


async def test_ride(bikes: Bikes, writes: list[str]) -> None:
    """The start and the end of a ride are fired as events. Sensors show the ride in kilometers and minutes."""
    names = "total_distance", "ride_distance", "ride_duration"
    rides = told(bikes.hass, "event.red_bike_ride")
    go(bikes.simulator, 0, **standing(100))
    bikes.simulator.report_no_fix(BLUE)
    await async_setup(bikes.hass, bikes.entry)
    assert shown(bikes, *names) == ["100.0", STATE_UNKNOWN, STATE_UNKNOWN]
    assert shown(bikes, *names, tracker=BLUE) == [None] * 3
    assert bikes.state_of(f"{BLUE}_ride", Platform.EVENT) is None
    assert bikes.state_of(f"{BLUE}_lock", Platform.BINARY_SENSOR) is None
    await async_ride(bikes)
    before, ride = (it.attributes for it in rides)
    assert (before["event_type"], ride["event_type"]) == ("started", "ended")
    assert "ended_at" not in before
    begin, end = map(dt_util.parse_datetime, (ride["started_at"], ride["ended_at"]))
    assert begin and end and end - begin == timedelta(seconds=5 * 61)
    assert ride["distance"] == pytest.approx(1, abs=0.05)
    assert (ride["duration"], ride["maximum_speed"]) == (5 * 61, 16.7)
    distance = round(ride["distance"], 1)
    assert shown(bikes, *names) == [f"{100 + distance}", f"{distance}", "5.0"]
    # While the bike stands, reports write no state of a ride or a distance.
    writes.clear()
    for number in range(3):
        go(bikes.simulator, number % 2 * 9, **standing(101 + number / 100))
        await bikes.poll()
    assert not [it for it in writes if "ride" in it or "distance" in it]


async def test_address(bikes: Bikes) -> None:
    """During a ride, the sensor shows the address at which the bike stood before the ride."""
    go(bikes.simulator, 0, **standing(100), address="Home")
    await async_setup(bikes.hass, bikes.entry)
    for kilometers in (100.3, 100.6):
        go(bikes.simulator, 300, **riding(kilometers), address="Way")
        await bikes.poll()
    assert shown(bikes, "address") == ["Home"]


@pytest.mark.parametrize("is_asleep", [False, True])
async def test_ride_while_nobody_asked(ready: Bikes, is_asleep: bool) -> None:
    """If requests for positions fail or the machine sleeps during a ride, the ride's reports come from the history."""
    await ready.poll()
    ready.simulator.fault("status-503", path="positions")
    for number in range(1, 21):
        go(ready.simulator, 300 if number <= 10 else -300, **riding(number * 0.3))
        if is_asleep:
            ready.freezer.tick(60)
        else:
            await ready.poll()
    ready.simulator.fault(None)
    go(ready.simulator, 0, **standing(6))
    await ready.poll(times=10)
    assert shown(ready, "ride_distance") == ["6.0"]


@pytest.mark.parametrize("way", ["outage", "unassigned", "silent"])
async def test_steps_of_last_update(ready: Bikes, writes: list[str], way: str) -> None:
    """*Last update* changes only in steps of five minutes, or at once after an interruption. While the tracker is silent, no state changes."""

    async def report() -> int:
        """Report, poll, and return how often *Last update* was written. A written state must be the exact report time."""
        reported_at = dt_util.utcnow() + timedelta(seconds=50)
        ready.simulator.touch([RED], last_update=reported_at)
        writes.clear()
        await ready.poll(60)
        is_exact = dt_util.parse_datetime(ready.state(UPDATE).state) == reported_at
        assert writes.count(UPDATE) == is_exact
        return writes.count(UPDATE)

    written = [minute for minute in range(20) if await report()]
    assert written == [5, 10, 15]
    ready.simulator.fault("status-503" if way == "outage" else None)
    if way == "unassigned":
        ready.simulator.unassign(EMAIL, RED)
    writes.clear()
    await ready.poll(60, times=10 if way == "silent" else 1)
    assert bool(writes) is (way != "silent")
    ready.simulator.fault(None)
    ready.simulator.assign(EMAIL, RED)
    assert await report() == 1
