"""Fixtures of the tests of triggers and conditions."""

from collections.abc import AsyncIterator

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from tests.blueprints.conftest import clock
from tests.blueprints.house import BIKES
from tests.tools.simulator.server import Simulator

from .garage import Garage

__all__ = ["clock"]


@pytest.fixture
async def garage(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    entry: MockConfigEntry,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Garage]:
    """Return a garage with two bikes, online and standing."""
    for tracker in BIKES.values():
        simulator.report(tracker, motion=False, attributes={})
    await hass.config_entries.async_setup(entry.entry_id)
    garage = Garage(hass, freezer, entry, simulator, monkeypatch=monkeypatch)
    await garage.async_minutes(1)
    yield garage
    await garage.async_save()
