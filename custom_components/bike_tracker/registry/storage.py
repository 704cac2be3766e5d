"""Files of a config entry in Home Assistant's storage folder: what outlives a restart."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime
from functools import cache
from math import inf
import os
from types import UnionType
from typing import Any, ClassVar, Final, get_args, get_origin, get_type_hints, override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..api import Changes, Position
from ..const import DOMAIN, LOGGER
from ..tracking import Moment, Remembered, RideState, Story, Tracker

# Seconds until a change is written: of an occurrence or an arming, of a bike under way or
# of what a tracker says of itself, and of a report that says nothing else of a bike that
# stands. The service has reports, and two of five bikes may send one each five minutes:
# these alone would be 2,000 writes a week.
SOON: Final = 10
LATER: Final = 5 * 60
SELDOM: Final = 60 * 60

_VERSION: Final = 2

type Marks = list[Any]
"""How far triggers are with the trackers of an account, as it is written."""

MARKS: HassKey[Callable[[Collection[str]], Marks]] = HassKey(f"{DOMAIN}_marks_of")
"""Returns the marks of these trackers. It is called beside the event loop."""


def to_json(value: Any) -> Any:
    """Return what JSON holds of a value; named tuples without what is as by default."""
    if hasattr(value, "_fields"):
        defaults = value._field_defaults
        return {
            field: to_json(item)
            for field, item in zip(value._fields, value, strict=True)
            if field not in defaults or item != defaults[field]
        }
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


@cache
def reader(kind: Any) -> Callable[[Any], Any]:
    """Return what makes values of this kind of what JSON holds, or raises."""
    if isinstance(kind, UnionType):
        read = reader(get_args(kind)[0])
        return lambda value: None if value is None else read(value)
    if get_origin(kind) is tuple:
        read = reader(get_args(kind)[0])
        return lambda value: tuple(map(read, value))
    if kind is datetime:
        return datetime.fromisoformat
    if not hasattr(kind, "_fields"):
        return lambda value: value
    readers = {field: reader(hint) for field, hint in get_type_hints(kind).items()}
    return lambda value: kind(
        **{field: readers[field](value[field]) for field in readers.keys() & value}
    )


class EntryStore(Store[dict[str, Any]], ABC):
    """A file of one config entry, written as a whole some time after a change."""

    title: ClassVar[str]
    """What the log calls it."""

    def __init__(
        self, hass: HomeAssistant, entry: ConfigEntry, version: int, suffix: str = ""
    ) -> None:
        """Use the file of this entry."""
        super().__init__(
            hass,
            version,
            f"{DOMAIN}.{entry.entry_id}{suffix}",
            private=True,
            atomic_writes=True,
            serialize_in_event_loop=False,
        )
        self._entry = entry
        self._write_at = inf
        self._closed = False

    async def async_read(self) -> None:
        """Read the file; one that is not readable is set aside, and a new one begins."""
        self._entry.async_on_unload(self.async_close)
        try:
            if stored := await self.async_load():
                await self.hass.async_add_executor_job(self._restore, stored)
        except Exception as err:  # noqa: BLE001 - it costs what the file holds, no more
            with suppress(OSError):
                await self.hass.async_add_executor_job(
                    os.replace, self.path, self._aside
                )
            LOGGER.warning(
                "%s: The %s is not readable (%s), a new one begins; it is kept as %s",
                self._entry.title,
                self.title,
                type(err).__name__,
                self._aside,
            )

    @callback
    def async_write_within(self, seconds: float) -> None:
        """Write within this time, or when Home Assistant stops."""
        at = self.hass.loop.time() + seconds
        # Home Assistant would put off a write that is due for one that has more time.
        if at < self._write_at and not self._closed:
            self._write_at = at
            self.async_delay_save(self._to_save, seconds)

    async def async_close(self) -> None:
        """Write what is not written yet, and nothing after that."""
        self._closed = True
        if self._write_at < inf:
            await self.async_save(await self.hass.async_add_executor_job(self._to_save))
        async with self._write_lock:
            # A write that was under way is over: whoever reads the file now reads all.
            pass

    @override
    async def async_remove(self) -> None:
        """Remove the file, and one that was not readable."""
        await super().async_remove()
        with suppress(OSError):
            await self.hass.async_add_executor_job(os.unlink, self._aside)

    @property
    def _aside(self) -> str:
        return f"{self.path}.unreadable"

    def _to_save(self) -> dict[str, Any]:
        self._write_at = inf
        return self.content()

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return what is to be written. It is called beside the event loop."""

    @abstractmethod
    def _restore(self, stored: dict[str, Any]) -> None:
        """Take what was written, or raise. It is called beside the event loop."""


