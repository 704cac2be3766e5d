"""Who listens to which tracker."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, zip_longest

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback

from ..account import Tracker, Trackers
from ..api import News
from ..const import LOGGER
from ..identity import name_of
from ..portions import Portions

# Fifteen milliseconds of work where each has nine entities.
_TRACKERS_AT_A_TIME = 100


class TrackerListeners:
    """Calls those who listen to a tracker, and nobody else.

    Of 1,000 trackers that all reported, each takes a third less than with a signal of
    Home Assistant's dispatcher for each.
    """

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with nobody listening."""
        self._entry = entry
        self._listeners: dict[str, list[CALLBACK_TYPE]] = {}
        # None is that they are unavailable.
        self._told: Trackers | None = None
        self._calls = Portions(hass, entry, self._call, _TRACKERS_AT_A_TIME)

    @callback
    def async_add(self, unique_id: str, listener: CALLBACK_TYPE) -> Callable[[], None]:
        """Listen to a tracker; the function returned ends that."""
        listeners = self._listeners.setdefault(unique_id, [])
        listeners.append(listener)
        return partial(listeners.remove, listener)

    @callback
    def async_call_all(self) -> None:
        """Call everybody."""
        self._calls.async_add(self._listeners)

    @callback
    def async_tell(self, news: News[str, Tracker] | None) -> None:
        """Call those whose tracker is otherwise than what they were told last.

        None is that all trackers are unavailable.
        """
        told, self._told = self._told, None if news is None else news.now
        if told is None or news is None:
            self.async_call_all()
        else:
            self._calls.async_add(news.since(told))

    def _call(self, unique_ids: Sequence[str]) -> None:
        """Call the first listener of each of these trackers, then the second of each.

        Entities of one kind come one after the other, for which Python is quicker.
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
                LOGGER.exception(
                    "%s: Unexpected error updating an entity", name_of(self._entry)
                )
