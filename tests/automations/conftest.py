"""Fixtures of the tests of triggers and conditions."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.helpers import condition
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN
from tests.blueprints.conftest import clock
from tests.conftest import BLUE, RED
from tests.tools.simulator.server import Simulator

from .garage import Garage

__all__ = ["clock"]

type Ask = Callable[..., Awaitable[bool]]


@pytest.fixture
def hass_config_dir(hass_tmp_config_dir: str) -> str:
    """Return a configuration folder of the test's own."""
    return hass_tmp_config_dir


@pytest.fixture
async def garage(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    entry: MockConfigEntry,
) -> AsyncIterator[Garage]:
    """Return a garage with two bikes, online and standing."""
    for bike in (RED, BLUE):
        simulator.report(bike, motion=False, attributes={})
    await hass.config_entries.async_setup(entry.entry_id)
    garage = Garage(hass, freezer, entry, simulator)
    await garage.async_minutes(1)
    yield garage
    await garage.async_save()


@pytest.fixture
def ask(hass: HomeAssistant, garage: Garage) -> Ask:
    """Return a function that asks once, of the red bike unless told otherwise."""

    async def _ask(
        kind: str, target: dict[str, Any] | None = None, **options: Any
    ) -> bool:
        assert await async_setup_component(hass, "homeassistant", {})
        config = {
            "condition": f"{DOMAIN}.{kind}",
            "target": target or {"device_id": [garage.device(RED)]},
            "options": options,
        }
        config = await condition.async_validate_condition_config(hass, config)
        checker = await condition.async_from_config(hass, config)
        try:
            return bool(checker.async_check())
        finally:
            checker.async_unload()

    return _ask
