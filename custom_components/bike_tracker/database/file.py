"""The SQLite file of an account: its tables and queries. All functions block."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
import json
from operator import attrgetter
import os
from pathlib import Path
from sqlite3 import (
    SQLITE_CORRUPT,
    SQLITE_NOTADB,
    Connection,
    DatabaseError,
    OperationalError,
    connect,
)
from threading import Lock
from typing import Any, Final, NamedTuple

from homeassistant.util import dt as dt_util

from ..tracking import log_errors
from ..tracking.distance import Fix
from ..tracking.rides import Ride
from ..tracking.state import TrackerState
from .stored import as_json, packed, reader, unpacked

VERSION: Final = 1
"""Version of the tables."""
BUSY_SECONDS: Final = 2
"""Seconds to wait while another program locks the file."""
BEGINNING: Final = datetime.min.replace(tzinfo=UTC)
NEVER: Final = datetime.max.replace(tzinfo=UTC)

FILE_ERRORS: Final = (OSError, DatabaseError, UnicodeDecodeError)
"""Errors of a file. If a damaged name in it is not UTF-8, Python cannot decode the name or SQLite's message about it."""
_SUFFIXES: Final = ("", "-wal", "-shm")
_PRAGMAS: Final = {
    # SQLite writes whole pages to its log, so the smallest pages write the fewest bytes.
    "page_size": 512,
    "journal_mode": "WAL",
    # A cache of 500 KiB for each account; the default is 2,000 KiB.
    "cache_size": -500,
    # A committed transaction survives a power cut.
    "synchronous": "FULL",
    # Deleted rows are overwritten.
    "secure_delete": "ON",
}
# In the tables, states are compressed JSON; places and values of the account are JSON.
# `start` and `end` are microseconds since 1970 in UTC. Distances are in kilometers,
# speeds in km/h, and routes are encoded polylines. `backfill` is a JSON text: the time
# before which rides are missing, or `null` if no ride is missing. A tracker without
# positions has the SQL value NULL instead.
SCHEMA: Final = f"""
BEGIN IMMEDIATE;
CREATE TABLE tracker (
    unique_id TEXT PRIMARY KEY, state BLOB NOT NULL, last_fired INTEGER NOT NULL, backfill TEXT
);
CREATE TABLE ride (
    tracker TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    distance REAL NOT NULL, maximum_speed REAL,
    start_place TEXT, end_place TEXT, route TEXT
);
CREATE INDEX ride_times ON ride (tracker, start, "end");
CREATE TABLE account (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
COMMIT;
"""
SET_TRACKER: Final = """
INSERT INTO tracker VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET state = ?2, last_fired = ?3, backfill = ?4
"""
SET_VALUE: Final = """
INSERT INTO account VALUES (?1, ?2)
ON CONFLICT DO UPDATE SET value = ?2 WHERE value != ?2
"""
# The rides of a tracker that overlap a time range, or start at its beginning. The latter
# also selects rides without length, of which only the arrival is known.
_RIDES_IN_RANGE: Final = """
SELECT * FROM ride
WHERE tracker = ?1 AND (start = ?2 OR start < ?3 AND "end" > ?2)
"""
_LAST_RIDE: Final = "SELECT * FROM ride WHERE tracker = ? ORDER BY start DESC LIMIT 1"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


type Row = tuple[TrackerState, int, str | None]
"""State, number of the last occurrence that was fired, and JSON of the backfill."""


class NewerVersionError(Exception):
    """A newer version of the integration wrote the file."""


class OfNight(NamedTuple):
    """The sent messages of a night guard that still apply."""

    outage: dict[str, str] = {}
    """The states of guards in the message about the current outage, by `uniqueId`."""
    reasons: dict[str, str] = {}
    """Why bikes cannot be guarded, by `uniqueId`. Each reason was in a message."""
    not_guarded: tuple[str, ...] = ()
    """The bikes in the shown message about unguarded bikes."""
    silent: dict[str, datetime] = {}
    """The start of each silence that was in a message and goes on, by `uniqueId`."""
    without_contact: dict[str, str] = {}
    """The states of guards in the shown message about silences, by `uniqueId`."""


