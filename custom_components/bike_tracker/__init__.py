"""Bike Tracker: set up, migrate, unload and remove the accounts of a GPS tracking service."""

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.const import EVENT_CORE_CONFIG_UPDATE, Platform
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.device_registry import DeviceEntry
from homeassistant.helpers.typing import ConfigType

from .config_flow import BikeTrackerConfigFlow, unique_id_of
from .const import DOMAIN
from .coordinator import BikeTrackerCoordinator
from .database import async_open_database, async_remove_database
from .devices import async_delete_issues, tracker_of
from .dispatch import Dispatcher
from .entity import BikeTrackerConfigEntry, EntityAdder
from .frontend import async_serve_frontend
from .night_guard.arming import NightGuards, async_note_outage
from .polling import Service
from .responses.texts import async_load_texts
from .responses.theft_report import ReportView
from .responses.track import GpxView
from .services import async_setup_services

PLATFORMS = [
    Platform.ALARM_CONTROL_PANEL,
    Platform.BINARY_SENSOR,
    Platform.CALENDAR,
    Platform.DEVICE_TRACKER,
    Platform.EVENT,
    Platform.SENSOR,
]

CONFIG_SCHEMA = cv.config_entry_only_config_schema(DOMAIN)


async def async_setup(hass: HomeAssistant, _config: ConfigType) -> bool:
    """Register the parts that all accounts share: actions, downloads (GPX, theft report) and dashboard cards."""
    async_setup_services(hass)
    # Home Assistant may run without its web server.
    if "http" in hass.config.components:
        hass.http.register_view(GpxView)
        hass.http.register_view(ReportView)
    await async_serve_frontend(hass)

    await async_load_texts(hass)

    # If the user changes the language, Home Assistant loads its texts into a cache from
    # which they cannot be read.
    async def load_texts(_event: object) -> None:
        await async_load_texts(hass)

    hass.bus.async_listen(EVENT_CORE_CONFIG_UPDATE, load_texts)
    return True


async def async_migrate_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Replace the unique ID of an entry from release 1.0: that ID contains no port and no path of the server.

    The major version of the entry stays the same, so that release 1.0 can still load
    the entry after a downgrade. While another entry has the new ID, keep the old ID and
    version: the next set-up tries again.
    """
    entries, unique_id = hass.config_entries, unique_id_of(entry.data)
    holder = entries.async_entry_for_domain_unique_id(DOMAIN, unique_id)
    if holder in (None, entry):
        version = BikeTrackerConfigFlow.MINOR_VERSION
        entries.async_update_entry(entry, unique_id=unique_id, minor_version=version)
    return True


async def async_setup_entry(hass: HomeAssistant, entry: BikeTrackerConfigEntry) -> bool:
    """Set up an account: open its database, poll, add its entities, start its night guards, then fire occurrences."""
    database = await async_open_database(hass, entry)
    content = database.content
    service = Service(
        hass,
        entry,
        supports_positions=any(it.position for it in content.states.values()),
        # The backfill of a tracker ends only if the history answered.
        supports_history=None in content.backfill.values(),
    )
    coordinator = BikeTrackerCoordinator(service, database)
    # Theft reports need the coordinator even if the service does not answer.
    entry.runtime_data = EntityAdder(coordinator)
    night_guards = NightGuards(coordinator)
    night_guards.async_end_nights()
    try:
        await coordinator.async_config_entry_first_refresh()
    except HomeAssistantError:
        async_note_outage(coordinator)
        # Close the database here, not by `async_on_unload`: on a slow disk, Home
        # Assistant would begin the next set-up before the file is closed.
        await database.async_close()
        raise
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    dispatcher = Dispatcher(coordinator, entry.runtime_data.async_add)
    dispatcher.async_start()
    await dispatcher.async_notify_all()
    night_guards.async_start()
    # Notify again after this function returns: the dispatcher fires occurrences only
    # after Home Assistant has marked the entry as loaded.
    loaded = hass.loop.call_soon(dispatcher.async_notify)
    entry.async_on_unload(loaded.cancel)
    return True


async def async_unload_entry(
    hass: HomeAssistant, entry: BikeTrackerConfigEntry
) -> bool:
    """Unload an account. If its platforms cannot be unloaded, return False and change nothing."""
    coordinator = entry.runtime_data.coordinator
    if unloaded := await hass.config_entries.async_unload_platforms(entry, PLATFORMS):
        # Stop push messages before the last write: a message applied after that write
        # would be lost.
        await coordinator.live.async_stop()
        # Close the database here, not by `async_on_unload`: Home Assistant waits only
        # ten seconds for a task of `async_on_unload`.
        await coordinator.database.async_close()
        # A reload keeps the issues, because deleting an issue would undo its *Ignore*.
        if entry.disabled_by:
            async_delete_issues(hass, entry)
    return unloaded


async def async_remove_entry(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Delete the database files and the repair issues of an account that was removed."""
    await async_remove_database(hass, entry)
    async_delete_issues(hass, entry)


async def async_remove_config_entry_device(
    hass: HomeAssistant, entry: BikeTrackerConfigEntry, device: DeviceEntry
) -> bool:
    """If the account is loaded and does not list the tracker of a device, forget the tracker and return True.

    Home Assistant then deletes the device. Otherwise, return False: the device stays.
    """
    if entry.state is not ConfigEntryState.LOADED:
        return False
    adder, unique_id = entry.runtime_data, tracker_of(device)
    if unique_id in adder.coordinator.devices.listed:
        return False
    if unique_id is not None:
        adder.async_forget(unique_id)
    return True
