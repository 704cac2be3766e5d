"""When trackers that come back are shown where they are, and what happened is told."""

from collections.abc import Callable
from typing import Final

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import CoreState, HomeAssistant, callback
from homeassistant.helpers.start import async_at_started

from ..asking.timer import Timer

# Automations begin to listen when Home Assistant has started, all of them in a moment.
_SECONDS: Final = 5


class ComingBack:
    """Waits until the last entity is there, Home Assistant has started, and five seconds."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        move: Callable[[], None],
        tell: Callable[[], None],
    ) -> None:
        """Wait to be asked to wait, or for Home Assistant to start.

        `move` lets trackers move, and `tell` tells once what could not be told before.
        """
        self._hass = hass
        self._entry = entry
        self._move = move
        self._tell = tell
        self._has_started = hass.state is CoreState.running
        self._later = Timer(hass, entry, _SECONDS, self._async_act)
        entry.async_on_unload(async_at_started(hass, self._async_on_start))

    @property
    def automations_listen(self) -> bool:
        """Return whether what happens is noticed, once it is told."""
        return self._has_started and self._hass.state is CoreState.running

    @callback
    def async_wait(self) -> None:
        """Wait for what came back now, unless that is done already."""
        if not self._later.is_scheduled:
            self._later.async_schedule()

    @callback
    def async_entity_added(self) -> None:
        """Take in that there is one more entity, which may be one that comes back."""
        if self._later.is_scheduled:
            self._later.async_schedule()

    @callback
    def _async_on_start(self, _hass: HomeAssistant) -> None:
        if not self._has_started:
            self._later.async_schedule()

    @callback
    def _async_act(self) -> None:
        if self._entry.state is not ConfigEntryState.LOADED:
            self._later.async_schedule()
        elif self._hass.state is CoreState.running:
            self._move()
            if not self._has_started:
                self._has_started = True
                self._tell()
