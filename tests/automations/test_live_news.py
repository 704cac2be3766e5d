"""What messages tell between polls, in several automations at once."""

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from tests.conftest import BLUE, RED
from tests.settle import settle
from tests.test_live import BEGINS, Pass, wait

from .garage import Garage

__all__ = ["wait"]

pytestmark = pytest.mark.usefixtures("with_live")


@pytest.fixture(name="live")
async def live_fixture(garage: Garage, wait: Pass) -> Garage:
    """Return the garage, live."""
    await wait(BEGINS)
    await wait(1.1)
    assert len(garage.simulator.live.sockets) == 1
    return garage


async def test_message_of_another(
    hass: HomeAssistant, live: Garage, freezer: FrozenDateTimeFactory
) -> None:
    """It does not tell that a bike is silent."""
    live.simulator.report(RED)
    await live.async_listen("became_silent", **{"for": {"seconds": 30}})
    freezer.tick(35)
    live.simulator.report(BLUE, motion=True)
    await settle(hass)
    assert live.runs == []

    for _ in range(2):
        freezer.tick(61)
        async_fire_time_changed(hass)
        await settle(hass)
    assert len(live.runs) == 1
