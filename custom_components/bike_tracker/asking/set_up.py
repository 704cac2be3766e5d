"""Trying to set up again, where Home Assistant would wait long or for the person."""

from datetime import datetime
from typing import Final

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later
from homeassistant.util.hass_dict import HassKey

from ..api import AuthenticationError, TrackingError
from ..const import DOMAIN, LOGGER
from ..fleet.outage import async_begin_outage
from ..identity import name_of
from .clients import client_for_now
from .sign_in import SignIn
from .waits import LONGEST_WAIT, obeyed

_NOT_SET_UP: Final = (ConfigEntryState.SETUP_RETRY, ConfigEntryState.SETUP_ERROR)
# What ends the wait of each entry, by its ID.
_CANCEL: HassKey[dict[str, CALLBACK_TYPE]] = HassKey(f"{DOMAIN}_set_up_again")


class SetUpAgain:
    """Sets an account up within minutes after the service is well again.

    Home Assistant itself waits up to 10 minutes, and after a refused sign-in for ever.
    """

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with a sign-in that nobody refused."""
        self._hass = hass
        self._entry = entry
        self._sign_in = SignIn(hass, entry)

    @callback
    def async_after_failure(self, asked_for: float | None = None) -> None:
        """Try again after the service failed, or when it asked for it."""
        self._async_wait(obeyed(asked_for or 0, LONGEST_WAIT))

    @callback
    def async_after_refusal(self) -> None:
        """Try again after the sign-in was refused."""
        self._async_wait(self._sign_in.async_fail())

    def _is_needed(self) -> bool:
        return self._entry.state in _NOT_SET_UP

    @callback
    def _async_wait(self, seconds: float) -> None:
        """Wait, instead of an earlier wait for the same entry."""
        waiting = self._hass.data.setdefault(_CANCEL, {})
        if cancel := waiting.pop(self._entry.entry_id, None):
            cancel()
        waiting[self._entry.entry_id] = async_call_later(
            self._hass, seconds, HassJob(self._async_try, cancel_on_shutdown=True)
        )

    async def _async_try(self, _now: datetime) -> None:
        del self._hass.data[_CANCEL][self._entry.entry_id]
        if not self._is_needed():
            return
        error = await self._async_ask()
        if not self._is_needed():
            # Meanwhile it was set up, or switched off or removed.
            return
        if error is None:
            self._hass.config_entries.async_schedule_reload(self._entry.entry_id)
            return
        async_begin_outage(self._hass, self._entry, str(error))
        if isinstance(error, AuthenticationError):
            self.async_after_refusal()
        else:
            self.async_after_failure(error.retry_after)

    async def _async_ask(self) -> TrackingError | None:
        """Return why a set-up would fail: failing, it would take back requests."""
        try:
            with client_for_now(self._hass, self._entry.data) as client:
                await client.async_get_devices()
        except TrackingError as err:
            return err
        except Exception as err:  # noqa: BLE001 - nobody else would ever try again
            LOGGER.exception(
                "%s: Unexpected error trying to set up again", name_of(self._entry)
            )
            return TrackingError(type(err).__name__)
        return None
