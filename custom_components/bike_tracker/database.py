"""The database of an account: one SQLite file with states and rides."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from itertools import takewhile
import json
from operator import attrgetter
import os
from pathlib import Path
import sqlite3
from threading import Lock
from typing import Any, Final, NamedTuple

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.exceptions import (
    ConfigEntryError,
    ConfigEntryNotReady,
    HomeAssistantError,
)
from homeassistant.helpers.storage import STORAGE_DIR
from homeassistant.util import dt as dt_util

from .const import DOMAIN, LOGGER
from .devices import async_create_issue, async_delete_issue
from .tracking.account import log_errors
from .tracking.distance import Fix
from .tracking.import_2_0 import state_from_2_0
from .tracking.occurrences import Occurrence, kept
from .tracking.ride_state import Ride
from .tracking.state import Tracker, TrackerState
from .tracking.stored import reader, to_json

# Seconds until a change is written: an event or an arming; a ride under way or a flag; any
# other report. Two of five bikes may report every five minutes while they stand: 2,000
# writes a week, although the service still has these reports after a power cut.
SOON: Final = 10
LATER: Final = 5 * 60
SELDOM: Final = 60 * 60
_RETRY: Final = 60
_REPLACED: Final = "database_replaced"

_VERSION: Final = 1
_APPLICATION_ID: Final = 0x42696B65
# Seconds that another program may lock the file.
BUSY_SECONDS: Final = 2
# A committed transaction survives a power cut, and deleted rows are overwritten.
_PRAGMAS: Final = {
    # Smaller pages: a changed state is a quarter as many bytes in the log.
    "page_size": 1_024,
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "secure_delete": "ON",
}
SCHEMA: Final = f"""
BEGIN IMMEDIATE;
CREATE TABLE tracker (
    unique_id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    last_fired INTEGER NOT NULL,
    backfill TEXT
);
CREATE TABLE ride (
    tracker TEXT NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    distance REAL NOT NULL,
    maximum_speed REAL,
    start_place TEXT,
    end_place TEXT,
    route TEXT
);
CREATE INDEX ride_times ON ride (tracker, start, "end");
CREATE TABLE account (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {_VERSION};
COMMIT;
"""
_LAST_RIDES: Final = """
SELECT * FROM ride
JOIN (SELECT tracker, max(start) AS start FROM ride GROUP BY tracker)
USING (tracker, start)
"""
_ADD_RIDE: Final = "INSERT INTO ride VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_SET_TRACKER: Final = """
INSERT INTO tracker (unique_id, state, last_fired, backfill) VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET
    state = excluded.state, last_fired = excluded.last_fired, backfill = excluded.backfill
"""
_SET_VALUE: Final = """
INSERT INTO account (name, value) VALUES (?, ?)
ON CONFLICT DO UPDATE SET value = excluded.value
"""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_UNTIL: Final = reader(datetime | None)
_FIX: Final = reader(Fix)
_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)


class Evaluation(NamedTuple):
    """The time up to which triggers were evaluated, in UTC."""

    at: datetime
    """By the clock."""
    asked_at: datetime
    """By the start of the newest request that was answered."""


class _NewerVersionError(Exception):
    """A newer version of the integration wrote the file."""


@dataclass(slots=True)
class Content:
    """The part of the database that is kept in memory."""

    trackers: dict[str, TrackerState] = field(default_factory=dict)
    """The state of each tracker by `uniqueId`, listed or not."""
    last_fired: dict[str, int] = field(default_factory=dict)
    """The sequence number of the last occurrence that was fired, by `uniqueId`."""
    backfill: dict[str, datetime | None] = field(default_factory=dict)
    """The end of the time from which older rides are missing, None if none are."""
    last_rides: dict[str, Ride] = field(default_factory=dict)
    """The newest ride in the file as it was opened, or as rides from before came."""
    evaluation: Evaluation | None = None


class _BookedRides(NamedTuple):
    """The rides of a tracker from a time on: they replace the rides in the file."""

    since: datetime
    rides: Sequence[Ride]

    def keeps(self, ride: Ride) -> bool:
        """Return whether an older ride stays; a ride is known by its start."""
        starts = {it.started_at for it in self.rides}
        return ride.started_at < self.since and ride.started_at not in starts

    def after(self, before: _BookedRides | None) -> _BookedRides:
        """Return both replacements as one."""
        if before is None:
            return self
        rides = (*filter(self.keeps, before.rides), *self.rides)
        return _BookedRides(min(self.since, before.since), rides)

    def merged(self, known: Iterable[Ride]) -> list[Ride]:
        """Return rides of the file with the replacements that went anywhere."""
        return [
            *filter(self.keeps, known),
            *filter(attrgetter("distance"), self.rides),
        ]


class _Row(NamedTuple):
    """A tracker as one transaction writes it."""

    state: TrackerState
    last_fired: int
    backfill: str | None

    def values(self, unique_id: str) -> tuple[object, ...]:
        """Return the values of the row."""
        occurrences = kept(self.state.occurrences, self.last_fired)
        state = self.state._replace(occurrences=occurrences).stored()
        return unique_id, _json(state), self.last_fired, self.backfill


class _Changes(NamedTuple):
    """What one transaction writes, by `uniqueId`."""

    rows: Mapping[str, _Row | None]
    """None deletes the row."""
    rides: Mapping[str, _BookedRides]
    evaluation: Evaluation | None


class _ForeignFileError(sqlite3.DatabaseError):
    """Another program's database has the name of ours."""

    sqlite_errorcode = sqlite3.SQLITE_NOTADB


class File:
    """The SQLite file. Its methods block: the executor calls them."""

    def __init__(self, path: Path, title: str) -> None:
        """Take the path and the title for the log."""
        self.path = path
        self._title = title
        # A canceled query may still run while the next one begins.
        self._one_at_a_time = Lock()
        self._connection: sqlite3.Connection | None = None

    @property
    def is_open(self) -> bool:
        """Return whether the file is open."""
        return self._connection is not None

    def open(self) -> Content:
        """Open or create the file, and return what it holds."""
        with self._one_at_a_time:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, check_same_thread=False
            )
            try:
                _prepare(connection)
                _import_2_0(connection, self.path, self._title)
                content = _read(connection, self._title)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            return content

    def run[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run one transaction."""
        with self._one_at_a_time:
            if self._connection is None:
                raise sqlite3.OperationalError("closed")
            with self._connection:
                return work(self._connection)

    def checkpoint(self) -> None:
        """Move everything into the file itself and empty its log."""
        with self._one_at_a_time:
            if self._connection:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file."""
        with self._one_at_a_time:
            if self._connection:
                self._connection.close()
                self._connection = None

    def set_aside(self) -> None:
        """Rename a file that SQLite calls malformed."""
        with suppress(sqlite3.Error):
            self.close()
        name = f"{self.path.name}.{dt_util.utcnow():%Y%m%dT%H%M%S.%fZ}"
        self.path.replace(self.path.with_name(name))
        for suffix in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                beside = self.path.with_name(self.path.name + suffix)
                beside.replace(self.path.with_name(name + suffix))

    def replaced(self) -> str | None:
        """Return the newest file that was set aside, None if none exists."""
        files = self.path.parent.glob(f"{self.path.name}.*Z")
        return str(max(files, default="")) or None

    def size(self) -> int:
        """Return the size of the file and its log in bytes."""
        names = (self.path.name, f"{self.path.name}-wal")
        files = map(self.path.with_name, names)
        return sum(file.stat().st_size for file in files if file.exists())


class Database:
    """Keeps the states and rides of one account."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Prepare the file of this entry."""
        self.content = Content()
        self.written_at: datetime | None = None
        self._hass = hass
        self._entry = entry
        self._file = File(_path(hass, entry), entry.title)
        self._lock = asyncio.Lock()
        self._changed: set[str] = set()
        self._rides: dict[str, _BookedRides] = {}
        """Rides that are not written yet."""
        self._timer: asyncio.TimerHandle | None = None
        self._may_write = asyncio.Event()
        """Set while the file is open and no backup is made."""
        self._is_failing = False

    @property
    def title(self) -> str:
        """Return the name of the account for the log."""
        return self._entry.title

    async def async_open(self) -> None:
        """Read the file, or raise what Home Assistant does about it."""
        try:
            self.content = await self._async_open()
        except _NewerVersionError as err:
            raise ConfigEntryError(
                translation_domain=DOMAIN,
                translation_key="newer_database",
                translation_placeholders={"file": str(self._file.path)},
            ) from err
        except (OSError, sqlite3.Error) as err:
            raise ConfigEntryNotReady(
                translation_domain=DOMAIN,
                translation_key="database_not_ready",
                translation_placeholders={"error": _text(err)},
            ) from err
        self._may_write.set()
        self._entry.async_on_unload(self.async_close)
        self._entry.async_on_unload(
            self._hass.bus.async_listen(
                EVENT_HOMEASSISTANT_FINAL_WRITE, self._async_final_write
            )
        )

    async def _async_open(self) -> Content:
        run = self._hass.async_add_executor_job
        try:
            content = await run(self._file.open)
        except sqlite3.DatabaseError as err:
            if not _is_malformed(err):
                raise
            await run(self._file.set_aside)
            content = await run(self._file.open)
        await self._async_check_replaced()
        return content

    async def _async_check_replaced(self) -> None:
        """Create the repair issue as long as a malformed file exists."""
        hass, entry = self._hass, self._entry
        if file := await hass.async_add_executor_job(self._file.replaced):
            async_create_issue(hass, entry, _REPLACED, file=file)
        else:
            async_delete_issue(hass, entry, _REPLACED)

    # Changes

    @callback
    def async_follow(self, before: Tracker | None, after: Tracker) -> None:
        """Store a tracker that changed."""
        unique_id, since = after.device.unique_id, after.rides_since
        if after.position and unique_id not in self.content.backfill:
            self.content.backfill[unique_id] = dt_util.utcnow()
        known = before.rides if before and before.position else None
        # Most reports end no ride.
        if since and known != after.rides:
            new = _BookedRides(since, after.rides)
            self._rides[unique_id] = new.after(self._rides.get(unique_id))
        if seconds := _seconds_until_write(before, after):
            self._async_changed(unique_id, seconds)

    def has_fired(self, unique_id: str, seq: int) -> bool:
        """Return whether an occurrence of a tracker was fired."""
        return seq <= self.content.last_fired.get(unique_id, 0)

    @callback
    def async_set_last_fired(self, unique_id: str, occurrence: Occurrence) -> None:
        """Set the last occurrence of a tracker that was fired."""
        self.content.last_fired[unique_id] = occurrence.seq
        self._async_changed(unique_id, SOON if occurrence.is_event else LATER)

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Delete a tracker whose device was removed, and its rides."""
        self.content.last_fired.pop(unique_id, None)
        self.content.backfill.pop(unique_id, None)
        self.content.last_rides.pop(unique_id, None)
        self._rides[unique_id] = _BookedRides(_BEGINNING, ())
        self._async_changed(unique_id, SOON)

    async def async_book(
        self, unique_id: str, rides: Sequence[Ride], until: datetime | None
    ) -> None:
        """Add rides from before a tracker was set up, except those that are known.

        The time until which rides are missing is written with them: a kill neither loses
        nor doubles a ride.
        """
        await self._may_write.wait()
        async with self._lock:
            # Overlaps are looked for in the file.
            await self._async_write()
            row = self._row(unique_id)
            if row is None or unique_id not in self.content.backfill:
                return
            row = row._replace(backfill=_json(until))
            if await self._async_try(partial(_add_rides, unique_id, rides, row)):
                self.content.backfill[unique_id] = until
                last_rides = self.content.last_rides
                known = [last_rides[unique_id]] if unique_id in last_rides else []
                if found := sorted([*rides, *known], key=attrgetter("started_at")):
                    last_rides[unique_id] = found[-1]

    @callback
    def _async_changed(self, unique_id: str, seconds: float) -> None:
        self._changed.add(unique_id)
        self.async_write_within(seconds)

    @callback
    def async_write_within(self, seconds: float) -> None:
        """Write within this time, or when Home Assistant stops."""
        loop = self._hass.loop
        at = loop.time() + seconds
        if not self._may_write.is_set():
            return
        if self._timer is None or at < self._timer.when():
            self._cancel_timer()
            self._timer = loop.call_at(at, self._async_on_time)

    @callback
    def _cancel_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    @callback
    def _async_on_time(self) -> None:
        self._timer = None
        self._hass.async_create_task(self.async_write(), f"{DOMAIN} write")

    async def async_write(self) -> None:
        """Write what changed, unless writes are held."""
        async with self._lock:
            if self._may_write.is_set():
                await self._async_write()

    async def _async_write(self) -> None:
        """Write in one transaction; the lock is held."""
        self._cancel_timer()
        changed, self._changed = self._changed, set()
        rides, self._rides = self._rides, {}
        rows = {key: self._row(key) for key in changed}
        changes = _Changes(rows, rides, self.content.evaluation)
        if await self._async_try(partial(_write, changes, self.title)):
            if any(booked.since == _BEGINNING for booked in rides.values()):
                # The log of the file still has the deleted rows.
                await self._async_try(None)
            return
        self._changed |= changed
        for unique_id, booked in rides.items():
            later = self._rides.get(unique_id)
            self._rides[unique_id] = later.after(booked) if later else booked

    def _row(self, unique_id: str) -> _Row | None:
        """Return the row of a tracker, None if it was deleted."""
        content = self.content
        if (state := content.trackers.get(unique_id)) is None:
            return None
        known = unique_id in content.backfill
        backfill = _json(content.backfill[unique_id]) if known else None
        return _Row(state, content.last_fired.get(unique_id, 0), backfill)

    async def _async_try(
        self, work: Callable[[sqlite3.Connection], None] | None
    ) -> bool:
        """Run a transaction, or a checkpoint; return whether it succeeded."""
        file = self._file
        job = partial(file.run, work) if work else file.checkpoint
        try:
            await self._hass.async_add_executor_job(job)
        except (OSError, sqlite3.Error) as err:
            await self._async_failed(err)
            return False
        if self._is_failing:
            LOGGER.warning("%s: The database can be written again", self.title)
        self._is_failing = False
        self.written_at = dt_util.utcnow()
        return True

    async def _async_failed(self, err: Exception) -> None:
        """Log the first of several errors, and try again later."""
        if not self._is_failing:
            LOGGER.warning(
                "%s: The database cannot be written (%s); it is tried again each minute",
                self.title,
                _text(err),
            )
        self._is_failing = True
        if _is_malformed(err):
            await self._async_replace()
        self.async_write_within(_RETRY)

    async def _async_replace(self) -> None:
        """Begin a new file with the states that are known."""
        run = self._hass.async_add_executor_job
        with suppress(OSError, sqlite3.Error):
            await run(self._file.set_aside)
            await run(self._file.open)
            self._changed |= self.content.trackers.keys()
            await self._async_check_replaced()

    # Queries

    async def rides(self, unique_id: str, start: datetime, end: datetime) -> list[Ride]:
        """Return the rides of a tracker that touch a time, in order of their start."""
        work = partial(_rides_between, unique_id, start, end)
        rides = await self._async_query(work)
        if new := self._rides.get(unique_id):
            rides = new.merged(rides)
        touching = (it for it in rides if it.started_at < end and it.moved_at > start)
        return sorted(touching, key=attrgetter("started_at"))

    async def last_ride(self, unique_id: str) -> Ride | None:
        """Return the newest ride of a tracker."""
        ride = await self._async_query(partial(_last_ride, unique_id))
        new = self._rides.get(unique_id)
        if new is None:
            return ride
        rides = new.merged([ride] if ride else [])
        return max(rides, key=attrgetter("started_at"), default=None)

    async def async_info(self) -> dict[str, Any]:
        """Return size, version and age, for diagnostics and system health."""
        return {
            "rides": await self._async_query(_count_rides),
            "bytes": await self._hass.async_add_executor_job(self._file.size),
            "version": _VERSION,
            "written_at": self.written_at,
            "is_failing": self._is_failing,
        }

    async def _async_query[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        async with self._lock:
            try:
                job = partial(self._file.run, work)
                return await self._hass.async_add_executor_job(job)
            except (OSError, sqlite3.Error) as err:
                if _is_malformed(err):
                    await self._async_failed(err)
                raise HomeAssistantError(
                    translation_domain=DOMAIN,
                    translation_key="database_not_readable",
                    translation_placeholders={"error": _text(err)},
                ) from err

    # Backups and the end

    async def async_hold(self) -> None:
        """Write everything into the file, then nothing until `async_release`."""
        async with self._lock:
            await self._async_write()
            await self._async_try(None)
            self._may_write.clear()
            self._cancel_timer()

    @callback
    def async_release(self) -> None:
        """Write again what changed in the meantime."""
        self._may_write.set()
        self.async_write_within(SOON)

    async def _async_final_write(self, _event: Event) -> None:
        await self.async_close()

    async def async_close(self) -> None:
        """Write what is not written yet, and close the file."""
        async with self._lock:
            if not self._file.is_open:
                return
            # Also while a backup is made: later is too late.
            await self._async_write()
            self._may_write.clear()
            self._cancel_timer()
            with suppress(sqlite3.Error):
                await self._hass.async_add_executor_job(self._file.close)


async def async_open_database(hass: HomeAssistant, entry: ConfigEntry) -> Database:
    """Return the open database of an account."""
    database = Database(hass, entry)
    await database.async_open()
    return database


async def async_remove_database(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Delete all files of an account that was removed."""
    path = _path(hass, entry)
    await hass.async_add_executor_job(_remove, path)
    async_delete_issue(hass, entry, _REPLACED)


def _remove(path: Path) -> None:
    old, *_ = _files_of_2_0(path)
    for file in (*path.parent.glob(f"{path.name}*"), *old.parent.glob(f"{old.name}*")):
        with suppress(OSError):
            file.unlink()
    # The last account also removes the folder.
    with suppress(OSError):
        path.parent.rmdir()


def _path(hass: HomeAssistant, entry: ConfigEntry) -> Path:
    return Path(hass.config.path(STORAGE_DIR, DOMAIN, f"{entry.entry_id}.db"))


def _seconds_until_write(before: Tracker | None, after: Tracker) -> int:
    """Return how soon a change is written, 0 if nothing is to be stored."""
    old, new = before and before.state, after.state
    if old is new:
        return 0
    if old is None or _armed_at(old) != _armed_at(new):
        return SOON
    if old.occurrences is not new.occurrences:
        last = old.occurrences[-1].seq if old.occurrences else 0
        fresh = takewhile(lambda it: it.seq > last, reversed(new.occurrences))
        return SOON if any(it.is_event for it in fresh) else LATER
    return LATER if after.ride_under_way else SELDOM


def _armed_at(state: TrackerState) -> datetime | None:
    return state.guard and state.guard.armed_at


def _is_malformed(err: Exception) -> bool:
    code = getattr(err, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    }


def _text(err: Exception) -> str:
    return f"{type(err).__name__}: {err}"


# What follows blocks: the executor calls it.


def _prepare(connection: sqlite3.Connection) -> None:
    """Create the tables, or raise if the file is not ours."""
    application, version, tables = (
        connection.execute(query).fetchone()[0]
        for query in (
            "PRAGMA application_id",
            "PRAGMA user_version",
            "SELECT count(*) FROM sqlite_schema",
        )
    )
    if tables and application != _APPLICATION_ID:
        raise _ForeignFileError
    if version > _VERSION:
        raise _NewerVersionError
    # A committed transaction survives a power cut, and deleted rows are overwritten.
    for name, value in _PRAGMAS.items():
        connection.execute(f"PRAGMA {name} = {value}")
    if not tables:
        connection.executescript(SCHEMA)


def _read(connection: sqlite3.Connection, title: str) -> Content:
    """Return states and progress; a row that cannot be read costs its tracker."""
    content, read_state = Content(), reader(TrackerState)
    query = "SELECT unique_id, state, last_fired, backfill FROM tracker"
    for unique_id, state, last_fired, backfill in connection.execute(query):
        with log_errors(title, "reading a tracker"):
            content.trackers[unique_id] = read_state(json.loads(state))
            content.last_fired[unique_id] = last_fired
            if backfill is not None:
                content.backfill[unique_id] = _UNTIL(json.loads(backfill))
    for row in connection.execute(_LAST_RIDES):
        with log_errors(title, "reading the last ride"):
            content.last_rides[row[0]] = _ride(row)
    query = "SELECT value FROM account WHERE name = 'evaluated_at'"
    for (value,) in connection.execute(query):
        with log_errors(title, "reading the last evaluation"):
            content.evaluation = reader(Evaluation | None)(json.loads(value))
    return content


def _write(changes: _Changes, title: str, connection: sqlite3.Connection) -> None:
    """Write trackers, then their rides; a tracker that cannot be converted is left out."""
    for unique_id, row in changes.rows.items():
        if row is None:
            connection.execute("DELETE FROM tracker WHERE unique_id = ?", (unique_id,))
            continue
        values = None
        with log_errors(title, "storing a tracker"):
            values = row.values(unique_id)
        if values:
            connection.execute(_SET_TRACKER, values)
    for unique_id, booked in changes.rides.items():
        _replace_rides(connection, unique_id, booked)
    if changes.evaluation:
        values = ("evaluated_at", _json(changes.evaluation))
        connection.execute(_SET_VALUE, values)


def _replace_rides(
    connection: sqlite3.Connection, unique_id: str, booked: _BookedRides
) -> None:
    since = unique_id, _number(booked.since)
    connection.execute("DELETE FROM ride WHERE tracker = ? AND start >= ?", since)
    starts = [(unique_id, _number(ride.started_at)) for ride in booked.rides]
    connection.executemany("DELETE FROM ride WHERE tracker = ? AND start = ?", starts)
    _insert(connection, unique_id, booked.rides)


def _insert(
    connection: sqlite3.Connection, unique_id: str, rides: Iterable[Ride]
) -> None:
    """Add rides, except those that went nowhere."""
    rows = [
        (
            *(unique_id, _number(ride.started_at), _number(ride.moved_at)),
            *(ride.distance, ride.maximum_speed),
            *(ride.start and _json(ride.start), ride.end and _json(ride.end)),
            ride.route,
        )
        for ride in rides
        if ride.distance
    ]
    connection.executemany(_ADD_RIDE, rows)


def _insert_missing(
    connection: sqlite3.Connection, unique_id: str, rides: Iterable[Ride]
) -> None:
    """Add rides that overlap none in the file."""
    query = (
        "SELECT 1 FROM ride WHERE tracker = ?1"
        ' AND (start = ?2 OR start < ?3 AND "end" > ?2)'
    )
    new = list[Ride]()
    for ride in rides:
        values = unique_id, _number(ride.started_at), _number(ride.moved_at)
        if not connection.execute(query, values).fetchone():
            new.append(ride)
    _insert(connection, unique_id, new)


def _add_rides(
    unique_id: str, rides: Iterable[Ride], row: _Row, connection: sqlite3.Connection
) -> None:
    """Add rides from before, with the progress that is in the row of the tracker."""
    _insert_missing(connection, unique_id, rides)
    connection.execute(_SET_TRACKER, row.values(unique_id))


def _rides_between(
    unique_id: str, start: datetime, end: datetime, connection: sqlite3.Connection
) -> list[Ride]:
    query = 'SELECT * FROM ride WHERE tracker = ? AND start < ? AND "end" > ?'
    values = unique_id, _number(end), _number(start)
    return list(map(_ride, connection.execute(query, values)))


def _last_ride(unique_id: str, connection: sqlite3.Connection) -> Ride | None:
    query = "SELECT * FROM ride WHERE tracker = ? ORDER BY start DESC LIMIT 1"
    row = connection.execute(query, (unique_id,)).fetchone()
    return row and _ride(row)


def _count_rides(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("SELECT count(*) FROM ride").fetchone()
    return int(count)


def _ride(row: tuple[Any, ...]) -> Ride:
    _, start, end, distance, maximum_speed, *places, route = row
    first, last = (_FIX(json.loads(place)) if place else None for place in places)
    return Ride(_time(start), _time(end), distance, maximum_speed, first, last, route)


def _json(value: object) -> str:
    return json.dumps(to_json(value), ensure_ascii=False, separators=(",", ":"))


def _number(time: datetime) -> int:
    """Return a time as microseconds since 1970."""
    return (time - _EPOCH) // _MICROSECOND


def _time(number: int) -> datetime:
    return _EPOCH + number * _MICROSECOND


# Import of the two JSON files of 2.0


def _files_of_2_0(path: Path) -> tuple[Path, Path]:
    """Return the files with states and with rides."""
    states = path.parent.with_name(f"{DOMAIN}.{path.stem}")
    return states, states.with_name(f"{states.name}.rides")


def _import_2_0(connection: sqlite3.Connection, path: Path, title: str) -> None:
    """Import the files of 2.0 in one transaction, and remove them after it.

    A kill before the removal imports nothing twice: the database has their digests then.
    """
    files = _files_of_2_0(path)
    texts = {file: file.read_bytes() for file in files if file.exists()}
    if not texts:
        return
    digests = {file: sha256(text).hexdigest() for file, text in texts.items()}
    query = "SELECT value FROM account WHERE name = 'imported'"
    known = json.loads(next(connection.execute(query), ["[]"])[0])
    data = {file: _data_of(file, text, title) for file, text in texts.items()}
    states, book = ({} if digests.get(it) in known else data.get(it) for it in files)
    with connection:
        _import_rides(connection, book or {}, title)
        _import_trackers(connection, states or {}, (book or {}).get("backfill"), title)
        connection.execute(_SET_VALUE, ("imported", _json(tuple(digests.values()))))
    for file in texts:
        if data[file] is None:
            file.replace(f"{file}.unreadable")
        else:
            file.unlink()


def _data_of(file: Path, text: bytes, title: str) -> dict[str, Any] | None:
    """Return the content of a file, empty for a file of 1.2, None if not readable."""
    try:
        stored, version = json.loads(text), 1 if file.suffix == ".rides" else 2
        return dict(stored["data"]) if stored["version"] == version else {}
    except (KeyError, TypeError, ValueError) as err:
        LOGGER.warning("%s: %s cannot be read (%s)", title, file, _text(err))
    return None


def _import_rides(
    connection: sqlite3.Connection, book: dict[str, Any], title: str
) -> None:
    rides = defaultdict[str, list[Ride]](list)
    lines = book.get("rides")
    for line in lines if isinstance(lines, list) else ():
        with log_errors(title, "importing a ride"):
            rides[str(line["tracker"])].append(reader(Ride)(line["ride"]))
    for unique_id, new in rides.items():
        _insert_missing(connection, unique_id, new)


def _import_trackers(
    connection: sqlite3.Connection, data: dict[str, Any], backfill: Any, title: str
) -> None:
    """Import states, and the last rides, which the ride book may not have yet."""
    last_fired, backfill = _dict(data.get("last_fired")), _dict(backfill)
    for unique_id, stored in _dict(data.get("trackers")).items():
        values, rides = None, None
        with log_errors(title, "importing a tracker"):
            until = _json(backfill[unique_id]) if unique_id in backfill else None
            state = state_from_2_0(stored)
            # Raise before it is stored if it could not be read.
            reader(TrackerState)(state).restored()
            seq = int(last_fired.get(unique_id, 0))
            values = (unique_id, json.dumps(state), seq, until)
            log = stored.get("rides", {})
            if since := log.get("since"):
                last = reader(tuple[Ride, ...])(log.get("rides", ()))
                rides = _BookedRides(datetime.fromisoformat(since), last)
        if values:
            connection.execute(_SET_TRACKER, values)
        if rides:
            _replace_rides(connection, unique_id, rides)
    with log_errors(title, "importing the last evaluation"):
        if evaluation := reader(Evaluation | None)(data.get("evaluation")):
            connection.execute(_SET_VALUE, ("evaluated_at", _json(evaluation)))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
