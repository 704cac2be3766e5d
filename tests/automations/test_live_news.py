"""What messages tell between polls, in several automations at once."""

import pytest

from tests.conftest import BLUE, RED, Bikes
from tests.settle import settle
from tests.test_live import BEGINS

from .garage import Garage

pytestmark = pytest.mark.usefixtures("with_live")


@pytest.fixture(name="live")
async def live_fixture(garage: Garage, bikes: Bikes) -> Garage:
    """Return the garage, live."""
    await bikes.async_wait(BEGINS)
    await bikes.async_wait(1.1)
    assert len(garage.simulator.live.sockets) == 1
    return garage


async def test_message_of_another(bikes: Bikes, live: Garage) -> None:
    """It does not tell that a bike is silent."""
    live.simulator.report(RED)
    await live.async_listen("became_silent", **{"for": {"seconds": 30}})
    bikes.freezer.tick(35)
    live.simulator.report(BLUE, motion=True)
    await settle(bikes.hass)
    assert live.runs == []

    for _ in range(2):
        await bikes.async_wait(61)
    assert len(live.runs) == 1
