"""Convert the state of a tracker that version 2.0 of Bike Tracker stored."""

from collections.abc import Mapping
from typing import Any, Final

_LONG_AGO: Final = "1970-01-01T00:00:00Z"
_DROPPED: Final = {"before_ended", "highest_total"}


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
    ride_state = {key: it for key, it in rides.items() if key not in _DROPPED}
    ride_state["ended"] = ended
    core = {"ride_state": ride_state}
    if guard := stored.get("guard"):
        state["guard"] = core["guard"] = guard
    newest = rides.get("newest_fix") or {}
    state["log"] = {"settled": core, "time": newest.get("time")}
    state["quiet_until"] = _LONG_AGO
    state["highest_total"] = max(rides.get("highest_total", 0), rides.get("total") or 0)
    state["announced"] = [_announced(it) for it in (ended,) if it]
    if (start := log.get("open_since")) and rides.get("ride"):
        open_ride = {"start": start, "end": rides["ride"]["moved_at"], "is_open": True}
        state["announced"].append(open_ride)
    if occurrences := stored.get("occurrences"):
        state["occurrences"] = [_occurrence(it) for it in occurrences]
    return state


def _announced(ride: Mapping[str, Any]) -> dict[str, Any]:
    return {"start": ride["started_at"], "end": ride["moved_at"]}


def _occurrence(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return an occurrence from version 2.0 with the names that version 3 uses for its coordinates."""
    names = {"latitude": "seen_latitude", "longitude": "seen_longitude"}
    attributes = stored.get("attributes", {}).items()
    return {**stored, "attributes": {names.get(key, key): it for key, it in attributes}}
