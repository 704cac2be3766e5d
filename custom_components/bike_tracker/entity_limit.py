"""Home Assistant's limit of entities for one config entry."""

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er, issue_registry as ir

from .const import DOMAIN

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
        self._reported = 0, 0
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
        left_out = len(self.left_out)
        report = (left_out, trackers) if left_out else (0, 0)
        if report == self._reported:
            return
        self._reported = report
        if not left_out:
            self._delete_issue()
            return
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            self._issue_id,
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING,
            translation_key="too_many_trackers",
            translation_placeholders={
                "account": self._entry.title,
                "total": str(trackers),
                "left_out": str(left_out),
                "limit": str(_MOST_ENTITIES),
            },
        )

    @callback
    def _delete_issue(self) -> None:
        ir.async_delete_issue(self._hass, DOMAIN, self._issue_id)

    @property
    def _issue_id(self) -> str:
        return f"too_many_trackers_{self._entry.entry_id}"
