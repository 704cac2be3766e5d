"""What could not be read of the device list, said once each."""

from collections.abc import Set as AbstractSet

from homeassistant.config_entries import ConfigEntry

from ..api.lists import Seen
from ..const import LOGGER
from ..identity import name_of


def log_unreadable(
    entry: ConfigEntry, seen: Seen, known: AbstractSet[str]
) -> AbstractSet[str]:
    """Write what is odd and was not known to the log; return what is known now."""
    odd = {
        field: f"a device without a readable {field}, which stays unknown"
        for field in seen.unreadable
    }
    if number := seen.left_out:
        odd["left_out"] = f"{number} elements that are no device and are left out"
    for oddity in odd.keys() - known:
        LOGGER.warning("%s: The server sent %s", name_of(entry), odd[oddity])
    return odd.keys()