class Sent(NamedTuple):
    """Everything that the night guards of an account remember. It is never changed, only replaced."""

    nights: dict[str, OfNight] = {}
    """The messages of each night guard, by its ID. The other keys are `uniqueId`s."""
    cut_off: dict[str, datetime] = {}
    """Like `silent`, for moved bikes. Each of them has its own message."""
    ended: dict[str, tuple[datetime, ...]] = {}
    """Start and end of the last silence that was in a message and ended."""
    left: dict[str, datetime] = {}
    """When each unlisted tracker was noticed to be unlisted."""
    mine: tuple[str, ...] = ()
    """Bikes whose rider tapped *It's me*, until the bike stands or a night begins."""
    link_secret: str = ""
    """The secret that signs links to theft reports; empty until the first link."""


class Evaluation(NamedTuple):
    """The times up to which the waits (`for`) of triggers were checked, in UTC."""

    at: datetime
    """Time of the check, by Home Assistant's clock."""
    asked_at: datetime
    """Start of the newest poll that succeeded. Silence is checked up to this time."""


@dataclass(slots=True)
class Content:
    """The part of the file that is kept in memory. The keys of dictionaries are `uniqueId`s."""

    states: dict[str, TrackerState] = field(default_factory=dict)
    """States of all trackers, even if the service no longer lists them. The account updates this dictionary."""
    last_fired: Counter[str] = field(default_factory=Counter)
    """Sequence number of the last occurrence that was fired; 0 before the first."""
    backfill: dict[str, datetime | None] = field(default_factory=dict)
    """Time before which rides are still missing; None if no ride is missing."""
    last_rides: dict[str, Ride] = field(default_factory=dict)
    """The newest ride in the file when it was opened, or a newer ride that the backfill added."""
    evaluation: Evaluation | None = None
    sent: Sent = field(default_factory=Sent)
    has_been_live: bool = False
    """True as soon as the service has sent a push message."""

    def row(self, unique_id: str) -> Row | None:
        """Return the row of a tracker, or None if the tracker was deleted."""
        if (state := self.states.get(unique_id)) is None:
            return None
        known = unique_id in self.backfill
        backfill = as_json(self.backfill[unique_id]) if known else None
        return state, self.last_fired[unique_id], backfill

    def values(self) -> dict[str, object]:
        """Return the values of the account, by name."""
        return {
            "evaluated_at": self.evaluation,
            "sent": self.sent,
            "has_been_live": self.has_been_live,
        }


class BookedRides(NamedTuple):
    """Rides of a tracker that replace all its rides in the file whose start is `since` or later."""

    since: datetime
    rides: Sequence[Ride]
    missing: Sequence[Sequence[Ride]] = ()
    """Rides from before the set-up, by history answer. Those that overlap no ride in the file are added."""

    def keeps(self, ride: Ride) -> bool:
        """Return whether a ride in the file stays: it starts before `since`, and no new ride has the same start."""
        starts = {it.started_at for it in self.rides}
        return ride.started_at < self.since and ride.started_at not in starts

    def after(self, before: BookedRides) -> BookedRides:
        """Return one replacement with the effect of an earlier replacement, `before`, followed by this one."""
        rides = (*filter(self.keeps, before.rides), *self.rides)
        return BookedRides(min(self.since, before.since), rides, before.missing)

    def merged(self, known: Iterable[Ride]) -> list[Ride]:
        """Return the rides of a file after this replacement, given its `known` rides before. Leave out new rides of 0 km."""
        moved = filter(attrgetter("distance"), self.rides)
        return [*filter(self.keeps, known), *moved]


