"""The account's trackers as devices: whose they are, and what they are called."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from homeassistant.components.device_tracker import DOMAIN as DEVICE_TRACKER_DOMAIN
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.util.hass_dict import HassKey

from ..api import Device
from ..const import DOMAIN
from ..tracking import Tracker, log_errors

if TYPE_CHECKING:
    # Home Assistant 2026.8 has none.
    from homeassistant.helpers.device_registry import AnyDeviceEntry

# The config entry that has a tracker, by `uniqueId`: of two that list a new one in the same
# instant, the other waits although nothing is registered yet.
_OWNERS: HassKey[dict[str, str]] = HassKey(f"{DOMAIN}_owners")


def tracker_of(device: dr.DeviceEntry) -> str | None:
    """Return the `uniqueId` of the tracker that a device is, None if it is none.

    Not every integration identifies its devices by pairs.
    """
    pairs = (names for names in device.identifiers if len(names) == 2)
    return next((name for domain, name in pairs if domain == DOMAIN), None)


def name_of(device: AnyDeviceEntry | None) -> str:
    """Return what a device is called."""
    return (device and (device.name_by_user or device.name)) or ""


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
    was known stays until the tracker sends another.
    """
    names = {"name": tracker.device.name, "model": tracker.device.model}
    firmware = tracker.hardware and tracker.hardware.firmware
    return names | ({"sw_version": firmware} if firmware else {})


class TrackerDevices:
    """The devices of one account.

    A tracker that two accounts list belongs to the one that had it first, until its device
    is deleted there or that account is gone.
    """

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with no list."""
        self.hass = hass
        self.entry = entry
        self.elsewhere: set[str] = set()
        """Trackers of the last list that belong to another account."""
        self._owners = hass.data.setdefault(_OWNERS, {})

    @callback
    def async_own(self, listed: Mapping[str, Device]) -> Mapping[str, Device]:
        """Return the listed trackers that belong to this account."""
        owners, entry_id = self._owners, self.entry.entry_id
        others = [key for key in listed if owners.get(key) != entry_id]
        self.elsewhere = {key for key in others if not self._own(key)}
        if not self.elsewhere:
            return listed
        return {key: listed[key] for key in listed if key not in self.elsewhere}

    @callback
    def async_update(self, tracker: Tracker) -> None:
        """Call the device of a tracker what the service calls it."""
        description = description_of(tracker)
        device = device_of(self.hass, tracker.device.unique_id, self.entry.entry_id)
        if device and any(
            getattr(device, key) != value for key, value in description.items()
        ):
            dr.async_get(self.hass).async_update_device(device.id, **description)

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Let another account have a tracker whose device was removed."""
        self._owners.pop(unique_id, None)

    def _own(self, unique_id: str) -> bool:
        """Return whether a listed tracker is this account's, and is from now on."""
        entry_id, entries = self.entry.entry_id, self.hass.config_entries
        with log_errors(self.entry.title, "finding whose a tracker is"):
            owner = self._owners.get(unique_id) or self._registered_owner(unique_id)
            if owner in {None, entry_id} or not entries.async_get_entry(owner):
                self._owners[unique_id] = entry_id
                return True
        return False

    def _registered_owner(self, unique_id: str) -> str | None:
        """Return the entry that has a tracker's entity, None if none has."""
        registry = er.async_get(self.hass)
        entity_id = registry.async_get_entity_id(
            DEVICE_TRACKER_DOMAIN, DOMAIN, unique_id
        )
        entity = registry.async_get(entity_id or "")
        return entity.config_entry_id if entity else None
