"""Tests of the blueprint: service due."""

from tests.conftest import BLUE, RED
from tests.tools.simulator.server import Simulator

from .house import House, async_ride


async def test_each_so_many_kilometers(simulator: Simulator, house: House) -> None:
    """It tells with the ride that reaches them, each bike for itself."""
    await house.async_automate("service_due", RED, BLUE, every=5, message="Oil it")
    await house.async_minutes(2)
    fired = []
    for by in (0.025, 0.0, 0.025, 0.0):
        await async_ride(simulator, house, by=by)
        fired.append(len(house.fired))
    await async_ride(simulator, house, by=0.025, tracker=BLUE)
    assert fired == [0, 1, 1, 2]
    assert house.notifications[0]["title"] == "Red bike"
    assert house.fired == ["Oil it"] * 2
