"""What outlives a restart: each tracker's story, what was told of it, who is missing."""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.storage import Store
from homeassistant.util.hass_dict import HassKey

from ..account import Remembered
from ..api.models import number, timestamp
from ..const import DOMAIN, LOGGER
from ..identity import name_of
from .stories import dict_in, from_json, to_json

_VERSION = 1
# Never more often than this either, however much changes.
_SAVE_DELAY: Final = 10

type Marks = list[dict[str, Any]]
"""How far triggers are with the trackers of an account, ready to be written."""

MARKS: HassKey[Callable[[Collection[str]], Marks]] = HassKey(f"{DOMAIN}_marks_of")
"""Returns the marks of these trackers. It is called beside the event loop."""


class Memory:
    """Keeps what one account's entry remembers in Home Assistant's storage folder."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Use the file of this entry."""
        self._entry = entry
        self._store = Store[dict[str, Any]](
            hass,
            _VERSION,
            f"{DOMAIN}.{entry.entry_id}",
            private=True,
            atomic_writes=True,
            serialize_in_event_loop=False,
        )
        self.remembered = Remembered()
        """What was remembered when it was loaded, as it became since."""
        # Those of triggers that did not ask for them yet, as they were written.
        self._marks: Marks = []
        self._unsaved = False
        self._closed = False

    async def async_load(self) -> Remembered:
        """Return what was remembered, as far as it is there and readable."""
        try:
            stored = await self._store.async_load()
        except Exception as err:  # noqa: BLE001 - it costs what is remembered, no more
            name = name_of(self._entry)
            LOGGER.warning("%s: What was remembered is not readable: %s", name, err)
        else:
            job = self._store.hass.async_add_executor_job(_from_json, stored)
            self.remembered, self._marks = await job
        return self.remembered

    @callback
    def take_marks(self) -> Marks:
        """Return how far triggers were when it was written, once."""
        marks, self._marks = self._marks, []
        return marks

    @callback
    def async_save_later(self) -> None:
        """Write within ten seconds, or when Home Assistant stops."""
        if not self._unsaved and not self._closed:
            self._unsaved = True
            self._store.async_delay_save(self._to_save, _SAVE_DELAY)

    async def async_save(self) -> None:
        """Write now."""
        data = await self._store.hass.async_add_executor_job(self._to_save)
        await self._store.async_save(data)

    async def async_close(self) -> None:
        """Write now what is not written yet, and nothing after that."""
        self._closed = True
        if self._unsaved:
            await self.async_save()

    async def async_remove(self) -> None:
        """Delete the file."""
        await self._store.async_remove()

    def _to_save(self) -> dict[str, Any]:
        """Return what is to be written.

        Runs beside the event loop, which may take in more meanwhile: hence the copies.
        What was told is copied first, so that a kill tells it again rather than never.
        """
        self._unsaved = False
        remembered, marks = self.remembered, list(self._marks)
        # Triggers that did not ask yet may do so once the account is set up. Theirs come
        # first: after a kill before that they go on with them, not with where they began.
        if marks_of := self._store.hass.data.get(MARKS):
            marks += marks_of(remembered.stories)
        told = {key: dict(items) for key, items in dict(remembered.told).items()}
        return {
            **to_json(dict(remembered.stories)),
            "missing": dict(remembered.missing),
            "told": told,
            "marks": marks,
        }


def _from_json(stored: object) -> tuple[Remembered, Marks]:
    """Return what is readable of a file that anybody may have written."""
    missing, told = dict_in(stored, "missing"), dict_in(stored, "told")
    marks = stored.get("marks") if isinstance(stored, dict) else None
    remembered = Remembered(
        stories=from_json(stored),
        missing={key: number(seconds, 0) or 0 for key, seconds in missing.items()},
        told={key: _times(dict_in(told, key)) for key in told},
    )
    marks = marks if isinstance(marks, list) else []
    return remembered, [mark for mark in marks if isinstance(mark, dict)]


def _times(values: dict[str, Any]) -> dict[str, datetime]:
    return {key: time for key, value in values.items() if (time := timestamp(value))}