class File:
    """The SQLite file of an account and its connection."""

    def __init__(
        self, path: Path, title: str, prepare: Callable[[Connection, Path, str], None]
    ) -> None:
        """Initialize with `prepare`, a function that is called with the open connection before the file is read.

        The title names the account in the log.
        """
        self.path = path
        self._title = title
        self._prepare = prepare
        self._connection: Connection | None = None
        # The lock is for threads: if a query is canceled, its thread continues, while
        # the next query may already begin in another thread.
        self._one_at_a_time = Lock()

    @property
    def is_open(self) -> bool:
        """Return whether the file is open."""
        return self._connection is not None

    def open(self) -> Content:
        """Open or create the file, and return its content. Replace a malformed file."""
        try:
            return self._opened()
        except FILE_ERRORS as err:
            if not is_malformed(err):
                raise
        return self.replace()

    def _opened(self) -> Content:
        with self._one_at_a_time:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            connection = _connected(self.path)
            try:
                create(connection)
                self._prepare(connection, self.path, self._title)
                content = _read(connection, self._title)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            return content

    def run[*Args, T](self, work: Callable[[Connection, *Args], T], *args: *Args) -> T:
        """Return the result of `work`, run in one transaction. Raise OperationalError if the file is closed."""
        with self._one_at_a_time:
            if self._connection is None:
                raise OperationalError("closed")
            with self._connection:
                return work(self._connection, *args)

    def query[*Args, T](
        self, work: Callable[[Connection, *Args], T], *args: *Args
    ) -> T:
        """Return the result of `work`, which only reads. If the file is closed, open it for this call."""
        if self.is_open:
            return self.run(work, *args)
        uri = f"{self.path.as_uri()}?mode=ro"
        with closing(_connected(uri, uri=True)) as connection:
            return work(connection, *args)

    def close(self) -> None:
        """Close the file, if it is open."""
        with self._one_at_a_time:
            if self._connection:
                self._connection.close()
                self._connection = None

    def replace(self) -> Content:
        """Add the current time to the names of a malformed file and its log. Open a new file; return its content."""
        with suppress(DatabaseError):
            self.close()
        name = f"{self.path.name}.{dt_util.utcnow():%Y%m%dT%H%M%S.%fZ}"
        for suffix in _SUFFIXES:
            file = self.path.with_name(self.path.name + suffix)
            if file.exists():
                file.replace(self.path.with_name(name + suffix))
        return self._opened()

    def replaced(self) -> str | None:
        """Return the path of the newest malformed file that was renamed, or None."""
        files = self.path.parent.glob(f"{self.path.name}.*Z")
        return str(max(files, default="")) or None


def _connected(path: Path | str, *, uri: bool = False) -> Connection:
    """Return a connection that also reads damaged texts, so that they cost only their own row."""
    connection = connect(path, timeout=BUSY_SECONDS, check_same_thread=False, uri=uri)
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    return connection


def is_malformed(err: Exception) -> bool:
    """Return whether an error means that the file is malformed, or not a database."""
    code = getattr(err, "sqlite_errorcode", 0) & 0xFF
    is_damaged = code in (SQLITE_CORRUPT, SQLITE_NOTADB)
    return is_damaged or isinstance(err, UnicodeDecodeError)


def create(connection: Connection) -> None:
    """Create the tables of an empty file. Raise an error if a newer version wrote the file."""
    # The version of an empty file is 0.
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise NewerVersionError
    for name, value in _PRAGMAS.items():
        connection.execute(f"PRAGMA {name} = {value}")
    if not version:
        connection.executescript(SCHEMA)


def _read(connection: Connection, title: str) -> Content:
    """Return the content. Skip trackers whose row is unreadable."""
    content, read_state = Content(), reader(TrackerState)
    query = "SELECT unique_id, state, last_fired, backfill FROM tracker"
    for unique_id, state, last_fired, backfill in connection.execute(query):
        with log_errors(title, "reading a tracker"):
            content.states[unique_id] = read_state(unpacked(state)).restored()
            content.last_fired[unique_id] = last_fired
            if backfill is not None:
                until = reader(datetime | None)(json.loads(backfill))
                content.backfill[unique_id] = until
    query = "SELECT DISTINCT tracker FROM ride"
    for (unique_id,) in connection.execute(query).fetchall():
        with log_errors(title, "reading the last ride"):
            row = connection.execute(_LAST_RIDE, (unique_id,)).fetchone()
            content.last_rides[unique_id] = _ride(row)
    values = dict(connection.execute("SELECT name, value FROM account"))
    with log_errors(title, "reading the last evaluation"):
        stored = json.loads(values.get("evaluated_at", "null"))
        content.evaluation = reader(Evaluation | None)(stored)
    with log_errors(title, "reading the sent messages"):
        content.sent = reader(Sent)(json.loads(values.get("sent", "{}")))
    content.has_been_live = values.get("has_been_live") == "true"
    return content


