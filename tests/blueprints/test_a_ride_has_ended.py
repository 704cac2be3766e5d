"""Tests of the blueprint: a ride has ended."""

import pytest

from tests.conftest import BLUE, RED
from tests.tools.simulator.server import Simulator

from .house import House, async_ride


@pytest.fixture
async def watched(house: House) -> House:
    """Return the house with both bikes watched, with no more than is required."""
    await house.async_automate("a_ride_has_ended", RED, BLUE)
    await house.async_minutes(2)
    return house


async def test_tells_each_ride(simulator: Simulator, watched: House) -> None:
    """With the way and the time, once, each bike's."""
    await async_ride(simulator, watched, by=0.01)
    await async_ride(simulator, watched, by=0.02, tracker=BLUE)
    await watched.async_restart()
    await watched.async_minutes(10)

    red, blue = watched.notifications
    assert (red["title"], blue["title"]) == ("Red bike", "Blue bike")
    assert red["message"].startswith("Red bike ended a ride: 1.1 km in ")
    assert blue["message"].startswith("Blue bike ended a ride: 2.2 km in ")
    assert red["notification_id"] == f"bike_tracker_ride_{watched.device(RED)}"


async def test_went_nowhere(simulator: Simulator, watched: House) -> None:
    """A bike that was only touched did not ride."""
    await async_ride(simulator, watched, by=0)
    assert watched.fired == []
