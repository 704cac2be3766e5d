"""A tracker that moves from one account to another, with its device and entities."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.entity_platform import async_get_platforms

from .api import Device
from .const import DOMAIN, LOGGER

if TYPE_CHECKING:
    from .coordinator import BikeTrackerCoordinator


async def async_take_over(
    taker: BikeTrackerCoordinator, listed: Mapping[str, Device]
) -> None:
    """Take over listed trackers that another account has and lists no more."""
    hass = taker.hass
    for entry in hass.config_entries.async_loaded_entries(DOMAIN):
        giver: BikeTrackerCoordinator = entry.runtime_data.coordinator
        for unique_id in taker.fleet.elsewhere & listed.keys():
            if not giver.fleet.has_lost(unique_id):
                continue
            if device := giver.fleet.device_of(unique_id):
                await _async_remove_entities(hass, device)
                _async_move(hass, device, taker.config_entry)
                LOGGER.info("Taking over device %s from another account", device.id)
            taker.account.adopt(unique_id, giver.account)
            giver.async_forget(unique_id)


async def _async_remove_entities(hass: HomeAssistant, device: dr.DeviceEntry) -> None:
    """Let the states of a device's entities go, and keep what is registered."""
    for platform in async_get_platforms(hass, DOMAIN):
        for entity in list(platform.entities.values()):
            if entity.device_entry and entity.device_entry.id == device.id:
                await entity.async_remove()


@callback
def _async_move(
    hass: HomeAssistant, device: dr.DeviceEntry, entry: ConfigEntry
) -> None:
    """Move a device and its entities to another entry in the registries.

    The entities first: Home Assistant removes those that stay behind.
    """
    entities = er.async_get(hass)
    for entity in er.async_entries_for_device(
        entities, device.id, include_disabled_entities=True
    ):
        if entity.platform == DOMAIN:
            entities.async_update_entity(
                entity.entity_id, config_entry_id=entry.entry_id
            )
    dr.async_get(hass).async_update_device(
        device.id, new_config_entry_id=entry.entry_id
    )