def write(
    connection: Connection,
    title: str,
    rows: Mapping[str, Row | None],
    rides: Mapping[str, BookedRides],
    account: Mapping[str, object],
) -> None:
    """Write trackers, then their rides, then the values of the account. Skip a tracker that cannot be converted.

    A row of None deletes the tracker.
    """
    for unique_id, row in rows.items():
        values = None
        if row is None:
            connection.execute("DELETE FROM tracker WHERE unique_id = ?", (unique_id,))
            continue
        with log_errors(title, "storing a tracker"):
            state, last_fired, _ = row
            values = unique_id, packed(state.stored(last_fired)), *row[1:]
        if values:
            connection.execute(SET_TRACKER, values)
    for unique_id, booked in rides.items():
        replace_rides(connection, unique_id, booked)
        for new in booked.missing:
            add_missing(connection, unique_id, new)
    values_of_account = ((name, as_json(value)) for name, value in account.items())
    connection.executemany(SET_VALUE, values_of_account)


def checkpoint(connection: Connection) -> None:
    """Move the write-ahead log into the database file, and empty the log."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def replace_rides(connection: Connection, unique_id: str, booked: BookedRides) -> None:
    """Replace each ride of a tracker that starts at `since` or later, or at the same time as a new ride."""
    since = unique_id, _number(booked.since)
    connection.execute("DELETE FROM ride WHERE tracker = ? AND start >= ?", since)
    starts = [(unique_id, _number(ride.started_at)) for ride in booked.rides]
    connection.executemany("DELETE FROM ride WHERE tracker = ? AND start = ?", starts)
    _add(connection, unique_id, booked.rides)


def add_missing(connection: Connection, unique_id: str, rides: Iterable[Ride]) -> None:
    """Add each ride that neither overlaps a stored ride of the tracker nor has the same start as a stored ride."""
    new = list[Ride]()
    for ride in rides:
        values = unique_id, _number(ride.started_at), _number(ride.moved_at)
        if not connection.execute(_RIDES_IN_RANGE, values).fetchone():
            new.append(ride)
    _add(connection, unique_id, new)


def _add(connection: Connection, unique_id: str, rides: Iterable[Ride]) -> None:
    """Add rides, except rides of 0 km."""
    rows = [
        (
            *(unique_id, _number(ride.started_at), _number(ride.moved_at)),
            *(ride.distance, ride.maximum_speed),
            *(ride.start and as_json(ride.start), ride.end and as_json(ride.end)),
            ride.route,
        )
        for ride in rides
        if ride.distance
    ]
    connection.executemany("INSERT INTO ride VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def rides_between(
    connection: Connection, title: str, unique_id: str, start: datetime, end: datetime
) -> list[Ride]:
    """Return the rides of a tracker that overlap a time range, or start at its beginning. Skip unreadable rides."""
    values = unique_id, _number(start), _number(end)
    return _rides(title, connection.execute(_RIDES_IN_RANGE, values))


def sizes(connection: Connection) -> dict[str, int]:
    """Return the number of rides of all trackers, and the bytes of the file."""
    (rides,) = connection.execute("SELECT count(*) FROM ride").fetchone()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    return {"rides": rides, "bytes": pages * page_size}


def _rides(title: str, rows: Iterable[Sequence[Any]]) -> list[Ride]:
    """Return the rides of rows. Skip a ride that is unreadable, because the disk changed some of its bits."""
    rides = list[Ride]()
    for row in rows:
        with log_errors(title, "reading a ride"):
            rides.append(_ride(row))
    return rides


def _ride(row: Sequence[Any]) -> Ride:
    """Return the ride of a row, whose columns are in the order of the table."""
    _, start, end, distance, maximum_speed, *places, route = row
    read = reader(Fix | None)
    first, last = (read(json.loads(place or "null")) for place in places)
    return Ride(_time(start), _time(end), distance, maximum_speed, first, last, route)


def _number(time: datetime) -> int:
    return (time - _EPOCH) // _MICROSECOND


def _time(number: int) -> datetime:
    return _EPOCH + number * _MICROSECOND
