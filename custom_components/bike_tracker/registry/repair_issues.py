"""Repair issues: what only a person can put right, one of each kind for an account."""

from datetime import timedelta
from time import monotonic
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util

from ..const import DOMAIN

NO_CONTACT: Final = "no_contact"
_NO_CONTACT_AFTER: Final = timedelta(minutes=30)


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
