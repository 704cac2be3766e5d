"""Files of a config entry in Home Assistant's storage folder: what outlives a restart."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import cache
import os
import types
from typing import Any, ClassVar, Final, NamedTuple, get_args, get_type_hints, override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CoreState, HomeAssistant, callback
from homeassistant.helpers.json import json_bytes
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from orjson import Fragment

from ..api.models import Position
from ..const import DOMAIN, LOGGER
from ..tracking.account import log_errors
from ..tracking.guard import Guard
from ..tracking.import_2_0 import state_from_2_0
from ..tracking.log import Core, Log
from ..tracking.occurrences import Alarm, Occurrence, UpdateContext, kept
from ..tracking.ride_state import Ride, RideState
from ..tracking.state import Tracker, TrackerState

# Seconds until a change is written: of an event or an arming, of a bike under way or of any
# other occurrence, and of a report that says nothing else. The service has reports, and two
# of five bikes may send one each five minutes: these alone would be 2,000 writes a week.
SOON: Final = 10
LATER: Final = 5 * 60
SELDOM: Final = 60 * 60


def to_json(value: Any) -> Any:
    """Return what JSON holds of a value; named tuples without what is as by default."""
    if hasattr(value, "_fields"):
        defaults = value._field_defaults.items()
        fields = (field for field in value._asdict().items() if field not in defaults)
        return {name: to_json(item) for name, item in fields}
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    # Of degrees that is a centimetre: few services tell more.
    return round(value, 7) if isinstance(value, float) else value


def to_line(value: Any) -> Fragment:
    """Return a value as one line of a file: Home Assistant's indents are half of it."""
    return Fragment(json_bytes(to_json(value)))


