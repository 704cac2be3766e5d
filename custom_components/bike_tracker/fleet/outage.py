"""A lasting outage, shown to the person."""

from datetime import datetime, timedelta
from time import monotonic
from typing import Final

from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
    ConfigEntryState,
)
from homeassistant.core import HassJob, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.event import async_call_later
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from .troubles import async_create_issue, async_delete_issue

_KEY: Final = "no_contact"
_SHOWN_AFTER: Final = timedelta(minutes=30)


class _Outage:
    """Waits until it lasted, whenever the next poll may be due."""

    def __init__(
        self, hass: HomeAssistant, entry: ConfigEntry, reason: str, began: float
    ) -> None:
        """Begin at a time by the clock that nobody puts right.

        That happens once a network is there.
        """
        self._hass = hass
        self._entry = entry
        self._reason = reason
        self._began = began
        # Not by the entry, which calls all who watch it: one must not leave meanwhile.
        self._stop_watching = async_dispatcher_connect(
            hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_follow_entry
        )
        self._stop_waiting = async_call_later(
            hass,
            _SHOWN_AFTER - self._lasted,
            HassJob(self._async_show, cancel_on_shutdown=True),
        )

    @callback
    def async_go_on(self, reason: str) -> None:
        """Take in the newest reason."""
        self._reason = reason
        if self._lasted >= _SHOWN_AFTER:
            self._async_show()

    @callback
    def async_end(self) -> None:
        """Tell the person no more."""
        self._stop_watching()
        self._stop_waiting()
        async_delete_issue(self._hass, self._entry, _KEY)

    @property
    def _lasted(self) -> timedelta:
        return timedelta(seconds=monotonic() - self._began)

    @callback
    def _async_show(self, _now: datetime | None = None) -> None:
        # An account that is unloaded needs no contact.
        if self._entry.state is ConfigEntryState.NOT_LOADED:
            return
        since = dt_util.now() - self._lasted
        async_create_issue(
            self._hass,
            self._entry,
            _KEY,
            since=f"{since:%Y-%m-%d %H:%M}",
            error=self._reason,
        )

    @callback
    def _async_follow_entry(self, _: ConfigEntryChange, entry: ConfigEntry) -> None:
        if entry is not self._entry or entry.state is not ConfigEntryState.NOT_LOADED:
            return
        async_delete_issue(self._hass, entry, _KEY)
        if entry.disabled_by:
            async_end_outage(self._hass, entry)


# By entry ID, as attempts to set up come and go.
_OUTAGES: HassKey[dict[str, _Outage]] = HassKey(f"{DOMAIN}_outages")


@callback
def async_begin_outage(
    hass: HomeAssistant,
    entry: ConfigEntry,
    reason: str,
    last_success: float | None = None,
) -> None:
    """Take in that a poll failed, and tell the person once that has lasted.

    It lasts since the last success, if that is known and polls come by themselves.
    """
    outages = hass.data.setdefault(_OUTAGES, {})
    if outage := outages.get(entry.entry_id):
        outage.async_go_on(reason)
        return
    if last_success is None or entry.pref_disable_polling:
        last_success = monotonic()
    outages[entry.entry_id] = _Outage(hass, entry, reason, last_success)


@callback
def async_end_outage(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Take in that a poll succeeded, or that nobody polls any more."""
    if outage := hass.data.setdefault(_OUTAGES, {}).pop(entry.entry_id, None):
        outage.async_end()
