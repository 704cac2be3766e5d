"""Which trackers a target names: by entity, device, area, floor or label; whose they are."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.device_registry import DeviceEntry
from homeassistant.helpers.target import (
    TargetSelection,
    async_extract_referenced_entity_ids,
)
from homeassistant.helpers.typing import ConfigType

from ..const import DOMAIN
from ..coordinator import BikeTrackerCoordinator
from ..devices import tracker_of


def trackers_in(hass: HomeAssistant, target: ConfigType) -> frozenset[str]:
    """Return the `uniqueId` of each tracker in a target.

    Any entity of a tracker stands for it, whether or not another one is switched off.
    What is excluded, since Home Assistant 2026.11, it takes out itself: an entity alone,
    or a device, an area, a floor or a label with all its entities. A tracker is there as
    long as its device or another of its entities is.
    """
    selection = TargetSelection(target)
    selected = async_extract_referenced_entity_ids(hass, selection, expand_group=False)
    entity_ids = selected.referenced | selected.indirectly_referenced
    entities = filter(None, map(er.async_get(hass).async_get, entity_ids))
    device_ids = selected.referenced_devices | {item.device_id for item in entities}
    devices = map(dr.async_get(hass).async_get, filter(None, device_ids))
    trackers = (tracker_of(item) for item in devices if isinstance(item, DeviceEntry))
    return frozenset(filter(None, trackers))


def is_in_target(hass: HomeAssistant, target: ConfigType, device: DeviceEntry) -> bool:
    """Return whether the tracker that a device is is in a target."""
    selection = TargetSelection(target)
    is_named = (
        device.id in selection.device_ids
        or device.area_id in selection.area_ids
        or not device.labels.isdisjoint(selection.label_ids)
    )
    # Of an area of 1,000 bikes all entities would be looked up, which takes 3 ms.
    if is_named and not getattr(selection, "exclude", None):
        return True
    return tracker_of(device) in trackers_in(hass, target)


def coordinators(hass: HomeAssistant) -> list[BikeTrackerCoordinator]:
    """Return those of all accounts that are loaded."""
    entries = hass.config_entries.async_loaded_entries(DOMAIN)
    return [entry.runtime_data.coordinator for entry in entries]
