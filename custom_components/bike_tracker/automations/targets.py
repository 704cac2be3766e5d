"""Which trackers a target names: by entity, device, area, floor or label; whose they are."""

from collections.abc import Mapping
from datetime import datetime
import json
from typing import Any, Final

from homeassistant.core import Event, HassJob, HomeAssistant, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.target import (
    TargetSelection,
    async_extract_referenced_entity_ids,
)
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.signal_type import SignalType

from ..const import DOMAIN
from ..coordinator import BikeTrackerCoordinator
from ..fleet.registries import tracker_of

SIGNAL_TARGETS: Final[SignalType[()]] = SignalType(f"{DOMAIN}_targets")
"""Says that targets may name other trackers since a moment ago."""

_KNOWN: HassKey[dict[str, frozenset[str]]] = HassKey(f"{DOMAIN}_targets")
# Registries change often at once.
_TELL_AFTER: Final = 1
# What of a device says nothing of which target it is in.
_NAMES: Final = {"name", "name_by_user", "manufacturer", "model", "model_id"} | {
    *("sw_version", "hw_version", "serial_number", "configuration_url", "entry_type")
}


@callback
def trackers_in(hass: HomeAssistant, target: str) -> frozenset[str]:
    """Return the `uniqueId` of each tracker in a target, which is given as JSON.

    It is looked up once until it may be another one.

    Any entity of a tracker stands for it, whether or not another one is switched off.
    What is excluded, since Home Assistant 2026.11, it takes out itself: an entity alone,
    or a device, an area, a floor or a label with all its entities. A tracker is there as
    long as its device or another of its entities is.
    """
    known = _async_known(hass)
    if target not in known:
        known[target] = _look_up(hass, TargetSelection(json.loads(target)))
    return known[target]


def _look_up(hass: HomeAssistant, selection: TargetSelection) -> frozenset[str]:
    selected = async_extract_referenced_entity_ids(hass, selection, expand_group=False)
    device_ids, entities = set(selected.referenced_devices), er.async_get(hass)
    for entity_id in selected.referenced | selected.indirectly_referenced:
        if (entity := entities.async_get(entity_id)) and entity.device_id:
            device_ids.add(entity.device_id)
    devices = map(dr.async_get(hass).async_get, device_ids)
    trackers = (
        tracker_of(item) for item in devices if isinstance(item, dr.DeviceEntry)
    )
    return frozenset(filter(None, trackers))


def coordinators(hass: HomeAssistant) -> list[BikeTrackerCoordinator]:
    """Return those of all accounts that are loaded."""
    entries = hass.config_entries.async_loaded_entries(DOMAIN)
    return [entry.runtime_data.coordinator for entry in entries]


@callback
@singleton(_KNOWN)
def _async_known(hass: HomeAssistant) -> dict[str, frozenset[str]]:
    """Return what was looked up since a registry changed."""
    known: dict[str, frozenset[str]] = {}

    @callback
    def tell(_now: datetime) -> None:
        async_dispatcher_send(hass, SIGNAL_TARGETS)

    @callback
    def forget(_event: Event[Any]) -> None:
        # Nobody asked since it was empty: that is told in a moment.
        if known:
            known.clear()
            async_call_later(hass, _TELL_AFTER, HassJob(tell, cancel_on_shutdown=True))

    for event in (
        er.EVENT_ENTITY_REGISTRY_UPDATED,
        dr.EVENT_DEVICE_REGISTRY_UPDATED,
        ar.EVENT_AREA_REGISTRY_UPDATED,
    ):
        hass.bus.async_listen(str(event), forget, _matters)
    return known


@callback
def _matters(data: Mapping[str, Any]) -> bool:
    """Return whether something in a registry may be in another target now."""
    changes = data.get("changes")
    return changes is None or bool(changes.keys() - _NAMES)
