"""Who listens to which tracker."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback

from .backlog import Backlog
from .const import LOGGER

# A millisecond of work or two. Larger portions cost more, not less: then the recorder has to
# wrest its turn from the event loop.
_TRACKERS_AT_A_TIME = 25


class TrackerListeners:
    """Calls those who listen to a tracker, and nobody else."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with nobody listening."""
        self._listeners: dict[str, list[CALLBACK_TYPE]] = {}
        self._calls = Backlog(
            hass, entry, "call tracker listeners", self._call, _TRACKERS_AT_A_TIME
        )

    @callback
    def async_add(self, unique_id: str, listener: CALLBACK_TYPE) -> Callable[[], None]:
        """Listen to a tracker; the function returned ends that."""
        self._listeners.setdefault(unique_id, []).append(listener)
        return partial(self._remove, unique_id, listener)

    @callback
    def async_call_all(self) -> None:
        """Call everybody."""
        self._calls.async_add(self._listeners)

    @callback
    def async_call(self, unique_ids: Iterable[str]) -> None:
        """Call those who listen to these trackers."""
        self._calls.async_add(unique_ids)

    def _remove(self, unique_id: str, listener: CALLBACK_TYPE) -> None:
        listeners = self._listeners[unique_id]
        listeners.remove(listener)
        if not listeners:
            del self._listeners[unique_id]

    def _call(self, unique_ids: Sequence[str]) -> None:
        for unique_id in unique_ids:
            for listener in tuple(self._listeners.get(unique_id, ())):
                try:
                    listener()
                except Exception:  # noqa: BLE001 - the others are told all the same
                    LOGGER.exception("Unexpected error updating an entity")
