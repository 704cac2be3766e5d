"""Something that is done once, a while after it was last asked for."""

from collections.abc import Callable
from dataclasses import dataclass

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback


@dataclass(slots=True, eq=False)
class Timer:
    """Does it, unless the entry is unloaded before."""

    hass: HomeAssistant
    entry: ConfigEntry
    action: Callable[[], None]
    _cancel: CALLBACK_TYPE | None = None

    def __post_init__(self) -> None:
        """Wait to be asked."""
        self.entry.async_on_unload(self.async_cancel)

    @property
    def is_scheduled(self) -> bool:
        """Return whether it will be done."""
        return self._cancel is not None

    @callback
    def async_schedule(self, seconds: float) -> None:
        """Do it after so many seconds, and not before."""
        self.async_cancel()
        job = HassJob(self._async_act, cancel_on_shutdown=True)
        # Home Assistant's own call_later is not among the timers it cancels as it stops.
        timer = self.hass.loop.call_later(seconds, self.hass.async_run_hass_job, job)
        self._cancel = timer.cancel

    @callback
    def async_cancel(self) -> None:
        """Do it no more."""
        cancel, self._cancel = self._cancel, None
        if cancel is not None:
            cancel()

    @callback
    def _async_act(self) -> None:
        self._cancel = None
        self.action()
