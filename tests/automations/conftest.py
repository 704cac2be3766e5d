"""Fixtures of the tests of triggers and conditions."""

from collections.abc import AsyncIterator

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from tests.blueprints.conftest import clock
from tests.conftest import BLUE, EMAIL, PASSWORD, RED
from tests.tools.simulator.server import Simulator

from .garage import Garage

__all__ = ["clock"]


@pytest.fixture
def hass_config_dir(hass_tmp_config_dir: str) -> str:
    """Return a configuration folder of the test's own."""
    return hass_tmp_config_dir


@pytest.fixture
async def simulator(request: pytest.FixtureRequest) -> AsyncIterator[Simulator]:
    """Return the service, or another kind of server that a test asks for."""
    async with Simulator(kind=getattr(request, "param", "service")) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        for tracker, name in ((RED, "Red bike"), (BLUE, "Blue bike")):
            simulator.add_device(tracker, name=name, email=EMAIL)
            simulator.report(tracker, motion=False, attributes={})
        yield simulator


@pytest.fixture
async def garage(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    entry: MockConfigEntry,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Garage]:
    """Return a garage with two bikes, online and standing."""
    await hass.config_entries.async_setup(entry.entry_id)
    garage = Garage(hass, freezer, entry, simulator, monkeypatch)
    await garage.async_minutes(1)
    yield garage
    await garage.async_save()
