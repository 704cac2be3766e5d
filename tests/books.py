"""Functions with which tests read and write the database file of an account."""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
import json
from operator import attrgetter
from pathlib import Path
import resource
import sqlite3
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.database.file import (
    BEGINNING,
    NEVER,
    create,
    rides_between,
)
from custom_components.bike_tracker.database.stored import unpacked
from custom_components.bike_tracker.tracking.rides import Ride

from .conftest import RED

EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")


def row(
    ended_ago: timedelta, tracker: str = RED, duration: int = 3600, **more: Any
) -> dict[str, Any]:
    """Return a ride in the format of `get_rides`. The ride ended `ended_ago` before now, and lasted `duration` seconds."""
    ended_at = dt_util.utcnow() - ended_ago
    return {
        "tracker": tracker,
        "started_at": (ended_at - timedelta(seconds=duration)).isoformat(),
        "ended_at": ended_at.isoformat(),
        "distance": 12.3,
        "maximum_speed": 28.4,
        "start": {"latitude": 48.0, "longitude": 7.8, "address": None},
        "end": {"latitude": 48.1, "longitude": 7.9, "address": "Am Bach 3"},
        **more,
    }


def folder_of(hass: HomeAssistant) -> Path:
    """Return the folder with the database files of all accounts."""
    return Path(hass.config.path(".storage", DOMAIN))


def file_of(hass: HomeAssistant, entry: ConfigEntry) -> Path:
    """Return the database file of an account."""
    return folder_of(hass) / f"{entry.entry_id}.db"


@contextmanager
def full_disk(file: Path) -> Iterator[None]:
    """Simulate a full disk: no file can become larger than the database's write-ahead log is now."""
    log = file.with_name(f"{file.name}-wal")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def files_in(hass: HomeAssistant) -> list[str]:
    """Return the sorted names of all files in the integration's folders, `bike_tracker*`, below `.storage`."""
    storage = folder_of(hass).parent
    return sorted(file.name for file in storage.glob(f"**/{DOMAIN}*/**/*.*"))


def query(file: Path, text: str, *values: object) -> list[Any]:
    """Run an SQL statement on a database file in its own transaction, and return the rows."""
    with closing(sqlite3.connect(file)) as connection, connection:
        return list(connection.execute(text, values))


def store(
    hass: HomeAssistant, entry: MockConfigEntry, rows: Iterable[dict[str, Any]]
) -> None:
    """Add rides to the database file of an account. Create the file if it does not exist."""
    file = file_of(hass, entry)
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as connection, connection:
        create(connection)
        connection.executemany(
            "INSERT INTO ride VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", map(_values, rows)
        )


def _values(row: dict[str, Any]) -> tuple[object, ...]:
    times = (datetime.fromisoformat(row[key]) for key in ("started_at", "ended_at"))
    numbers = ((time - EPOCH) // timedelta(microseconds=1) for time in times)
    known = {"time": "2026-11-20T12:00:00+00:00"}
    places = (row[end] and json.dumps(known | row[end]) for end in ("start", "end"))
    return row["tracker"], *numbers, row["distance"], row["maximum_speed"], *places


def rides_in(
    hass: HomeAssistant, entry: MockConfigEntry, tracker: str = RED
) -> list[Ride]:
    """Return the rides of a tracker from the account's database file, the earliest first."""
    with closing(sqlite3.connect(file_of(hass, entry))) as connection:
        rides = rides_between(connection, "bikes", tracker, BEGINNING, NEVER)
    return sorted(rides, key=attrgetter("started_at"))


def state_in(
    hass: HomeAssistant, entry: MockConfigEntry, tracker: str = RED
) -> dict[str, Any]:
    """Return a tracker's state from the account's database file, or an empty dictionary if the file has none."""
    rows = query(
        file_of(hass, entry), "SELECT state FROM tracker WHERE unique_id = ?", tracker
    )
    state: dict[str, Any] = unpacked(rows[0][0]) if rows else {}
    return state
