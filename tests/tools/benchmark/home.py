"""A real Home Assistant, as it starts on its own, without the parts that no candidate needs."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from homeassistant import bootstrap, loader
from homeassistant.components.recorder import DOMAIN as RECORDER_DOMAIN, get_instance
from homeassistant.components.recorder.tasks import SynchronizeTask
from homeassistant.config_entries import (
    SOURCE_USER,
    ConfigEntries,
    ConfigEntry,
    ConfigEntryState,
)
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, HomeAssistant
from homeassistant.core_config import async_process_ha_core_config
from homeassistant.helpers.recorder import async_initialize_recorder
from homeassistant.setup import async_setup_component

from tests.tools.demo.config_folder import store
from tests.tools.demo.home_assistant import HOST, free_port

_COMPONENTS = (
    HOMEASSISTANT_DOMAIN,
    "persistent_notification",
    "network",
    "zone",
    # These load with the first entity, which is nothing that set-up should pay for.
    "alarm_control_panel",
    "binary_sensor",
    "calendar",
    "device_tracker",
    "event",
    "sensor",
)


class NotSetUpError(Exception):
    """A candidate could not be set up."""


@asynccontextmanager
async def home(folder: Path, *, recorder: bool) -> AsyncGenerator[HomeAssistant]:
    """Start Home Assistant with its configuration and, if there is a recorder, database in this folder."""
    (folder / ".storage").mkdir(exist_ok=True)
    store(folder, "http", 1, {"server_host": [HOST], "server_port": free_port()})
    hass = HomeAssistant(str(folder))
    loader.async_setup(hass)
    hass.config.skip_pip = True
    hass.config_entries = ConfigEntries(hass, {})
    await bootstrap.async_load_base_functionality(hass)
    await async_process_ha_core_config(hass, {"latitude": 52.37, "longitude": 4.89})
    async_initialize_recorder(hass)
    for domain in (*((RECORDER_DOMAIN,) if recorder else ()), *_COMPONENTS):
        if not await async_setup_component(hass, domain, {}):
            raise NotSetUpError(domain)
    await hass.async_start()
    try:
        await settle(hass)
        yield hass
    finally:
        await hass.async_stop(force=True)


async def set_up(
    hass: HomeAssistant, domain: str, data: Mapping[str, Any], *, live: bool = False
) -> ConfigEntry[Any]:
    """Add an account as its config flow would, and wait until all its entities are there.

    Unless it is live it is polled on request, and has no live connection.
    """
    entry = account(domain, data, pref_disable_polling=not live)
    await hass.config_entries.async_add(entry)
    if entry.state is not ConfigEntryState.LOADED:
        raise NotSetUpError(f"{domain}: {entry.reason or entry.state}")
    await hass.async_block_till_done(wait_background_tasks=not live)
    return entry


def account(domain: str, data: Mapping[str, Any], **options: Any) -> ConfigEntry[Any]:
    """Return the entry of an account."""
    return ConfigEntry(
        data=dict(data),
        discovery_keys=MappingProxyType({}),
        domain=domain,
        minor_version=1,
        options={},
        source=SOURCE_USER,
        subentries_data=(),
        title="Bikes",
        unique_id=domain,
        version=1,
        **options,
    )


async def set_up_again(
    hass: HomeAssistant, entry: ConfigEntry[Any], *, live: bool = False
) -> None:
    """Set up an account that was unloaded, whose devices and entities are registered."""
    if not await hass.config_entries.async_setup(entry.entry_id):
        raise NotSetUpError(f"{entry.domain}: {entry.reason or entry.state}")
    await hass.async_block_till_done(wait_background_tasks=not live)


async def settle(hass: HomeAssistant, *, live: bool = False) -> None:
    """Wait until nothing is left to do, but for live connections, and everything is in the database."""
    await hass.async_block_till_done(wait_background_tasks=not live)
    if RECORDER_DOMAIN not in hass.config.components:
        return
    # Not Recorder.async_block_till_done: it may miss the one state that is just being taken in hand.
    committed = hass.loop.create_future()
    get_instance(hass).queue_task(SynchronizeTask(committed))
    await committed
