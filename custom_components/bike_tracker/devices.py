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
_NO_CONTACT_AFTER: Final = timedelta(minutes=30)


def tracker_of(device: dr.DeviceEntry) -> str | None:
    """Return the `uniqueId` of the tracker that a device is, None if it is none."""
    # Not every integration identifies its devices by pairs.
    return next((names[1] for names in device.identifiers if names[0] == DOMAIN), None)


def name_of(device: dr.AnyDeviceEntry | None) -> str:
    """Return what a device is called."""
    return (device and (device.name_by_user or device.name)) or ""


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
    firmware = tracker.position and tracker.position.firmware
    return names | ({"sw_version": firmware} if firmware else {})


@singleton(f"{DOMAIN}_owners")
def owners_in(hass: HomeAssistant) -> dict[str, str]:
    """Return the config entry that has each tracker, also those that are not loaded.

    Of two accounts that list a new one in the same instant, one has it although nothing is
    registered yet.
    """
    return {
        entity.unique_id: entity.config_entry_id or ""
        for entity in er.async_get(hass).entities.values()
        if (entity.domain, entity.platform) == (DEVICE_TRACKER_DOMAIN, DOMAIN)
    }


@dataclass(slots=True, eq=False, repr=False)
class TrackerDevices:
    """The devices of one account.

    A tracker that two accounts list belongs to the one that had it first, until its device
    is deleted there or that account is gone.
    """

    hass: HomeAssistant
    entry: ConfigEntry
    owners: dict[str, str]
    listed: Mapping[str, Device] = field(default_factory=dict)
    """This account's trackers of the last list, which may not be applied yet."""
    elsewhere: AbstractSet[str] = frozenset()
    """Trackers of the last list that belong to another account."""

    def get(self, unique_id: str) -> dr.DeviceEntry | None:
        """Return the device of a tracker, if there is one."""
        devices, entry_id = dr.async_get(self.hass), self.entry.entry_id
        return devices.async_get_device_by_identifier((DOMAIN, unique_id), entry_id)

    @callback
    def async_own(self, listed: Mapping[str, Device]) -> Mapping[str, Device]:
        """Return the listed trackers that belong to this account."""
        owners, entry_id = self.owners, self.entry.entry_id
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
        """Call the device of a tracker what the service calls it."""
        description = description_of(tracker)
        device = self.get(tracker.device.unique_id)
        known = {key: getattr(device, key, None) for key in description}
        if device and known != description:
            dr.async_get(self.hass).async_update_device(device.id, **description)

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Let another account have a tracker whose device was removed."""
        self.owners.pop(unique_id, None)


@callback
def async_create_issue(
    hass: HomeAssistant, entry: ConfigEntry, key: str, **placeholders: str
) -> None:
    """Create an issue, or update its placeholders."""
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
    """Delete an issue, if there is one."""
    ir.async_delete_issue(hass, DOMAIN, f"{key}_{entry.entry_id}")


@callback
def async_check_contact(
    hass: HomeAssistant, entry: ConfigEntry, failing_since: float, reason: str
) -> None:
    """Create the issue for polls that keep failing, since a monotonic time."""
    # Not by the clock on the wall, which may be put right once a network is there.
    duration = timedelta(seconds=monotonic() - failing_since)
    if duration >= _NO_CONTACT_AFTER:
        since = f"{dt_util.as_local(dt_util.utcnow() - duration):%Y-%m-%d %H:%M}"
        async_create_issue(hass, entry, NO_CONTACT, since=since, error=reason)
