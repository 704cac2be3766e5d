"""Trying to set up again, where Home Assistant would wait long or for the person."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.exceptions import ConfigEntryAuthFailed
from homeassistant.helpers.event import async_call_later
from homeassistant.util.hass_dict import HassKey

from ..api import AuthenticationError, TrackingError
from ..const import DOMAIN, LOGGER
from ..fleet.no_contact import async_begin_outage
from ..identity import name_of
from .clients import client_for_now
from .refused_sign_in import SignIn
from .waits import LONGEST_WAIT, obeyed

_NOT_SET_UP: Final = (ConfigEntryState.SETUP_RETRY, ConfigEntryState.SETUP_ERROR)
# What ends the wait of each entry, by its ID.
_CANCEL: HassKey[dict[str, CALLBACK_TYPE]] = HassKey(f"{DOMAIN}_set_up_again")


@callback
def async_set_up_again(
    hass: HomeAssistant, entry: ConfigEntry, error: BaseException | None
) -> None:
    """Set an account up sooner than Home Assistant, or at all after a refused sign-in."""
    _SetUp(hass, entry, SignIn(hass, entry)).async_after(error)


@dataclass(frozen=True, slots=True)
class _SetUp:
    hass: HomeAssistant
    entry: ConfigEntry
    sign_in: SignIn

    @callback
    def async_after(self, error: BaseException | None) -> None:
        """Wait, instead of an earlier wait for the same entry."""
        if isinstance(error, AuthenticationError | ConfigEntryAuthFailed):
            seconds = self.sign_in.async_fail()
        else:
            seconds = obeyed(getattr(error, "retry_after", None), LONGEST_WAIT)
        waiting = self.hass.data.setdefault(_CANCEL, {})
        if cancel := waiting.pop(self.entry.entry_id, None):
            cancel()
        waiting[self.entry.entry_id] = async_call_later(
            self.hass, seconds, HassJob(self._async_try, cancel_on_shutdown=True)
        )

    async def _async_try(self, _now: datetime) -> None:
        del self.hass.data[_CANCEL][self.entry.entry_id]
        error = await self._async_ask() if self._is_needed() else None
        # Meanwhile it may have been set up, switched off or removed.
        if not self._is_needed():
            return
        if error is None:
            self.hass.config_entries.async_schedule_reload(self.entry.entry_id)
            return
        async_begin_outage(self.hass, self.entry, str(error))
        self.async_after(error)

    def _is_needed(self) -> bool:
        return self.entry.state in _NOT_SET_UP

    async def _async_ask(self) -> TrackingError | None:
        """Return why a set-up would fail: failing, it would take back requests."""
        try:
            with client_for_now(self.hass, self.entry.data) as client:
                await client.async_get_devices()
        except TrackingError as err:
            return err
        except Exception as err:  # noqa: BLE001 - nobody else would ever try again
            LOGGER.exception(
                "%s: Unexpected error trying to set up again", name_of(self.entry)
            )
            return TrackingError(type(err).__name__)
        return None
