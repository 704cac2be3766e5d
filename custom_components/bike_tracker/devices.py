"""Device registry and repair issues of an account."""

from collections.abc import Mapping, Set as AbstractSet
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic
from typing import Any, Final

from homeassistant.components.device_tracker import DOMAIN as DEVICE_TRACKER_DOMAIN
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import (
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
from homeassistant.helpers.singleton import singleton
from homeassistant.util import dt as dt_util

from .api.models import Device
from .const import DOMAIN
from .tracking.state import Tracker

NO_CONTACT: Final = "no_contact"
_ISSUE_AFTER: Final = timedelta(minutes=30)


def tracker_of(device: dr.DeviceEntry) -> str | None:
    """Return the `uniqueId` of a tracker's device, or None if the device is not a tracker."""
    # Do not unpack the identifiers: those of other integrations may have more than two
    # elements.
    return next((names[1] for names in device.identifiers if names[0] == DOMAIN), None)


def name_of(device: dr.AnyDeviceEntry | None) -> str:
    """Return the name of a device, preferably the user's name for it. Without a device or a name, return ""."""
    return (device and (device.name_by_user or device.name)) or ""


def trackers_of(hass: HomeAssistant, entry_id: str) -> set[str]:
    """Return the `uniqueId` of each tracker that has a device in a config entry."""
    devices = dr.async_entries_for_config_entry(dr.async_get(hass), entry_id)
    return {unique_id for device in devices if (unique_id := tracker_of(device))}


def description_of(tracker: Tracker) -> dict[str, Any]:
    """Return name, model and firmware of a tracker's device, as the service sends them.

    Leave the firmware out if the tracker has reported none: the device keeps its known
    firmware.
    """
    names = {"name": tracker.device.name, "model": tracker.device.model}
    position = tracker.state.position
    firmware = position and position.firmware
    return names | ({"sw_version": firmware} if firmware else {})


@singleton(f"{DOMAIN}_owners")
def owners_in(hass: HomeAssistant) -> dict[str, str]:
    """Return the config entry ID of each tracker by `uniqueId`, even if the entry is not loaded."""
    return {
        entity.unique_id: entity.config_entry_id or ""
        for entity in er.async_get(hass).entities.values()
        if (entity.domain, entity.platform) == (DEVICE_TRACKER_DOMAIN, DOMAIN)
    }


@dataclass(slots=True, eq=False, repr=False)
class TrackerDevices:
    """The devices of an account.

    A tracker in two accounts belongs to the account that listed it first, until that
    account or the tracker's device in it is deleted.
    """

    hass: HomeAssistant
    entry: ConfigEntry
    listed: Mapping[str, Device] = field(default_factory=dict)
    """The trackers in the newest device list that this account owns, by `uniqueId`."""
    elsewhere: AbstractSet[str] = frozenset()
    """The `uniqueId` of each tracker in the newest device list that another account owns."""

    def get(self, unique_id: str) -> dr.DeviceEntry | None:
        """Return the device of a tracker, or None if it has none."""
        devices, entry_id = dr.async_get(self.hass), self.entry.entry_id
        return devices.async_get_device_by_identifier((DOMAIN, unique_id), entry_id)

    @callback
    def async_own(self, listed: Mapping[str, Device]) -> Mapping[str, Device]:
        """Assign listed trackers without an owner to this account. Return all listed trackers of this account."""
        if listed is self.listed:
            return listed
        owners, entry_id = owners_in(self.hass), self.entry.entry_id
        others = {key for key in listed if owners.setdefault(key, entry_id) != entry_id}
        entry_of = self.hass.config_entries.async_get_entry
        self.elsewhere = {key for key in others if entry_of(owners[key])}
        owners |= dict.fromkeys(others - self.elsewhere, entry_id)
        if self.elsewhere:
            listed = {key: listed[key] for key in listed if key not in self.elsewhere}
        self.listed = listed
        return listed

    @callback
    def async_follow(self, tracker: Tracker) -> None:
        """Update name, model and firmware in the device of a tracker, if it is listed and has a device."""
        description, unique_id = description_of(tracker), tracker.device.unique_id
        device = self.get(unique_id) if unique_id in self.listed else None
        known = {key: getattr(device, key, None) for key in description}
        if device and known != description:
            dr.async_get(self.hass).async_update_device(device.id, **description)


@callback
def async_create_issue(
    hass: HomeAssistant, entry: ConfigEntry, key: str, **placeholders: str
) -> None:
    """Create a repair issue of an account, or update its placeholders."""
    ir.async_create_issue(
        hass,
        DOMAIN,
        f"{key}_{entry.entry_id}",
        is_fixable=False,
        severity=ir.IssueSeverity.WARNING,
        translation_key=key,
        translation_placeholders={"account": entry.title, **placeholders},
    )


@callback
def async_delete_issue(hass: HomeAssistant, entry: ConfigEntry, key: str) -> None:
    """Delete a repair issue of an account, if it exists."""
    ir.async_delete_issue(hass, DOMAIN, f"{key}_{entry.entry_id}")


@callback
def async_delete_issues(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Delete all repair issues of an account that was disabled or removed."""
    known, end = ir.async_get(hass).issues, f"_{entry.entry_id}"
    ids = [it for domain, it in known if domain == DOMAIN and it.endswith(end)]
    for issue_id in ids:
        ir.async_delete_issue(hass, DOMAIN, issue_id)


@callback
def async_check_contact(
    hass: HomeAssistant, entry: ConfigEntry, failing_since: float, reason: str
) -> None:
    """Create the issue *No contact* if polls have failed for 30 minutes or longer, by the monotonic clock."""
    # Do not measure the duration by the wall clock: it may be corrected when the
    # network works again.
    duration = timedelta(seconds=monotonic() - failing_since)
    if duration >= _ISSUE_AFTER:
        since = f"{dt_util.as_local(dt_util.utcnow() - duration):%Y-%m-%d %H:%M}"
        async_create_issue(hass, entry, NO_CONTACT, since=since, error=reason)
