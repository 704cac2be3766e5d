"""Fixtures of the polling tests."""

from collections.abc import AsyncIterator

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from ..conftest import BLUE, EMAIL, PASSWORD, RED, MakeEntry
from ..tools.simulator.server import Simulator
from .places import HOME


@pytest.fixture(autouse=True)
async def home(hass: HomeAssistant, all_enabled: None) -> None:
    """Place the home zone where the trackers start, and enable all entities."""
    await hass.config.async_update(**HOME)
    assert await async_setup_component(hass, "zone", {})


@pytest.fixture
async def traccar() -> AsyncIterator[Simulator]:
    """Return a Traccar server whose list of positions lacks all positions older than 90 days."""
    async with Simulator(kind="6.14.5") as traccar:
        traccar.add_account(EMAIL, PASSWORD)
        for tracker in (RED, BLUE):
            traccar.add_device(tracker, email=EMAIL)
        yield traccar


@pytest.fixture
def traccar_entry(traccar: Simulator, make_entry: MakeEntry) -> MockConfigEntry:
    """Return the entry of the account at the Traccar server, before its set-up."""
    return make_entry(url=traccar.url)
