"""Trying to set up again, where Home Assistant would wait long or for the person."""

from datetime import datetime
from functools import partial
from typing import Final

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.exceptions import ConfigEntryAuthFailed
from homeassistant.helpers.event import async_call_later
from homeassistant.util.hass_dict import HassKey

from ..api import AuthenticationError, TrackingError
from ..const import DOMAIN, LOGGER
from ..registry.no_contact import async_begin_outage
from .clients import client_for_now
from .refused_sign_in import async_ask_person
from .waits import LONGEST_WAIT, NONE_FAILED, Row, obeyed

_NOT_SET_UP: Final = (ConfigEntryState.SETUP_RETRY, ConfigEntryState.SETUP_ERROR)
# What ends the wait of each entry, by its ID.
_CANCEL: HassKey[dict[str, CALLBACK_TYPE]] = HassKey(f"{DOMAIN}_set_up_again")


@callback
def async_set_up_again(
    hass: HomeAssistant,
    entry: ConfigEntry,
    error: BaseException | None,
    refused: Row = NONE_FAILED,
) -> None:
    """Set an account up sooner than Home Assistant, or at all after a refused sign-in."""
    if isinstance(error, AuthenticationError | ConfigEntryAuthFailed):
        refused = refused.another()
        seconds = async_ask_person(hass, entry, refused)
    else:
        seconds = obeyed(getattr(error, "retry_after", None), LONGEST_WAIT)
    waiting = hass.data.setdefault(_CANCEL, {})
    # Instead of an earlier wait.
    if cancel := waiting.get(entry.entry_id):
        cancel()
    job = HassJob(partial(_async_try, hass, entry, refused), cancel_on_shutdown=True)
    waiting[entry.entry_id] = async_call_later(hass, seconds, job)


async def _async_try(
    hass: HomeAssistant, entry: ConfigEntry, refused: Row, _now: datetime
) -> None:
    error = await _async_ask(hass, entry) if entry.state in _NOT_SET_UP else None
    # Meanwhile it may have been set up, switched off or removed.
    if entry.state not in _NOT_SET_UP:
        return
    if error is None:
        hass.config_entries.async_schedule_reload(entry.entry_id)
        return
    async_begin_outage(hass, entry, str(error))
    async_set_up_again(hass, entry, error, refused)


async def _async_ask(hass: HomeAssistant, entry: ConfigEntry) -> TrackingError | None:
    """Return why a set-up would fail: failing, it would take back requests."""
    try:
        with client_for_now(hass, entry.data) as client:
            await client.async_get_devices()
    except TrackingError as err:
        return err
    except Exception as err:  # noqa: BLE001 - nobody else would ever try again
        LOGGER.exception("%s: Unexpected error trying to set up again", entry.title)
        return TrackingError(type(err).__name__)
    return None
