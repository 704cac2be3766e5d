"""When trackers that come back are shown where they are, and what happened is told."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import CoreState, HomeAssistant, callback
from homeassistant.helpers.start import async_at_started

from .timer import Timer

# Automations begin to listen when Home Assistant has started, all of them in a moment.
_SECONDS: Final = 5


@dataclass(slots=True, eq=False)
class ComingBack:
    """Waits until the last entity is there, Home Assistant has started, and five seconds."""

    hass: HomeAssistant
    entry: ConfigEntry
    move: Callable[[], None]
    """Lets trackers move."""
    tell: Callable[[], None]
    """Tells once what could not be told before Home Assistant had started."""
    _timer: Timer = field(init=False)
    _has_started: bool = field(init=False)

    def __post_init__(self) -> None:
        """Wait to be asked to wait, or for Home Assistant to start."""
        self._has_started = self.hass.state is CoreState.running
        self._timer = Timer(self.hass, self.entry, self._async_act)
        self.entry.async_on_unload(async_at_started(self.hass, self._async_on_start))

    @property
    def automations_listen(self) -> bool:
        """Return whether what happens is noticed, once it is told."""
        return self._has_started and self.hass.state is CoreState.running

    @callback
    def async_wait(self) -> None:
        """Wait for what came back now, unless that is done already."""
        if not self._timer.is_scheduled:
            self._timer.async_schedule(_SECONDS)

    @callback
    def async_entity_added(self) -> None:
        """Take in that there is one more entity, which may be one that comes back."""
        if self._timer.is_scheduled:
            self._timer.async_schedule(_SECONDS)

    @callback
    def _async_on_start(self, _hass: HomeAssistant) -> None:
        if not self._has_started:
            self._timer.async_schedule(_SECONDS)

    @callback
    def _async_act(self) -> None:
        if self.entry.state is not ConfigEntryState.LOADED:
            self._timer.async_schedule(_SECONDS)
        elif self.hass.state is CoreState.running:
            self.move()
            if not self._has_started:
                self._has_started = True
                self.tell()
