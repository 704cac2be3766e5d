"""Import of the two JSON files of an account that version 2.0 wrote."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
import json
import os
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Final

from ..const import DOMAIN, LOGGER
from ..tracking import log_errors
from ..tracking.rides import Ride
from ..tracking.state import TrackerState
from .file import SET_TRACKER, BookedRides, add_missing, replace_rides
from .stored import as_json, packed, reader

_LONG_AGO: Final = "1970-01-01T00:00:00Z"


def files_of_2_0(path: Path) -> tuple[Path, Path]:
    """Return the files of 2.0 for the account of a database: states and rides."""
    states = path.parent.with_name(f"{DOMAIN}.{path.stem}")
    return states, states.with_name(f"{states.name}.rides")


def import_2_0(connection: Connection, path: Path, title: str) -> None:
    """Import the files of 2.0 in one transaction. Then delete them, or rename a file with an unreadable part.

    If Home Assistant is killed before the deletion, the next start repeats the import.
    """
    states, book = files = files_of_2_0(path)
    data = {file: _data_of(file, title) for file in files if file.exists()}
    if not data:
        return
    known, rides = data.get(states) or {}, data.get(book) or {}
    with connection:
        has_all = {
            book: _import_rides(connection, rides, title),
            states: _import_trackers(connection, known, rides, title),
        }
    for file, content in data.items():
        if content is not None and has_all[file]:
            file.unlink()
            continue
        kept = file.replace(f"{file}.unreadable")
        LOGGER.warning("%s: Kept %s, because a part is unreadable", title, kept)
    # Without syncing the folder, a deleted file could reappear after a power cut, and
    # its old states would be imported again.
    folder = os.open(states.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def _data_of(file: Path, title: str) -> dict[str, Any] | None:
    """Return the content of a file: empty if its format is not that of 2.0; None if it cannot be read."""
    text = file.read_bytes()
    try:
        stored, version = json.loads(text), 1 if file.suffix == ".rides" else 2
        return dict(stored["data"]) if stored["version"] == version else {}
    except (KeyError, TypeError, ValueError) as err:
        error = f"{type(err).__name__}: {err}"
        LOGGER.warning("%s: %s cannot be read (%s)", title, file, error)
    return None


def _import_rides(connection: Connection, book: dict[str, Any], title: str) -> bool:
    """Import the rides. Return whether all of them were readable."""
    rides, lines = defaultdict[str, list[Ride]](list), book.get("rides")
    lines = lines if isinstance(lines, list) else []
    for line in lines:
        with log_errors(title, "importing a ride"):
            rides[str(line["tracker"])].append(reader(Ride)(line["ride"]))
    for unique_id, new in rides.items():
        add_missing(connection, unique_id, new)
    return sum(map(len, rides.values())) == len(lines)


def _import_trackers(
    connection: Connection, data: dict[str, Any], book: dict[str, Any], title: str
) -> bool:
    """Import the states and the rides in them. Return whether all of them were readable.

    The file of rides may not contain those rides yet.
    """
    last_fired, backfill = _dict(data.get("last_fired")), _dict(book.get("backfill"))
    has_all = True
    for unique_id, stored in _dict(data.get("trackers")).items():
        values, rides = None, None
        with log_errors(title, "importing a tracker"):
            known = unique_id in backfill
            until = as_json(backfill[unique_id]) if known else None
            state = state_from_2_0(stored)
            log = stored.get("rides", {})
            # If the state could not be read back, raise the error now, before the state
            # is stored.
            reader(TrackerState)(state).restored()
            seq = int(last_fired.get(unique_id, 0))
            if since := log.get("since"):
                last = reader(tuple[Ride, ...])(log.get("rides", ()))
                rides = BookedRides(datetime.fromisoformat(since), last)
            values = unique_id, packed(state), seq, until
        if values:
            connection.execute(SET_TRACKER, values)
        if rides:
            replace_rides(connection, unique_id, rides)
        has_all &= values is not None
    return has_all


def state_from_2_0(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the stored state of a tracker from version 2.0.

    Leave out its list of rides (`rides`): `_import_trackers` writes these rides into
    the database.
    """
    state = dict(stored)
    rides, log = state.pop("ride_state", {}), state.pop("rides", {})
    ended = rides.get("ended")
    if ended is None or not ended.get("distance"):
        ended = rides.get("before_ended")
    # When the state is read, fields that version 3 does not know are ignored.
    core = {"ride_state": {**rides, "ended": ended}}
    if guard := stored.get("guard"):
        state["guard"] = core["guard"] = guard
    newest = rides.get("newest_fix") or {}
    state["log"] = {"settled": core, "time": newest.get("time")}
    state["quiet_until"] = _LONG_AGO
    total = rides.get("total") or 0
    state["highest_total"] = max(rides.get("highest_total", 0), total)
    announced = state["announced"] = list[dict[str, Any]]()
    if ended:
        announced.append({"start": ended["started_at"], "end": ended["moved_at"]})
    if (start := log.get("open_since")) and (ride := rides.get("ride")):
        announced.append({"start": start, "end": ride["moved_at"], "is_open": True})
    if occurrences := stored.get("occurrences"):
        state["occurrences"] = [_occurrence(it) for it in occurrences]
    return state


def _occurrence(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return an occurrence from version 2.0 with the names that version 3 uses for its coordinates."""
    names = {"latitude": "seen_latitude", "longitude": "seen_longitude"}
    attributes = stored.get("attributes", {}).items()
    return {**stored, "attributes": {names.get(key, key): it for key, it in attributes}}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