class TrackerStore(EntryStore):
    """Keeps the state of one account's trackers."""

    title = "state of trackers"

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with nothing."""
        super().__init__(hass, entry, _VERSION)
        self.remembered = Remembered()
        """What was read, as it became since."""
        # Those of triggers that did not ask for them yet, as they were written.
        self._marks: Marks = []

    @callback
    def take_marks(self) -> Marks:
        """Return how far triggers were when it was written, once."""
        marks, self._marks = self._marks, []
        return marks

    @callback
    def async_follow(self, changes: Changes[str, Tracker]) -> None:
        """Write what changed, what happened first."""
        delays = [
            _write_within(changes.before.get(unique_id), changes.after[unique_id])
            for unique_id in changes.keys & changes.after.keys()
        ]
        self.async_write_within(min(delays, default=inf))

    @override
    def content(self) -> dict[str, Any]:
        """Return what is to be written.

        The event loop may change more meanwhile: hence the copies. What was fired is copied
        first, so that a kill fires it again rather than never.
        """
        remembered, marks = self.remembered, list(self._marks)
        # Triggers that did not ask yet may do so once the account is set up. Theirs come
        # first: after a kill before that they go on with them, not with where they began.
        if marks_of := self.hass.data.get(MARKS):
            marks += marks_of(remembered.stories)
        fired = {key: dict(items) for key, items in dict(remembered.told).items()}
        return {"fired": fired, "trackers": self._trackers(), "marks": marks}

    def _trackers(self) -> dict[str, Any]:
        trackers = {}
        for unique_id, story in dict(self.remembered.stories).items():
            try:
                trackers[unique_id] = to_json(story)
            except Exception:  # noqa: BLE001 - it costs that tracker
                title = self._entry.title
                LOGGER.exception("%s: Unexpected error storing a tracker", title)
        return trackers

    @override
    def _restore(self, stored: dict[str, Any]) -> None:
        read, read_time = reader(Story), reader(datetime)
        self.remembered = Remembered(
            {key: read(story) for key, story in stored["trackers"].items()},
            {
                key: {kind: read_time(time) for kind, time in fired.items()}
                for key, fired in stored["fired"].items()
            },
        )
        self._marks = stored["marks"]

    @override
    async def _async_migrate_func(
        self, old_major_version: int, old_minor_version: int, old_data: dict[str, Any]
    ) -> dict[str, Any]:
        """Return positions and totals of a file of 1.2; what is older begins anew."""
        trackers: dict[str, Any] = {}
        if "told" in old_data:
            trackers = {key: _of_1_2(old_data, key) for key in old_data["positions"]}
        else:
            LOGGER.warning(
                "%s: The state of trackers is of version 1.1 or older, a new one begins",
                self._entry.title,
            )
        return {"fired": {}, "trackers": trackers, "marks": []}


def _of_1_2(stored: dict[str, Any], unique_id: str) -> dict[str, Any]:
    """Return what is known of a tracker where it was, and how far it came."""
    beside = {part: stored[part].get(unique_id) for part in ("hardware", "address")}
    position = reader(Position)(stored["positions"][unique_id] | beside)
    track = RideState(total=stored["tracks"].get(unique_id, {}).get("total"))
    moment = Moment(position.fix_time or dt_util.utcnow())
    story = Story(track=track).with_report(position, moment, is_news=False)
    written: dict[str, Any] = to_json(story)
    return written


def _write_within(before: Tracker | None, after: Tracker) -> float:
    """Return within how many seconds a tracker that changed is to be written."""
    if before is None or _happened(before) != _happened(after):
        return SOON
    if after.story.is_pending or before.story.since is not after.story.since:
        return LATER
    return SELDOM if before.story is not after.story else inf


def _happened(tracker: Tracker) -> tuple[object, ...]:
    story = tracker.story
    return story.alarms, story.ride_events, tracker.guarded_since, tracker.triggered
