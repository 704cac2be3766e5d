"""System health says whether the server can be reached."""

from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    get_system_health_info,
)

from custom_components.bike_tracker.const import DOMAIN

from .conftest import MakeEntry
from .tools.simulator.server import Simulator


async def async_health(hass: HomeAssistant) -> dict[str, Any]:
    """Return what the page shows, once all is known."""
    assert await async_setup_component(hass, "system_health", {})
    await hass.async_block_till_done()
    info: dict[str, Any] = await get_system_health_info(hass, DOMAIN)
    return {**info, "can_reach_server": await info["can_reach_server"]}


@pytest.mark.usefixtures("setup")
async def test_server_is_there(hass: HomeAssistant, simulator: Simulator) -> None:
    """A server that answers is reached; no credentials are needed for that."""
    simulator.record.clear()

    assert await async_health(hass) == {"accounts": 1, "can_reach_server": "ok"}

    assert simulator.requests
    assert not any(request.header("Authorization") for request in simulator.requests)


async def test_one_of_two_servers_is_down(
    hass: HomeAssistant, setup: MockConfigEntry, make_entry: MakeEntry
) -> None:
    """Where one of several servers is down, that is said."""
    make_entry("bob@example.com", url="http://127.0.0.1:9/api")

    assert await async_health(hass) == {
        "accounts": 2,
        "can_reach_server": {"type": "failed", "error": "unreachable"},
    }
