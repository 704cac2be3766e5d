"""Devices that are asked about: what they are called, and who knows them."""

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.device_registry import DeviceEntry

from ..coordinator import BikeTrackerCoordinator
from .refusals import failed


def shown_name(device: DeviceEntry) -> str:
    """Return the name the person sees."""
    return device.name_by_user or device.name or ""


def coordinator_of(hass: HomeAssistant, device: DeviceEntry) -> BikeTrackerCoordinator:
    """Return that of a device's account; raises that it is not set up."""
    entry = hass.config_entries.async_get_entry(device.config_entry_id)
    if entry is None or entry.state is not ConfigEntryState.LOADED:
        raise unavailable(device)
    coordinator: BikeTrackerCoordinator = entry.runtime_data.coordinator
    return coordinator


def unavailable(device: DeviceEntry) -> HomeAssistantError:
    """Return that nothing can be said of a device at the moment."""
    return failed("not_available", name=shown_name(device))
