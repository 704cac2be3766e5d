"""A lasting outage, shown to the person."""

from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Final, NamedTuple

from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
    ConfigEntryState,
)
from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.event import async_call_later
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from .repair_issues import async_create_issue, async_delete_issue

_KEY: Final = "no_contact"
_SHOWN_AFTER: Final = timedelta(minutes=30)


class _Outage(NamedTuple):
    """An account that has not been heard of since."""

    began: float
    """By the clock that nobody puts right: that happens once a network is there."""
    reason: str
    """Why the newest poll failed."""
    stop: tuple[CALLBACK_TYPE, ...]

    @property
    def lasted(self) -> timedelta:
        return timedelta(seconds=monotonic() - self.began)


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
        outages[entry.entry_id] = outage._replace(reason=reason)
        if outage.lasted >= _SHOWN_AFTER:
            _async_show(hass, entry)
        return
    if last_success is None or entry.pref_disable_polling:
        last_success = monotonic()
    outage = _Outage(last_success, reason, ())
    show = HassJob(partial(_async_show, hass, entry), cancel_on_shutdown=True)
    outages[entry.entry_id] = outage._replace(
        stop=(
            async_call_later(hass, _SHOWN_AFTER - outage.lasted, show),
            # Not by the entry, which calls all who watch it: one must not leave meanwhile.
            async_dispatcher_connect(
                hass, SIGNAL_CONFIG_ENTRY_CHANGED, partial(_async_follow, hass, entry)
            ),
        )
    )


@callback
def async_end_outage(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Take in that a poll succeeded, or that nobody polls any more."""
    if outage := hass.data.get(_OUTAGES, {}).pop(entry.entry_id, None):
        for stop in outage.stop:
            stop()
        async_delete_issue(hass, entry, _KEY)


@callback
def _async_show(
    hass: HomeAssistant, entry: ConfigEntry, _now: datetime | None = None
) -> None:
    # An account that is unloaded needs no contact.
    if entry.state is not ConfigEntryState.NOT_LOADED:
        outage = hass.data[_OUTAGES][entry.entry_id]
        since = dt_util.as_local(dt_util.utcnow() - outage.lasted)
        async_create_issue(
            hass, entry, _KEY, since=f"{since:%Y-%m-%d %H:%M}", error=outage.reason
        )


@callback
def _async_follow(
    hass: HomeAssistant, entry: ConfigEntry, _: ConfigEntryChange, changed: ConfigEntry
) -> None:
    """Tell nobody of an account while it is unloaded."""
    if changed is entry and entry.state is ConfigEntryState.NOT_LOADED:
        async_delete_issue(hass, entry, _KEY)
        if entry.disabled_by:
            async_end_outage(hass, entry)
