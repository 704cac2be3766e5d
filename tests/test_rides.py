"""Rides and kilometres in Home Assistant."""

from datetime import timedelta

from homeassistant.const import STATE_UNKNOWN, Platform
from homeassistant.core import HomeAssistant, State
from homeassistant.util import dt as dt_util
import pytest

from .conftest import BLUE, RED, Bikes, async_setup
from .riding import async_ride, go, riding, standing, told

KEYS = ("total_distance", "ride_distance", "ride_duration")
RIDE = "event.red_bike_ride"


@pytest.fixture
def rides(hass: HomeAssistant) -> list[State]:
    """Return a list that grows with what is told of rides to automations."""
    return told(hass, RIDE)


def kinds(rides: list[State]) -> list[str]:
    """Return the types of events."""
    return [it.attributes["event_type"] for it in rides]


async def test_ride(bikes: Bikes, rides: list[State]) -> None:
    """It is fired when it starts and when it is over, and what there was of it."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    await async_ride(bikes.simulator, bikes.poll)

    assert kinds(rides) == ["started", "ended"]
    before, ride = (it.attributes for it in rides)
    assert "ended_at" not in before
    begin, end = (
        dt_util.parse_datetime(ride[name], raise_on_error=True)
        for name in ("started_at", "ended_at")
    )
    assert end - begin == timedelta(seconds=5 * 61)
    assert ride["distance"] == pytest.approx(1, abs=0.05)
    assert (ride["duration"], ride["maximum_speed"]) == (5 * 61, 16.7)
    values = {key: bikes.state_of(f"{RED}_{key}", Platform.SENSOR) for key in KEYS}
    total, distance, duration = (
        float(state.state) for state in values.values() if state
    )
    assert total == round(100 + ride["distance"], 1)
    assert distance == round(ride["distance"], 1)
    assert duration == round(ride["duration"] / 60)


async def test_what_there_is(bikes: Bikes) -> None:
    """Trackers with a position have them before any ride, others do not."""
    bikes.simulator.report_no_fix(BLUE)
    await async_setup(bikes.hass, bikes.entry)

    for key in KEYS:
        assert bikes.value_of(f"{RED}_{key}", Platform.SENSOR) == (
            "0" if key == "total_distance" else STATE_UNKNOWN
        )
        assert bikes.state_of(f"{BLUE}_{key}", Platform.SENSOR) is None
    state = bikes.state(f"{RED}_total_distance", Platform.SENSOR)
    expected = {
        "state_class": "total_increasing",
        "device_class": "distance",
        "unit_of_measurement": "km",
    }
    assert expected.items() <= state.attributes.items()
    event = bikes.state(RIDE)
    assert event.state == STATE_UNKNOWN
    assert event.attributes["event_types"] == ["started", "ended"]
    assert bikes.state_of(f"{BLUE}_ride", Platform.EVENT) is None


@pytest.mark.usefixtures("setup")
async def test_parked_bike_writes_nothing(bikes: Bikes, writes: list[str]) -> None:
    """A report of a bike that stands changes nothing of its rides."""
    go(bikes.simulator, 0, **standing(100))
    await bikes.poll()
    writes.clear()
    for number in range(3):
        go(bikes.simulator, number % 2 * 9, **standing(100 + number / 100))
        await bikes.poll()
    assert not [it for it in writes if "ride" in it or "distance" in it]


@pytest.mark.parametrize("is_asleep", [False, True])
@pytest.mark.usefixtures("setup")
async def test_ride_while_nobody_asked(bikes: Bikes, *, is_asleep: bool) -> None:
    """There and back while positions failed, or the machine slept: the history has it."""
    await bikes.poll()
    bikes.simulator.fault("status-503", path="positions")
    for number in range(1, 21):
        go(bikes.simulator, 300 if number <= 10 else -300, **riding(number * 0.3))
        if is_asleep:
            bikes.freezer.tick(60)
        else:
            await bikes.poll()
    bikes.simulator.fault(None)
    go(bikes.simulator, 0, **standing(6))
    for _ in range(10):
        await bikes.poll()
    assert bikes.value_of(f"{RED}_ride_distance", Platform.SENSOR) == "6.0"
