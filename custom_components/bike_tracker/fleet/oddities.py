"""What could not be read of the device list, said once each."""

from homeassistant.config_entries import ConfigEntry

from ..api import Device, ListReader
from ..const import LOGGER
from ..identity import name_of


class Oddities:
    """Writes it to the log."""

    def __init__(self, entry: ConfigEntry, devices: ListReader[str, Device]) -> None:
        """Look at what this reader finds for an entry."""
        self._entry = entry
        self._devices = devices
        self._logged_fields: set[str] = set()
        self._logged_left_out = False

    def log(self) -> None:
        """Say what is new since the last time."""
        devices = self._devices
        for unreadable in devices.unreadable_fields - self._logged_fields:
            LOGGER.warning(
                "%s: The server sent a device without a readable %s, "
                "which stays unknown",
                name_of(self._entry),
                unreadable,
            )
        self._logged_fields |= devices.unreadable_fields
        if devices.left_out and not self._logged_left_out:
            LOGGER.warning(
                "%s: The server sent %d elements that are no device and are left out",
                name_of(self._entry),
                devices.left_out,
            )
        self._logged_left_out = bool(devices.left_out)
