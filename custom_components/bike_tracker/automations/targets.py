"""Which trackers a target names: by entity, device, area, floor or label."""

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.target import (
    TargetSelection,
    async_extract_referenced_entity_ids,
)
from homeassistant.helpers.typing import ConfigType

from ..fleet import tracker_of

# Since Home Assistant 2026.11 a target may leave some out.
_EXCLUDE = "exclude"


@callback
def trackers_in(hass: HomeAssistant, target: ConfigType) -> set[str]:
    """Return the `uniqueId` of each tracker in a target.

    Any entity of a tracker stands for it, whether or not another one is switched off.
    """
    return _named(hass, target) - _named(hass, target.get(_EXCLUDE) or {})


def _named(hass: HomeAssistant, target: ConfigType) -> set[str]:
    selected = async_extract_referenced_entity_ids(
        hass, TargetSelection(target), expand_group=False
    )
    entities, devices = er.async_get(hass), dr.async_get(hass)
    device_ids = set(selected.referenced_devices)
    for entity_id in selected.referenced | selected.indirectly_referenced:
        if (entity := entities.async_get(entity_id)) and entity.device_id:
            device_ids.add(entity.device_id)
    return {
        unique_id
        for device_id in device_ids
        if isinstance(device := devices.async_get(device_id), dr.DeviceEntry)
        and (unique_id := tracker_of(device))
    }
