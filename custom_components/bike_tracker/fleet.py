"""Which trackers are an account's: those that come, go, are renamed or shared."""

from collections.abc import Set as AbstractSet
from time import monotonic
from typing import TYPE_CHECKING

from homeassistant.components.device_tracker import DOMAIN as DEVICE_TRACKER_DOMAIN
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import (
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
from homeassistant.util.hass_dict import HassKey

from .api import Device
from .const import DOMAIN, LOGGER

if TYPE_CHECKING:
    from homeassistant.config_entries import ConfigEntry

_REMOVED_AFTER = 24 * 60 * 60
# What one poll may add, so that a machine that slept for a day removes nothing.
_LONGEST_BETWEEN_POLLS = 60 * 60
_CLAIMS: HassKey[dict[str, str]] = HassKey(f"{DOMAIN}_claims")


def tracker_of(device: dr.DeviceEntry) -> str | None:
    """Return the `uniqueId` of the tracker that a device is."""
    return next(
        (value for domain, value in device.identifiers if domain == DOMAIN), None
    )


def trackers_of(hass: HomeAssistant, entry_id: str) -> set[str]:
    """Return the `uniqueId` of each tracker that an entry has a device for."""
    devices = dr.async_entries_for_config_entry(dr.async_get(hass), entry_id)
    return {unique_id for device in devices if (unique_id := tracker_of(device))}


class Fleet:
    """The trackers of one account, as Home Assistant's registries know them."""

    def __init__(
        self, hass: HomeAssistant, entry: ConfigEntry, missing: dict[str, float]
    ) -> None:
        """Begin with the trackers that have a device, some of them missing."""
        self.missing = missing
        """Seconds of successful polls without the tracker, by `uniqueId`."""
        self.elsewhere: set[str] = set()
        """Trackers of the account that another entry had first."""
        self.came: set[str] = set()
        """Trackers that are this entry's since the last poll."""
        self._hass = hass
        self._entry = entry
        self._claims = hass.data.setdefault(_CLAIMS, {})
        self._claimed: set[str] = set()
        self._known = trackers_of(hass, entry.entry_id)
        self._listed: dict[str, Device] | None = None
        self._own: dict[str, Device] = {}
        self._last_poll: float | None = None
        entry.async_on_unload(self._release)

    @callback
    def async_update(
        self, listed: dict[str, Device], news: AbstractSet[str]
    ) -> dict[str, Device]:
        """Take in a device list, of which these trackers are others than before.

        Return the trackers that are this entry's.
        """
        before, self._listed = self._listed, listed
        self._claim((news | self.elsewhere) & listed.keys())
        if self.came or listed is not before:
            self._own = self._without_others(listed)
        if bool(listed) != bool(before) or before is None:
            self._report_emptiness(empty=not listed)
        if listed:
            self._count_missing()
            if news or self.came:
                self._find_missing()
        return self._own

    @callback
    def async_remove_gone(self) -> list[str]:
        """Remove the trackers that are missing for a day, and return which."""
        gone = [
            unique_id
            for unique_id, seconds in self.missing.items()
            if seconds >= _REMOVED_AFTER
        ]
        for unique_id in gone:
            if device := self._device(unique_id):
                LOGGER.info("Removing device %s: missing for a day", device.id)
                dr.async_get(self._hass).async_remove_device(device.id)
            self.async_forget(unique_id)
        return gone

    @callback
    def async_fail(self) -> None:
        """Take in that a poll failed: it says nothing of who is missing."""
        self._last_poll = None

    @callback
    def async_rename(self, device: Device) -> None:
        """Give a tracker's device the name it has at the service.

        A name that a person gave the device stays the one that is shown.
        """
        entry = self._device(device.unique_id)
        if entry is not None and entry.name != device.name:
            dr.async_get(self._hass).async_update_device(entry.id, name=device.name)

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Forget a tracker, so that another account may have it."""
        self._known.discard(unique_id)
        self.missing.pop(unique_id, None)
        self._claimed.discard(unique_id)
        if self._claims.get(unique_id) == self._entry.entry_id:
            del self._claims[unique_id]

    def lists(self, unique_id: str) -> bool:
        """Return whether the tracker is in the newest device list, and this entry's."""
        return unique_id in self._own

    @callback
    def _release(self) -> None:
        """Give up all claims and repair issues."""
        for unique_id, entry_id in list(self._claims.items()):
            if entry_id == self._entry.entry_id:
                del self._claims[unique_id]
        ir.async_delete_issue(self._hass, DOMAIN, self._no_trackers)

    @property
    def _no_trackers(self) -> str:
        return f"no_trackers_{self._entry.entry_id}"

    def _device(self, unique_id: str) -> dr.DeviceEntry | None:
        return dr.async_get(self._hass).async_get_device_by_identifier(
            (DOMAIN, unique_id), self._entry.entry_id
        )

    def _claim(self, unique_ids: set[str]) -> None:
        """Claim what no other entry has."""
        unclaimed = unique_ids - self._claimed
        self.came = {unique_id for unique_id in unclaimed if self._is_own(unique_id)}
        self.elsewhere = unclaimed - self.came
        self._claimed |= self.came
        self._known |= self.came

    def _without_others(self, listed: dict[str, Device]) -> dict[str, Device]:
        if not self.elsewhere:
            return listed
        return {
            unique_id: device
            for unique_id, device in listed.items()
            if unique_id not in self.elsewhere
        }

    def _is_own(self, unique_id: str) -> bool:
        entry_id = self._entry.entry_id
        if (holder := self._claims.get(unique_id)) is not None:
            return holder == entry_id
        registry = er.async_get(self._hass)
        entity_id = registry.async_get_entity_id(
            DEVICE_TRACKER_DOMAIN, DOMAIN, unique_id
        )
        if entity_id and registry.entities[entity_id].config_entry_id != entry_id:
            return False
        self._claims[unique_id] = entry_id
        return True

    def _count_missing(self) -> None:
        now = monotonic()
        since_last = 0.0 if self._last_poll is None else now - self._last_poll
        self._last_poll = now
        for unique_id in self.missing:
            self.missing[unique_id] += min(since_last, _LONGEST_BETWEEN_POLLS)

    def _find_missing(self) -> None:
        missing = self._known - self._own.keys()
        for unique_id in self.missing.keys() - missing:
            del self.missing[unique_id]
        for unique_id in missing - self.missing.keys():
            self.missing[unique_id] = 0.0

    def _report_emptiness(self, *, empty: bool) -> None:
        if not empty:
            ir.async_delete_issue(self._hass, DOMAIN, self._no_trackers)
            return
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            self._no_trackers,
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING,
            translation_key="no_trackers",
            translation_placeholders={"account": self._entry.title},
        )
