"""A lasting outage, shown to the person."""

from datetime import timedelta
from time import monotonic
from typing import Final, NamedTuple

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from .const import DOMAIN
from .issues import async_create_issue, async_delete_issue

_KEY: Final = "no_contact"
_SHOWN_AFTER: Final = timedelta(minutes=30)


class _Outage(NamedTuple):
    began: float
    """By the clock that nobody puts right, as happens once a network is there."""
    stop_watching: CALLBACK_TYPE


# By entry ID, as attempts to set up come and go.
_OUTAGES: HassKey[dict[str, _Outage]] = HassKey(f"{DOMAIN}_outages")


@callback
def async_begin_outage(hass: HomeAssistant, entry: ConfigEntry, reason: str) -> None:
    """Take in that a poll failed, and tell the person if that lasts."""
    outages = hass.data.setdefault(_OUTAGES, {})
    now = monotonic()
    if entry.entry_id not in outages:

        @callback
        def async_stop_telling() -> None:
            if entry.state is ConfigEntryState.NOT_LOADED:
                async_delete_issue(hass, entry, _KEY)
                if entry.disabled_by:
                    async_end_outage(hass, entry)

        stop_watching = entry.async_on_state_change(async_stop_telling)
        outages[entry.entry_id] = _Outage(now, stop_watching)
    lasted = timedelta(seconds=now - outages[entry.entry_id].began)
    if lasted >= _SHOWN_AFTER:
        since = dt_util.now() - lasted
        async_create_issue(
            hass, entry, _KEY, since=f"{since:%Y-%m-%d %H:%M}", error=reason
        )


@callback
def async_end_outage(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Take in that a poll succeeded, or that nobody polls any more."""
    if outage := hass.data.setdefault(_OUTAGES, {}).pop(entry.entry_id, None):
        outage.stop_watching()
        async_delete_issue(hass, entry, _KEY)
