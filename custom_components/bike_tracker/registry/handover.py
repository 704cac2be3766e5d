"""A tracker that moves from one account to another, with its device and entities."""

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.entity_platform import async_get_platforms

from ..const import DOMAIN, LOGGER
from .registries import device_of


async def async_hand_over(
    hass: HomeAssistant, unique_id: str, giver: ConfigEntry, entry: ConfigEntry
) -> None:
    """Let a tracker's device and its entities be another entry's from now on."""
    if (device := device_of(hass, unique_id, giver.entry_id)) is None:
        return
    name = entry.title
    LOGGER.info("%s: Device %s moves here from another account", name, device.id)
    await _async_remove_entities(hass, device)
    _async_move(hass, device, entry)


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

    The entities first: Home Assistant removes those that stay behind. What that entry
    has left of the same device would stand in the way.
    """
    entities, devices = er.async_get(hass), dr.async_get(hass)
    for identifier in device.identifiers:
        if left := devices.async_get_device_by_identifier(identifier, entry.entry_id):
            devices.async_remove_device(left.id)
    for entity in er.async_entries_for_device(
        entities, device.id, include_disabled_entities=True
    ):
        if entity.platform == DOMAIN:
            entities.async_update_entity(
                entity.entity_id, config_entry_id=entry.entry_id
            )
    devices.async_update_device(device.id, new_config_entry_id=entry.entry_id)
