"""Which trackers a target names: by entity, device, area, floor or label."""

from collections.abc import Callable, Mapping
import json
from typing import Any, Final, NamedTuple

from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.target import (
    TargetSelection,
    async_extract_referenced_entity_ids,
)
from homeassistant.helpers.typing import ConfigType
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..fleet.registries import tracker_of

# What of a device says nothing of which target it is in.
_NAMES: Final = {"name", "name_by_user", "manufacturer", "model", "model_id"} | {
    *("sw_version", "hw_version", "serial_number", "configuration_url", "entry_type")
}


class Target(NamedTuple):
    """What a person chose, and what it is called here."""

    key: str
    selection: TargetSelection

    @classmethod
    def of(cls, config: ConfigType) -> Target:
        """Return the target of a configuration."""
        return cls(json.dumps(config, sort_keys=True), TargetSelection(config))


class Targets:
    """Knows which trackers targets name: each is looked up once until it may differ."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin to listen to the registries."""
        self.on_change: list[Callable[[], None]] = []
        """Called each time that targets may name others."""
        self._hass = hass
        self._known: dict[str, frozenset[str]] = {}
        for event, matters in (
            (er.EVENT_ENTITY_REGISTRY_UPDATED, self._matters_of_entity),
            (dr.EVENT_DEVICE_REGISTRY_UPDATED, self._matters_of_device),
            (ar.EVENT_AREA_REGISTRY_UPDATED, None),
        ):
            hass.bus.async_listen(str(event), self._async_forget, matters)

    @callback
    def trackers_in(self, target: Target) -> frozenset[str]:
        """Return the `uniqueId` of each tracker in a target.

        Any entity of a tracker stands for it, whether or not another one is switched
        off. What is excluded, since Home Assistant 2026.11, it takes out itself: an
        entity alone, or a device, an area, a floor or a label with all its entities. A
        tracker is there as long as its device or another of its entities is.
        """
        if (known := self._known.get(target.key)) is None:
            known = self._known[target.key] = self._named(target.selection)
        return known

    def _named(self, selection: TargetSelection) -> frozenset[str]:
        selected = async_extract_referenced_entity_ids(
            self._hass, selection, expand_group=False
        )
        entities = er.async_get(self._hass)
        device_ids = set(selected.referenced_devices)
        for entity_id in selected.referenced | selected.indirectly_referenced:
            if (entity := entities.async_get(entity_id)) and entity.device_id:
                device_ids.add(entity.device_id)
        return frozenset(filter(None, map(self._tracker, device_ids)))

    def _tracker(self, device_id: str) -> str | None:
        device = dr.async_get(self._hass).async_get(device_id)
        return tracker_of(device) if isinstance(device, dr.DeviceEntry) else None

    @callback
    def _async_forget(self, _event: Event[Any]) -> None:
        self._known.clear()
        for listener in self.on_change:
            listener()

    @callback
    def _matters_of_entity(self, data: Mapping[str, Any]) -> bool:
        """Return whether it is, was or may have been one of a tracker."""
        if data["action"] == "remove" or "device_id" in data.get("changes", ()):
            return True
        entity = er.async_get(self._hass).async_get(data["entity_id"])
        return bool(entity and entity.device_id and self._tracker(entity.device_id))

    @callback
    def _matters_of_device(self, data: Mapping[str, Any]) -> bool:
        """Return whether it may be a tracker, or have one, and be in another target."""
        if data["action"] == "create":
            return self._tracker(data["device_id"]) is not None
        return data["action"] == "remove" or bool(data["changes"].keys() - _NAMES)


_TARGETS: HassKey[Targets] = HassKey(f"{DOMAIN}_targets")


@callback
@singleton(_TARGETS)
def async_get_targets(hass: HomeAssistant) -> Targets:
    """Return the one that knows."""
    return Targets(hass)
