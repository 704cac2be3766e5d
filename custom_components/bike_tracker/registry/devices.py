"""The account's trackers as devices: whose they are, and what they are called."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from homeassistant.components.device_tracker import DOMAIN as DEVICE_TRACKER_DOMAIN
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.typing import UNDEFINED
from homeassistant.util.hass_dict import HassKey

from ..api import Changes, Device
from ..const import DOMAIN, LOGGER
from ..tracking import Tracker

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
    name, model, firmware = _described(tracker)
    return {"name": name, "model": model, "sw_version": firmware or UNDEFINED}


def _described(tracker: Tracker) -> tuple[str, str | None, str | None]:
    firmware = tracker.hardware and tracker.hardware.firmware
    return tracker.device.name, tracker.device.model, firmware


class TrackerDevices:
    """The devices of one account.

    A tracker that two accounts list belongs to the one that had it first, until its device
    is deleted there or that account is gone.
    """

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with an empty list."""
        self.elsewhere: set[str] = set()
        """Trackers of the last list that belong to another account."""
        self._hass = hass
        self.entry = entry
        self._listed: Mapping[str, Device] = {}
        entry.async_on_unload(self._async_release_all)

    @callback
    def async_own(self, listed: Changes[str, Device]) -> Changes[str, Device]:
        """Return the listed trackers that belong to this account."""
        touched = listed.changed_since(self._listed) | self.elsewhere
        self._listed = listed.after
        self._async_release(touched - listed.after.keys())
        touched &= listed.after.keys()
        self.elsewhere = {key for key in touched if not self._try_claim(key)}
        if not self.elsewhere:
            return listed
        devices = {
            unique_id: device
            for unique_id, device in listed.after.items()
            if unique_id not in self.elsewhere
        }
        # Follows on nothing: whoever gets it looks at all of it.
        return Changes({}, devices, devices.keys())

    def lists(self, unique_id: str) -> bool:
        """Return whether the tracker is in the newest list, and this account's."""
        return unique_id in self._listed and unique_id not in self.elsewhere

    @callback
    def async_update(self, tracker: Tracker) -> None:
        """Call the device of a tracker what the service calls it."""
        if device := self.device_of(tracker.device.unique_id):
            known = device.name, device.model, device.sw_version
            name, model, firmware = _described(tracker)
            if known != (name, model, firmware or device.sw_version):
                dr.async_get(self._hass).async_update_device(
                    device.id, **description_of(tracker)
                )

    def device_of(self, unique_id: str) -> dr.DeviceEntry | None:
        """Return the device that a tracker is here, if there is one."""
        return device_of(self._hass, unique_id, self.entry.entry_id)

    def _try_claim(self, unique_id: str) -> bool:
        try:
            return self._claim(unique_id)
        except Exception:  # noqa: BLE001 - it costs that tracker until the next poll
            LOGGER.exception("%s: Unexpected error", self.entry.title)
            return False

    @property
    def _claims(self) -> dict[str, str]:
        return self._hass.data.setdefault(_CLAIMS, {})

    def _claim(self, unique_id: str) -> bool:
        """Return whether a listed tracker is this account's, and is from now on."""
        if owner := self._claims.get(unique_id):
            return owner == self.entry.entry_id
        registry = er.async_get(self._hass)
        entity_id = registry.async_get_entity_id(
            DEVICE_TRACKER_DOMAIN, DOMAIN, unique_id
        )
        entity = entity_id and registry.async_get(entity_id)
        if entity and entity.config_entry_id != self.entry.entry_id:
            return False
        self._claims[unique_id] = self.entry.entry_id
        return True

    @callback
    def _async_release(self, unique_ids: Iterable[str]) -> None:
        """Let another account have these trackers once they have no entity here."""
        for unique_id in unique_ids:
            if self._claims.get(unique_id) == self.entry.entry_id:
                del self._claims[unique_id]

    @callback
    def _async_release_all(self) -> None:
        self._async_release(self._listed)
