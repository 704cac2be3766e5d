"""The account's trackers in Home Assistant's registries: whose, renamed, removed."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from homeassistant.components.device_tracker import DOMAIN as DEVICE_TRACKER_DOMAIN
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.typing import UNDEFINED
from homeassistant.util.hass_dict import HassKey

from ..api import Changes, Device
from ..const import DOMAIN, LOGGER
from ..tracking import Tracker, Trackers
from .memory import Memory

_FLEETS: HassKey[list[Fleet]] = HassKey(f"{DOMAIN}_fleets")


def tracker_of(device: dr.DeviceEntry) -> str | None:
    """Return the `uniqueId` of the tracker that a device is, None if it is none.

    Not every integration identifies its devices by pairs.
    """
    pairs = (names for names in device.identifiers if len(names) == 2)
    return next((name for domain, name in pairs if domain == DOMAIN), None)


def device_of(
    hass: HomeAssistant, unique_id: str, entry_id: str
) -> dr.DeviceEntry | None:
    """Return the device that a tracker is in an entry, if there is one."""
    return dr.async_get(hass).async_get_device_by_identifier(
        (DOMAIN, unique_id), entry_id
    )


def trackers_of(hass: HomeAssistant, entry_id: str) -> set[str]:
    """Return the `uniqueId` of each tracker that an entry has a device for."""
    devices = dr.async_entries_for_config_entry(dr.async_get(hass), entry_id)
    return {unique_id for device in devices if (unique_id := tracker_of(device))}


def description_of(tracker: Tracker) -> dict[str, Any]:
    """Return what a tracker's device is called, after what the service calls it.

    A name that a person gave the device stays the one that is shown, and a firmware that
    was known stays until the tracker tells another.
    """
    name, model, firmware = _described(tracker)
    return {"name": name, "model": model, "sw_version": firmware or UNDEFINED}


def _described(tracker: Tracker) -> tuple[str, str | None, str | None]:
    return tracker.device.name, tracker.device.model, tracker.firmware


class Fleet:
    """The trackers of one account, as Home Assistant's registries know them.

    A tracker that two accounts list is the one's that had it first: its device can
    belong to one config entry only.
    """

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry, memory: Memory) -> None:
        """Begin with the trackers that have a device."""
        self.memory = memory
        self.had = trackers_of(hass, entry.entry_id)
        """Trackers that are or were this account's, until they are forgotten."""
        self.own: set[str] = set()
        """Trackers that were listed, which no other account may have."""
        self.elsewhere: set[str] = set()
        """Trackers of the last list that another entry had first."""
        self._hass = hass
        self._entry = entry
        self._listed: Mapping[str, Device] | None = None
        fleets = hass.data.setdefault(_FLEETS, [])
        fleets.append(self)
        entry.async_on_unload(partial(fleets.remove, self))

    @callback
    def async_claim(self, listed: Changes[str, Device]) -> Changes[str, Device]:
        """Return those trackers of a list that are this entry's."""
        touched = listed.changed_since(self._listed or {}) | self.elsewhere
        touched &= listed.after.keys()
        own = {unique_id for unique_id in touched - self.own if self._is_own(unique_id)}
        self.had |= own
        self.own |= own
        self.elsewhere = touched - self.own
        self._listed = listed.after
        if not self.elsewhere:
            return listed
        devices = {
            unique_id: device
            for unique_id, device in listed.after.items()
            if unique_id not in self.elsewhere
        }
        # Follows on nothing: whoever takes it in looks at all of it.
        return Changes({}, devices, devices.keys())

    def lists(self, unique_id: str) -> bool:
        """Return whether the tracker is in the newest device list, and this entry's."""
        return unique_id in (self._listed or ()) and unique_id not in self.elsewhere

    def has_lost(self, unique_id: str) -> bool:
        """Return whether this entry has the tracker, but its account lists it no more."""
        return (
            unique_id in self.had
            and self._listed is not None
            and unique_id not in self._listed
        )

    @callback
    def async_follow(self, changes: Changes[str, Tracker], known: Trackers) -> None:
        """Remember what is different, and call devices what the service calls them."""
        self.memory.async_follow(changes)
        for unique_id in changes.changed_since(known) & changes.after.keys():
            before, now = known.get(unique_id), changes.after[unique_id]
            is_another = before is None or _described(before) != _described(now)
            if is_another and (device := self.device_of(unique_id)):
                description = description_of(now)
                dr.async_get(self._hass).async_update_device(device.id, **description)

    @callback
    def async_remove(self, unique_id: str) -> None:
        """Remove a tracker's device."""
        if device := self.device_of(unique_id):
            name = self._entry.title
            LOGGER.info("%s: Removing device %s: missing for a week", name, device.id)
            dr.async_get(self._hass).async_remove_device(device.id)

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Forget a tracker, so that another account may have it."""
        self.had.discard(unique_id)
        self.own.discard(unique_id)
        self.memory.rides.async_forget(unique_id)
        self.memory.async_save_later()

    def device_of(self, unique_id: str) -> dr.DeviceEntry | None:
        """Return the device that a tracker is here, if there is one."""
        return device_of(self._hass, unique_id, self._entry.entry_id)

    def _is_own(self, unique_id: str) -> bool:
        if any(unique_id in each.own for each in self._hass.data[_FLEETS]):
            return False
        registry = er.async_get(self._hass)
        entity_id = registry.async_get_entity_id(
            DEVICE_TRACKER_DOMAIN, DOMAIN, unique_id
        )
        entity = entity_id and registry.async_get(entity_id)
        return not entity or entity.config_entry_id == self._entry.entry_id
