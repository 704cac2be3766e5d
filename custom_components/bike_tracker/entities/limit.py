"""Home Assistant's limit of entities for one config entry."""

from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from ..fleet.troubles import async_create_issue, async_delete_issue

OPTIONAL_KINDS: Final = (
    *("motion", "battery", "alarm", "lock", "charging", "ride"),
    *("total_distance", "ride_distance", "ride_duration"),
    *("speed", "course", "battery_voltage", "power_voltage"),
    *("altitude", "position_time"),
)
"""Kinds of entities that not every tracker has, by their key: the most useful first.

Those at the end give way in an account with more entities than there is room for.
"""
# Home Assistant adds no more enabled entities than this.
_MOST_ENTITIES = 10_000


class EntityLimit:
    """Knows how many more entities there can be, and tells of trackers left out."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with nobody left out."""
        self.left_out: set[str] = set()
        """Trackers without entities, as there is no room, by `uniqueId`."""
        self._hass = hass
        self._entry = entry
        entry.async_on_unload(self._delete_issue)

    @property
    def room(self) -> int:
        """Return how many more enabled entities there can be."""
        entities = er.async_get(self._hass).entities
        return _MOST_ENTITIES - entities.get_enabled_count_for_config_entry_id(
            self._entry.entry_id
        )

    @callback
    def async_report(self, trackers: int) -> None:
        """Tell the person how many of so many trackers are left out, or stop telling."""
        if not self.left_out:
            self._delete_issue()
            return
        async_create_issue(
            self._hass,
            self._entry,
            "too_many_trackers",
            total=str(trackers),
            left_out=str(len(self.left_out)),
            limit=str(_MOST_ENTITIES),
        )

    @callback
    def _delete_issue(self) -> None:
        async_delete_issue(self._hass, self._entry, "too_many_trackers")