@cache
def reader(kind: Any) -> Callable[[Any], Any]:
    """Return what makes values of this kind of what JSON holds, or raises."""
    match get_args(kind):
        case [known, types.NoneType]:
            read = reader(known)
            return lambda value: None if value is None else read(value)
        case [each, types.EllipsisType()]:
            read = reader(each)
            return lambda value: tuple(map(read, value))
    if isinstance(kind, type) and issubclass(kind, datetime):
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
        self._aside = f"{self.path}.unreadable"

    async def async_read(self) -> None:
        """Read the file; one that is not readable is set aside, and a new one begins."""
        self._entry.async_on_unload(self.async_close)
        try:
            if stored := await self.async_load():
                await self.hass.async_add_executor_job(self._restore, stored)
        except Exception as err:  # noqa: BLE001 - it costs what the file holds, no more
            await self._async_set_aside(type(err).__name__)

    async def _async_set_aside(self, why: str) -> None:
        with suppress(OSError):
            await self.hass.async_add_executor_job(os.replace, self.path, self._aside)
        LOGGER.warning(
            "%s: The %s is not readable (%s), a new one begins; it is kept as %s",
            self._entry.title,
            self.title,
            why,
            self._aside,
        )

    @callback
    def async_write_within(self, seconds: float) -> None:
        """Write within this time, or when Home Assistant stops."""
        at, due = self.hass.loop.time() + seconds, self._delay_handle
        # Home Assistant would put off a write that is due for one that has more time.
        if not self._read_only and (due is None or at < due.when()):
            self.async_delay_save(self.content, seconds)

    async def async_close(self) -> None:
        """Write what is not written yet, and nothing after that."""
        if self._delay_handle is not None:
            await self.async_save(await self.hass.async_add_executor_job(self.content))
        async with self._write_lock:
            # A write that was under way is over: whoever reads the file now reads all.
            # While Home Assistant stops it writes once more, at its end.
            if self.hass.state is not CoreState.stopping:
                self.make_read_only()

    @override
    async def async_remove(self) -> None:
        """Remove the file, and one that was not readable."""
        await super().async_remove()
        with suppress(OSError):
            await self.hass.async_add_executor_job(os.unlink, self._aside)

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return what is to be written. It is called beside the event loop."""

    @abstractmethod
    def _restore(self, stored: dict[str, Any]) -> None:
        """Take what was written, or raise. It is called beside the event loop."""


class Evaluation(NamedTuple):
    """Up to when triggers were evaluated, in UTC."""

    at: datetime
    """By the clock."""
    asked_at: datetime
    """By the time at which the newest answer was asked for."""


class TrackerStore(EntryStore):
    """Keeps the state of one account's trackers."""

    title = "state of trackers"

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with nothing."""
        super().__init__(hass, entry, version=2)
        self.trackers: dict[str, TrackerState] = {}
        """The state of each tracker by `uniqueId`, also of those that are not listed."""
        self.last_fired: dict[str, int] = {}
        """The sequence number of the last occurrence of each tracker that was fired."""
        self.evaluation: Evaluation | None = None

    @callback
    def async_follow(self, before: Tracker | None, after: Tracker) -> None:
        """Write what changed of a tracker, what happened first."""
        old, new = before and before.state, after.state
        if old is None or _happened(old) != _happened(new):
            self.async_write_within(SOON)
        elif after.ride_under_way or old.occurrences != new.occurrences:
            self.async_write_within(LATER)
        elif old is not new:
            self.async_write_within(SELDOM)

    def has_fired(self, unique_id: str, seq: int) -> bool:
        """Return whether an occurrence of a tracker was fired."""
        return seq <= self.last_fired.get(unique_id, 0)

    @callback
    def async_set_last_fired(self, unique_id: str, occurrence: Occurrence) -> None:
        """Set the last occurrence of a tracker that was fired."""
        self.last_fired[unique_id] = occurrence.seq
        self.async_write_within(SOON if occurrence.is_event else LATER)

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed."""
        self.last_fired.pop(unique_id, None)
        self.async_write_within(SOON)

    @override
    def content(self) -> dict[str, Any]:
        """Return what is to be written.

        The event loop may change more meanwhile: hence the copies. What was fired is copied
        first, so that a kill fires it again rather than never.
        """
        last_fired, states = dict(self.last_fired), {}
        for unique_id, state in dict(self.trackers).items():
            with log_errors(self._entry.title, "storing a tracker"):
                occurrences = kept(state.occurrences, last_fired.get(unique_id, 0))
                stored = state._replace(occurrences=occurrences).stored()
                states[unique_id] = to_line(stored)
        evaluation = to_json(self.evaluation)
        return {"last_fired": last_fired, "evaluation": evaluation, "trackers": states}

    @override
    def _restore(self, stored: dict[str, Any]) -> None:
        read = reader(TrackerState)
        trackers = {
            key: read(state if "ride_state" not in state else state_from_2_0(state))
            for key, state in stored["trackers"].items()
        }
        evaluation = reader(Evaluation | None)(stored["evaluation"])
        # All of it or nothing.
        self.last_fired, self.evaluation = stored["last_fired"], evaluation
        self.trackers = trackers

    @override
    async def _async_migrate_func(
        self, old_major_version: int, old_minor_version: int, old_data: dict[str, Any]
    ) -> dict[str, Any]:
        """Return what is kept of a file of 1.2; no older one is read."""
        trackers = {key: _of_1_2(old_data, key) for key in old_data["positions"]}
        return {"last_fired": {}, "evaluation": None, "trackers": trackers}


def _of_1_2(stored: dict[str, Any], unique_id: str) -> Any:
    """Return where a tracker was, how far it came, its alarms and its guard."""
    address, hardware = stored["address"], stored["hardware"].get(unique_id)
    beside = {"address": address.get(unique_id), **(hardware or {})}
    position = reader(Position)(stored["positions"][unique_id] | beside)
    track = stored["tracks"].get(unique_id, {})
    last = reader(Ride | None)(track.get("last"))
    ride_state = RideState(total=track.get("total"), ended=last)
    context = UpdateContext(position.fix_time or dt_util.utcnow())
    alarms = reader(tuple[Alarm, ...])(stored["alarms"].get(unique_id, ()))
    guard = reader(Guard | None)(stored["guard"].get(unique_id))
    log = Log(settled=Core(ride_state))
    state = TrackerState(alarms=alarms, log=log).with_reports([position], context)
    core = state.log.core._replace(guard=guard)
    log = state.stored().log._replace(settled=core)
    return to_json(state._replace(guard=guard, log=log))


def _happened(state: TrackerState) -> tuple[object, ...]:
    newest = reversed(state.occurrences)
    seq = next((known.seq for known in newest if known.is_event), 0)
    return seq, state.guard and state.guard.armed_at
