"""What could not be read of the device list, said once each."""

from .api import Device, ListReader
from .const import LOGGER


class Oddities:
    """Writes it to the log."""

    def __init__(self, devices: ListReader[str, Device]) -> None:
        """Look at what this reader finds."""
        self._devices = devices
        self._logged_fields: set[str] = set()
        self._logged_left_out = False

    def log(self) -> None:
        """Say what is new since the last time."""
        devices = self._devices
        for unreadable in devices.unreadable_fields - self._logged_fields:
            LOGGER.warning(
                "The server sent a device without a readable %s, which stays unknown",
                unreadable,
            )
        self._logged_fields |= devices.unreadable_fields
        if devices.left_out and not self._logged_left_out:
            LOGGER.warning(
                "The server sent %d elements that are no device and are left out",
                devices.left_out,
            )
        self._logged_left_out = bool(devices.left_out)
