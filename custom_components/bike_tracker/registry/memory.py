"""What outlives a restart: each tracker's story, what was told of it, who is missing."""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any, override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey

from ..api import Changes
from ..api.models import timestamp
from ..const import DOMAIN
from ..tracking import Remembered, Tracker
from .marks_of_1_1 import async_take_marks_of_1_1
from .ride_book import RideBook
from .storage_file import LateFile
from .stored_stories import dict_in, from_json, to_json

type Marks = list[Any]
"""How far triggers are with the trackers of an account, as it is written."""

MARKS: HassKey[Callable[[Collection[str]], Marks]] = HassKey(f"{DOMAIN}_marks_of")
"""Returns the marks of these trackers. It is called beside the event loop."""


class Memory(LateFile):
    """Keeps what is remembered of one account's trackers."""

    title = "memory"
    delay = 10

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with nothing."""
        super().__init__(hass, entry)
        self.rides = RideBook(hass, entry)
        self.remembered = Remembered()
        """What was remembered when it was loaded, as it became since."""
        # Those of triggers that did not ask for them yet, as they were written.
        self._marks: Marks = []

    async def async_recall(self) -> Remembered:
        """Return what was remembered, as far as it is there and readable."""
        await self.rides.async_recall()
        if read := await self.async_read(_from_json):
            self.remembered, self._marks = read
        if marks := await async_take_marks_of_1_1(self.hass, self._entry):
            self._marks = self._marks or marks
            self.async_save_later()
        return self.remembered

    @callback
    def take_marks(self) -> Marks:
        """Return how far triggers were when it was written, once."""
        marks, self._marks = self._marks, []
        return marks

    @callback
    def async_follow(self, changes: Changes[str, Tracker]) -> None:
        """Write what is different, if that is to outlive a restart."""
        self.rides.async_follow(changes)
        if any(
            (before := changes.before.get(unique_id)) is None
            or before.story is not changes.after[unique_id].story
            for unique_id in changes.keys & changes.after.keys()
        ):
            self.async_save_later()

    @callback
    def async_forget(self, tracker: str) -> None:
        """Write that a tracker is forgotten, and forget its rides."""
        self.rides.async_forget(tracker)
        self.async_save_later()

    @override
    def content(self) -> dict[str, Any]:
        """Return what is to be written.

        The event loop may take in more meanwhile: hence the copies. What was told is
        copied first, so that a kill tells it again rather than never.
        """
        remembered, marks = self.remembered, list(self._marks)
        # Triggers that did not ask yet may do so once the account is set up. Theirs come
        # first: after a kill before that they go on with them, not with where they began.
        if marks_of := self.hass.data.get(MARKS):
            marks += marks_of(remembered.stories)
        told = {key: dict(items) for key, items in dict(remembered.told).items()}
        return {
            **to_json(dict(remembered.stories)),
            "told": told,
            "marks": marks,
        }


def _from_json(stored: object) -> tuple[Remembered, Marks]:
    """Return what is readable of a file that anybody may have written."""
    told = dict_in(stored, "told")
    marks = stored.get("marks") if isinstance(stored, dict) else None
    remembered = Remembered(
        stories=from_json(stored),
        told={key: _times(dict_in(told, key)) for key in told},
    )
    return remembered, marks if isinstance(marks, list) else []


def _times(values: dict[str, Any]) -> dict[str, datetime]:
    return {key: time for key, value in values.items() if (time := timestamp(value))}
