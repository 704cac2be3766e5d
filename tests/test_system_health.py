"""System health: servers and databases."""

from datetime import timedelta
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    get_system_health_info,
)

from custom_components.bike_tracker.const import DOMAIN

from .books import row, store
from .conftest import Bikes, MakeEntry, async_setup


async def async_health(hass: HomeAssistant) -> dict[str, Any]:
    """Return what the page shows, once all is known."""
    assert await async_setup_component(hass, "system_health", {})
    await hass.async_block_till_done()
    info: dict[str, Any] = await get_system_health_info(hass, DOMAIN)
    return {**info, "can_reach_server": await info["can_reach_server"]}


@pytest.mark.freeze_time("2026-11-20 12:00:00+00:00")
async def test_all_is_well(bikes: Bikes) -> None:
    """The server answers without credentials, and the database was written."""
    rows = [row(timedelta(hours=number)) for number in range(1, 100)]
    store(bikes.hass, bikes.entry, rows)
    await async_setup(bikes.hass, bikes.entry)
    await bikes.coordinator.database.async_write()
    bikes.simulator.record.clear()

    info = await async_health(bikes.hass)

    assert float(info.pop("database_size").removesuffix(" MiB")) > 0
    assert info == {
        "accounts": 1,
        "can_reach_server": "ok",
        "database_version": 1,
        "database_written_at": dt_util.utcnow(),
    }
    requests = bikes.simulator.requests
    assert requests
    assert not any(request.header("Authorization") for request in requests)


async def test_one_of_two_servers_is_down(
    hass: HomeAssistant, setup: MockConfigEntry, make_entry: MakeEntry
) -> None:
    """The first server that cannot be reached is named by its error."""
    make_entry("bob@example.com", url="http://127.0.0.1:9/api")

    info = await async_health(hass)

    assert info["accounts"] == 2
    assert info["can_reach_server"] == {"type": "failed", "error": "unreachable"}


async def test_account_that_is_not_loaded(
    hass: HomeAssistant, setup: MockConfigEntry
) -> None:
    """Without an open database only the server is shown."""
    await hass.config_entries.async_unload(setup.entry_id)
    assert (await async_health(hass)).keys() == {"accounts", "can_reach_server"}


@pytest.mark.usefixtures("setup")
async def test_never_written(bikes: Bikes) -> None:
    """The time of the last write is left out until the first write."""
    bikes.coordinator.database.written_at = None
    assert "database_written_at" not in await async_health(bikes.hass)
