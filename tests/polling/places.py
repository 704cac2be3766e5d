"""Places that trackers show, and counts of requests for positions."""

from typing import Any

from homeassistant.core import State

from ..tools.simulator.server import Simulator
from ..tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE

AT_HOME = (DEFAULT_LATITUDE, DEFAULT_LONGITUDE)
HOME: dict[str, Any] = {"latitude": DEFAULT_LATITUDE, "longitude": DEFAULT_LONGITUDE}
AWAY: dict[str, Any] = {"latitude": 48.1, "longitude": 7.9}


def asked(simulator: Simulator) -> dict[str, int]:
    """Return the number of requests for the device list and for positions."""
    counts = simulator.record.counts
    return {call: counts[f"/api/{call}"] for call in ("devices", "positions")}


def requested_alone(simulator: Simulator) -> list[str]:
    """Return the trackers whose position was requested on its own, not with the list."""
    by_query = {f"deviceId={it.id}": key for key, it in simulator.devices.items()}
    queries = [request.query for request in simulator.requests]
    return [by_query[query] for query in queries if query and "&" not in query]


def place(state: State | None) -> tuple[float | None, float | None]:
    """Return the latitude and longitude in a state. Both are None without a place."""
    assert state is not None
    return state.attributes.get("latitude"), state.attributes.get("longitude")
