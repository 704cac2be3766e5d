"""The account's trackers as devices: whose they are, and what they are called."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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

# The config entry that lists a tracker, by `uniqueId`: of two that list a new one in the
# same instant, the other waits although nothing is registered yet.
_CLAIMS: HassKey[dict[str, str]] = HassKey(f"{DOMAIN}_claims")


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


@dataclass(slots=True, eq=False)
class TrackerDevices:
    """The devices of one account.

    A tracker that two accounts list belongs to the one that had it first, until its device
    is deleted there or that account is gone.
    """

    hass: HomeAssistant
    entry: ConfigEntry
    elsewhere: set[str] = field(default_factory=set)
    """Trackers of the last list that belong to another account."""
    _listed: Mapping[str, Device] = field(default_factory=dict)

    @callback
    def async_own(self, listed: Mapping[str, Device]) -> Mapping[str, Device]:
        """Return the listed trackers that belong to this account."""
        self._async_release(self._listed.keys() - listed.keys())
        self._listed, claims, entry_id = listed, self._claims, self.entry.entry_id
        others = [key for key in listed if claims.get(key) != entry_id]
        self.elsewhere = {key for key in others if not self._claim(key)}
        if not self.elsewhere:
            return listed
        return {key: listed[key] for key in listed if key not in self.elsewhere}

    def lists(self, unique_id: str) -> bool:
        """Return whether the tracker is in the newest list, and this account's."""
        return unique_id in self._listed and unique_id not in self.elsewhere

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
    def async_release_all(self) -> None:
        """Let other accounts have all trackers."""
        self._async_release(self._listed)

    @callback
    def _async_release(self, unique_ids: Iterable[str]) -> None:
        """Let another account have these trackers once they have no entity here."""
        for unique_id in unique_ids:
            if self._claims.get(unique_id) == self.entry.entry_id:
                del self._claims[unique_id]

    @property
    def _claims(self) -> dict[str, str]:
        return self.hass.data.setdefault(_CLAIMS, {})

    def _claim(self, unique_id: str) -> bool:
        """Return whether a listed tracker is this account's, and is from now on."""
        with log_errors(self.entry.title, "claiming a tracker"):
            owner = self._claims.get(unique_id) or self._owner(unique_id)
            if owner == self.entry.entry_id:
                self._claims[unique_id] = owner
                return True
        return False

    def _owner(self, unique_id: str) -> str:
        """Return the entry that has a tracker's entity, this one if none has."""
        registry = er.async_get(self.hass)
        entity_id = registry.async_get_entity_id(
            DEVICE_TRACKER_DOMAIN, DOMAIN, unique_id
        )
        entity = entity_id and registry.async_get(entity_id)
        return (entity and entity.config_entry_id) or self.entry.entry_id
