"""Fixtures of what assistants are told."""

from datetime import UTC, datetime
import json
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import ToolInput
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from ..tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE
from .asking import RED_BIKE, WHERE, Ask, async_api, expose


@pytest.fixture(autouse=True)
async def house(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    """Live two kilometres south of where the bikes are, which is a zone."""
    freezer.move_to(datetime(2026, 11, 20, 12, tzinfo=UTC))
    await hass.config.async_set_time_zone("Europe/Berlin")
    hass.config.latitude = DEFAULT_LATITUDE - 0.018
    hass.config.longitude = DEFAULT_LONGITUDE
    work = {"latitude": DEFAULT_LATITUDE, "longitude": DEFAULT_LONGITUDE}
    zones = {"zone": [{"name": "Work", "radius": 100, **work}]}
    for component in ("homeassistant", "zone", "llm"):
        assert await async_setup_component(hass, component, zones)


@pytest.fixture
def ask(hass: HomeAssistant) -> Ask:
    """Return a function that asks with a tool, and returns what is said."""

    async def _ask(tool: str = WHERE, *, is_wrong: bool = False, **args: Any) -> Any:
        result = await (await async_api(hass)).async_call_tool(ToolInput(tool, args))
        assert result.error is is_wrong
        # As it goes to the assistant.
        data = json.loads(json.dumps(result.data))
        return data["error" if is_wrong else "bikes"]

    return _ask


@pytest.fixture
async def exposed(hass: HomeAssistant, setup: MockConfigEntry) -> MockConfigEntry:
    """Return the entry of an account whose red bike assistants may know."""
    expose(hass, RED_BIKE)
    return setup
