"""Repair issues: what only a person can put right, one of each kind for an account."""

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from ..const import DOMAIN


@callback
def async_create_issue(
    hass: HomeAssistant, entry: ConfigEntry, key: str, **placeholders: str
) -> None:
    """Tell the person, or tell anew where the placeholders changed."""
    ir.async_create_issue(
        hass,
        DOMAIN,
        _issue_id(entry, key),
        is_fixable=False,
        severity=ir.IssueSeverity.WARNING,
        translation_key=key,
        translation_placeholders={"account": entry.title, **placeholders},
    )


@callback
def async_delete_issue(hass: HomeAssistant, entry: ConfigEntry, key: str) -> None:
    """Tell the person no more."""
    ir.async_delete_issue(hass, DOMAIN, _issue_id(entry, key))


def _issue_id(entry: ConfigEntry, key: str) -> str:
    return f"{key}_{entry.entry_id}"
