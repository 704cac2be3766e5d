"""Bike Tracker: the GPS trackers of a cloud service in Home Assistant."""

import aiohttp
from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL, Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_create_clientsession
from homeassistant.helpers.device_registry import DeviceEntry

from .api import TrackingClient
from .coordinator import BikeTrackerCoordinator
from .data import BikeTrackerConfigEntry, BikeTrackerData
from .entity_adder import EntityAdder
from .fleet import tracker_of
from .identity import async_identify
from .memory import Memory

PLATFORMS = [Platform.BINARY_SENSOR, Platform.DEVICE_TRACKER, Platform.SENSOR]


async def async_migrate_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Give an entry of 1.0 the unique ID that tells port and path.

    The higher minor version lets 1.0 load it again.
    """
    async_identify(hass, entry)
    return True


async def async_setup_entry(hass: HomeAssistant, entry: BikeTrackerConfigEntry) -> bool:
    """Set up the trackers of one account."""
    # A session of its own: cookies of one account must not speak for another.
    session = async_create_clientsession(hass, cookie_jar=aiohttp.DummyCookieJar())
    client = TrackingClient(
        session, entry.data[CONF_URL], entry.data[CONF_EMAIL], entry.data[CONF_PASSWORD]
    )
    coordinator = BikeTrackerCoordinator(hass, entry, client)
    await coordinator.async_config_entry_first_refresh()
    entities = EntityAdder(hass, entry, coordinator)
    entry.runtime_data = BikeTrackerData(coordinator, entities)
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    await entities.async_start()
    return True


async def async_unload_entry(
    hass: HomeAssistant, entry: BikeTrackerConfigEntry
) -> bool:
    """Unload the trackers of one account."""
    entry.runtime_data.entities.async_stop()
    unloaded = await hass.config_entries.async_unload_platforms(entry, PLATFORMS)
    if unloaded:
        await entry.runtime_data.coordinator.async_unload()
    return unloaded


async def async_remove_entry(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Delete what was remembered of the account's trackers."""
    await Memory(hass, entry.entry_id).async_remove()


async def async_remove_config_entry_device(
    hass: HomeAssistant, entry: BikeTrackerConfigEntry, device: DeviceEntry
) -> bool:
    """Let a person delete a tracker that the account does not list any more."""
    if entry.state is not ConfigEntryState.LOADED:
        return False
    coordinator = entry.runtime_data.coordinator
    unique_id = tracker_of(device)
    if unique_id is None:
        return True
    if coordinator.fleet.lists(unique_id):
        return False
    coordinator.async_forget(unique_id)
    return True
