"""Who listens to which tracker."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, zip_longest

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback

from .backlog import Backlog
from .const import LOGGER
from .identity import name_of

# Fifteen milliseconds of work where each has nine entities, see Backlog.
_TRACKERS_AT_A_TIME = 100


class TrackerListeners:
    """Calls those who listen to a tracker, and nobody else.

    With 1,000 trackers of which 1 % changed a poll takes 5 ms instead of 11 ms with all
    called, or 57 ms if they also write all that they have.
    """

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with nobody listening."""
        self._entry = entry
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
        """Call the first listener of each of these trackers, then the second of each.

        Entities of one kind come one after the other, for which Python is quicker: 500
        trackers that all changed take 155 instead of 172 microseconds each.
        """
        listeners = [
            tuple(self._listeners.get(unique_id, ())) for unique_id in unique_ids
        ]
        for listener in chain.from_iterable(zip_longest(*listeners)):
            if listener is None:
                continue
            try:
                listener()
            except Exception:  # noqa: BLE001 - the others are told all the same
                name = name_of(self._entry)
                LOGGER.exception("%s: Unexpected error updating an entity", name)
