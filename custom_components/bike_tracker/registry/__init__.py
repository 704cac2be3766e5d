"""What Home Assistant keeps of an account's trackers."""

from typing import NamedTuple

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback

from ..tracking.account import log_errors
from ..tracking.state import Changes
from .devices import TrackerDevices, owners_in
from .ride_book import RideBook
from .storage import TrackerStore


class Registry(NamedTuple):
    """The files and the devices of one account."""

    store: TrackerStore
    rides: RideBook
    devices: TrackerDevices

    @callback
    def async_follow(self, changes: Changes) -> None:
        """Store trackers that changed, and call their devices as the service does."""
        for unique_id in changes.keys & changes.after.keys():
            before, after = changes.before.get(unique_id), changes.after[unique_id]
            with log_errors(self.devices.entry.title, "storing a tracker"):
                self.store.async_follow(before, after)
                self.devices.async_follow(after)
                # Most reports end no ride.
                known = before.rides if before and before.position else None
                if known is None or known != after.rides:
                    self.rides.async_follow(after)

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed."""
        for part in self:
            part.async_forget(unique_id)

    async def async_close(self) -> None:
        """Write what is not written yet."""
        await self.store.async_close()
        await self.rides.async_close()


async def async_open_registry(hass: HomeAssistant, entry: ConfigEntry) -> Registry:
    """Return what was kept of an account's trackers."""
    store, rides = TrackerStore(hass, entry), RideBook(hass, entry)
    await store.async_read()
    await rides.async_read()
    return Registry(store, rides, TrackerDevices(hass, entry, owners_in(hass)))
