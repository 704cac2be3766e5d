"""The home zone of the polling tests, places that trackers show, and requests for positions."""

from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest

from ..conftest import RED, Bikes
from ..tools.simulator.server import Simulator
from ..tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE

AT_HOME = (DEFAULT_LATITUDE, DEFAULT_LONGITUDE)
HOME: dict[str, Any] = {"latitude": DEFAULT_LATITUDE, "longitude": DEFAULT_LONGITUDE}
AWAY: dict[str, Any] = {"latitude": 48.1, "longitude": 7.9}


@pytest.fixture(autouse=True)
async def home(hass: HomeAssistant, all_enabled: None) -> None:
    """Put the home zone at the first place of the trackers, and enable all entities."""
    await hass.config.async_update(**HOME)
    assert await async_setup_component(hass, "zone", {})


@pytest.fixture(autouse=True)
def jitter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the random factor of waits by its maximum (full length) or, with the parameter `min`, by its minimum."""
    monkeypatch.setattr("random.uniform", getattr(request, "param", max))


def place(bikes: Bikes, tracker: str = RED) -> tuple[float | None, float | None]:
    """Return the latitude and longitude of a tracker. Both are None without a place."""
    shown = bikes.state(tracker).attributes
    return shown.get("latitude"), shown.get("longitude")


def asked(simulator: Simulator) -> dict[str, int]:
    """Return the number of requests for the device list and for positions."""
    counts = simulator.record.counts
    return {call: counts[f"/api/{call}"] for call in ("devices", "positions")}


def requested_alone(simulator: Simulator) -> list[str]:
    """Return the tracker of each request for a single position, in the order of the requests."""
    by_query = {f"deviceId={it.id}": key for key, it in simulator.devices.items()}
    queries = [request.query for request in simulator.requests]
    return [by_query[query] for query in queries if query and "&" not in query]
