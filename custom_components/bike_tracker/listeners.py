"""Who listens to which tracker, told in portions the event loop can bear."""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback

from .const import LOGGER

# A few milliseconds of work on a fast machine, a few tens on a Raspberry Pi.
_TRACKERS_AT_A_TIME = 100


class TrackerListeners:
    """Calls those who listen to a tracker, and nobody else."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with nobody listening."""
        self._hass = hass
        self._entry = entry
        self._listeners: dict[str, list[CALLBACK_TYPE]] = {}
        self._waiting: dict[str, None] = {}
        self._calling = False

    @callback
    def async_add(self, unique_id: str, listener: CALLBACK_TYPE) -> Callable[[], None]:
        """Listen to a tracker; the function returned ends that."""
        self._listeners.setdefault(unique_id, []).append(listener)
        return partial(self._remove, unique_id, listener)

    @callback
    def async_call_all(self) -> None:
        """Call everybody."""
        self.async_call(self._listeners)

    @callback
    def async_call(self, unique_ids: Iterable[str]) -> None:
        """Call those who listen to these trackers.

        Few are called before this returns, many by and by.
        """
        self._waiting.update(
            (unique_id, None)
            for unique_id in unique_ids
            if unique_id in self._listeners
        )
        if self._calling:
            return
        self._call_some()
        if self._waiting:
            self._calling = True
            self._entry.async_create_task(
                self._hass, self._async_call_rest(), "call tracker listeners"
            )

    def _remove(self, unique_id: str, listener: CALLBACK_TYPE) -> None:
        listeners = self._listeners[unique_id]
        listeners.remove(listener)
        if not listeners:
            del self._listeners[unique_id]

    async def _async_call_rest(self) -> None:
        try:
            while self._waiting:
                await asyncio.sleep(0)
                self._call_some()
        finally:
            self._calling = False

    def _call_some(self) -> None:
        for _ in range(min(_TRACKERS_AT_A_TIME, len(self._waiting))):
            unique_id = next(iter(self._waiting))
            del self._waiting[unique_id]
            for listener in tuple(self._listeners.get(unique_id, ())):
                try:
                    listener()
                except Exception:  # noqa: BLE001 - the others are told all the same
                    LOGGER.exception("Unexpected error updating an entity")
