"""Tests of the blueprint: battery low."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
import pytest

from tests.conftest import BLUE, EMAIL, RED
from tests.tools.simulator.server import Simulator

from .house import House

LOW = ["Battery of Red bike is low"]


@pytest.fixture
async def watched(house: House) -> House:
    """Return the house with the red bike watched, with no more than is required."""
    await house.async_automate("battery_low", RED)
    await house.async_minutes(5)
    return house


async def report(simulator: Simulator, house: House, *levels: float) -> None:
    """Have the red bike report these levels of its battery, one a minute."""
    for level in levels:
        simulator.report(RED, battery_level=level)
        await house.async_minutes(1)


async def test_tells_once(simulator: Simulator, watched: House) -> None:
    """It tells once that a battery is low, and again only after it rose."""
    await report(simulator, watched, 21, 20)
    assert watched.told == []
    await report(simulator, watched, 19, 18, 5, 19)
    assert watched.notifications == [
        {
            "title": "Battery of Red bike is low",
            "message": "The battery of Red bike is at 19 %.",
            "notification_id": f"bike_tracker_battery_{watched.device(RED)}",
        }
    ]
    await report(simulator, watched, 90, 21, 12, 11)
    assert watched.told == 2 * LOW
    assert watched.notifications[1]["message"] == "The battery of Red bike is at 12 %."


async def test_threshold(simulator: Simulator, house: House) -> None:
    """It goes by the level that was chosen."""
    await house.async_automate("battery_low", RED, threshold=50)
    await house.async_minutes(5)
    await report(simulator, house, 60, 51, 50)
    assert house.told == []
    await report(simulator, house, 49)
    assert house.told == LOW


async def test_several_trackers(simulator: Simulator, house: House) -> None:
    """It tells of each tracker once."""
    await house.async_automate("battery_low", RED, BLUE)
    await house.async_minutes(5)
    for level in (19, 18):
        for tracker in (RED, BLUE):
            simulator.report(tracker, battery_level=level)
        await house.async_minutes(1)
    assert sorted(house.told) == [
        "Battery of Blue bike is low",
        "Battery of Red bike is low",
    ]


async def test_only_chosen_trackers(simulator: Simulator, watched: House) -> None:
    """It says nothing of a tracker that was not chosen."""
    simulator.report(BLUE, battery_level=5)
    await watched.async_minutes(10)
    assert watched.told == []


async def test_missing_tracker(simulator: Simulator, house: House) -> None:
    """It tells of a tracker while another one is missing."""
    await house.async_automate("battery_low", RED, BLUE)
    simulator.unassign(EMAIL, BLUE)
    await house.async_minutes(5)
    await report(simulator, house, 15)
    assert house.told == LOW


async def test_outage_and_restart(simulator: Simulator, watched: House) -> None:
    """It says nothing of a good battery because of an outage or a restart."""
    simulator.fault("status-500")
    await watched.async_minutes(10)
    simulator.fault(None)
    await watched.async_minutes(20)
    await watched.async_restart()
    await watched.async_minutes(10)
    assert watched.told == []


async def test_outage_and_restart_after_it_told(
    simulator: Simulator, watched: House
) -> None:
    """It does not tell again because of an outage, a restart or a change."""
    await report(simulator, watched, 15)
    simulator.fault("status-500")
    await watched.async_minutes(10)
    simulator.fault(None)
    await watched.async_minutes(20)
    await watched.async_restart()
    await watched.async_minutes(10)
    await watched.async_automate("battery_low", RED, threshold=25)
    await report(simulator, watched, 14, 13)
    assert watched.told == LOW


async def test_fell_during_outage(simulator: Simulator, house: House) -> None:
    """It tells of the batteries that fell while the server could not be reached."""
    await house.async_automate("battery_low", RED, BLUE)
    simulator.fault("status-500")
    await house.async_minutes(10)
    for tracker in (RED, BLUE):
        simulator.report(tracker, battery_level=15)
    simulator.fault(None)
    await house.async_minutes(20)
    assert sorted(house.told) == [
        "Battery of Blue bike is low",
        "Battery of Red bike is low",
    ]


async def test_fell_while_down(simulator: Simulator, watched: House) -> None:
    """It tells of a battery that fell while Home Assistant was down."""
    simulator.report(RED, battery_level=15)
    await watched.async_restart(down=7200)
    await watched.async_minutes(10)
    assert watched.told == LOW


async def test_made_while_low(simulator: Simulator, house: House) -> None:
    """It tells at once of a battery that was low before there was an automation."""
    await report(simulator, house, 15)
    await house.async_automate("battery_low", RED, BLUE)
    await report(simulator, house, 14)
    assert house.told == LOW


async def test_without_battery(simulator: Simulator, house: House) -> None:
    """It says nothing of a tracker that does not report its battery."""
    simulator.add_device("1", name="Old bike", email=EMAIL)
    simulator.report("1", attributes={})
    await house.async_minutes(2)
    await house.async_automate("battery_low", "1")
    await house.async_minutes(10)
    assert house.told == []


async def test_removed_tracker(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """It still watches the others when a tracker was removed."""
    await house.async_automate("battery_low", RED, BLUE)
    simulator.delete_device(RED)
    dr.async_get(hass).async_remove_device(house.device(RED))
    await house.async_minutes(5)
    simulator.report(BLUE, battery_level=15)
    await house.async_minutes(1)
    assert house.told == ["Battery of Blue bike is low"]
