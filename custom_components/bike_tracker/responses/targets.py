"""The trackers in a target: an entity, a device, an area, a floor or a label."""

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.device_registry import DeviceEntry
from homeassistant.helpers.target import (
    TargetSelection,
    async_extract_referenced_entity_ids,
)
from homeassistant.helpers.typing import ConfigType

from ..devices import tracker_of


def trackers_in(hass: HomeAssistant, target: ConfigType) -> frozenset[str]:
    """Return the `uniqueId` of each tracker in a target.

    Each entity in the target selects its tracker, even if the entity is disabled.
    Devices that the user disabled are left out. From 2026.11 on, a target may have
    exclusions: a tracker is left out if its device or its device tracker is excluded.
    """
    selection = TargetSelection(target)
    device_ids = _devices_in(hass, selection)
    # Home Assistant excludes only the named entities. But people choose bikes by their
    # device trackers, so each excluded device tracker excludes its bike.
    exclude = getattr(selection, "exclude", None) or TargetSelection({})
    device_ids -= _devices_in(hass, exclude, Platform.DEVICE_TRACKER)
    devices = map(dr.async_get(hass).async_get, device_ids)
    enabled = (it for it in devices if isinstance(it, DeviceEntry) and _is_enabled(it))
    return frozenset(filter(None, map(tracker_of, enabled)))


def _devices_in(
    hass: HomeAssistant, selection: TargetSelection, domain: str | None = None
) -> set[str]:
    """Return the IDs of the selected devices, and of the devices of selected entities in a domain, or in all domains."""
    selected = async_extract_referenced_entity_ids(hass, selection, expand_group=False)
    entity_ids = selected.referenced | selected.indirectly_referenced
    entities = filter(None, map(er.async_get(hass).async_get, entity_ids))
    return selected.referenced_devices | {
        item.device_id
        for item in entities
        if item.device_id and domain in (None, item.domain)
    }


def is_in_target(hass: HomeAssistant, target: ConfigType, device: DeviceEntry) -> bool:
    """Return whether a target includes a device. False if a user disabled the device."""
    selection = TargetSelection(target)
    is_named = (
        device.id in selection.device_ids
        or device.area_id in selection.area_ids
        or not device.labels.isdisjoint(selection.label_ids)
    )
    # Without exclusions, avoid the look-up of all entities in the target: for an area
    # of 1,000 bikes, this look-up lasts 3 ms.
    if is_named and not getattr(selection, "exclude", None):
        return _is_enabled(device)
    return tracker_of(device) in trackers_in(hass, target)


def _is_enabled(device: DeviceEntry) -> bool:
    # Treat devices of a disabled account as enabled, so that an action returns no bikes
    # instead of an error.
    return device.disabled_by is not dr.DeviceEntryDisabler.USER
