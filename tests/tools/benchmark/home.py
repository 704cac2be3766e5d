"""A real Home Assistant, without the parts that no candidate needs."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from homeassistant import bootstrap, loader
from homeassistant.components.recorder import get_instance
from homeassistant.config_entries import ConfigEntries
from homeassistant.core import HomeAssistant
from homeassistant.core_config import async_process_ha_core_config
from homeassistant.helpers.recorder import async_initialize_recorder
from homeassistant.setup import async_setup_component

from custom_components.bike_tracker import PLATFORMS
from tests.tools.demo.config_folder import store
from tests.tools.demo.home_assistant import HOST, free_port

_COMPONENTS = (
    *("recorder", "homeassistant", "persistent_notification", "network", "zone"),
    # Load these before the set-up, so that their loading is not part of its cost.
    *PLATFORMS,
)


@asynccontextmanager
async def home(folder: Path) -> AsyncGenerator[HomeAssistant]:
    """Run Home Assistant in this context, with its configuration and database in this folder."""
    (folder / ".storage").mkdir()
    store(folder, "http", 1, {"server_host": [HOST], "server_port": free_port()})
    hass = HomeAssistant(str(folder))
    loader.async_setup(hass)
    hass.config.skip_pip = True
    hass.config_entries = ConfigEntries(hass, {})
    await bootstrap.async_load_base_functionality(hass)
    await async_process_ha_core_config(hass, {"latitude": 52.37, "longitude": 4.89})
    async_initialize_recorder(hass)
    for domain in _COMPONENTS:
        assert await async_setup_component(hass, domain, {}), domain
    await hass.async_start()
    try:
        await settle(hass)
        yield hass
    finally:
        await hass.async_stop(force=True)


async def settle(hass: HomeAssistant) -> None:
    """Wait until all work except live connections has ended, and the recorder has no work left."""
    await hass.async_block_till_done()
    await get_instance(hass).async_block_till_done()
