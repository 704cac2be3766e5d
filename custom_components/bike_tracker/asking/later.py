"""Something that is done once, a while after it was last asked for."""

from collections.abc import Callable
from datetime import datetime

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later


class Later:
    """Does it, unless the entry is unloaded before."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        seconds: float,
        action: Callable[[], None],
    ) -> None:
        """Wait to be asked."""
        self._hass = hass
        self._seconds = seconds
        self._job = HassJob(self._async_act, cancel_on_shutdown=True)
        self._action = action
        self._cancel: CALLBACK_TYPE | None = None
        entry.async_on_unload(self.async_cancel)

    @property
    def is_scheduled(self) -> bool:
        """Return whether it will be done."""
        return self._cancel is not None

    @callback
    def async_schedule(self, seconds: float | None = None) -> None:
        """Do it after that time, or after so many seconds."""
        self.async_cancel()
        wait = self._seconds if seconds is None else seconds
        self._cancel = async_call_later(self._hass, wait, self._job)

    @callback
    def async_cancel(self) -> None:
        """Do it no more."""
        if self._cancel is not None:
            self._cancel()
            self._cancel = None

    @callback
    def _async_act(self, _now: datetime) -> None:
        self._cancel = None
        self._action()
