"""What the log calls an account: all that a person finds there says which one it is of."""

from collections.abc import Callable
import json
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers.storage import Store
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN

from .conftest import Bikes, async_setup
from .tools.simulator import Simulator

HOUR = 60 * 60

type Lines = Callable[[], list[str]]


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Lines:
    """Return a function for the integration's lines above debug since the last call."""

    def _lines() -> list[str]:
        found = [
            record.getMessage()
            for record in caplog.records
            if DOMAIN in record.name and record.levelname != "DEBUG"
        ]
        caplog.clear()
        return found

    return _lines


@pytest.mark.usefixtures("setup")
async def test_account_that_is_renamed(bikes: Bikes, lines: Lines) -> None:
    """Its new title is in the log with the next poll."""
    bikes.hass.config_entries.async_update_entry(bikes.entry, title="My bikes")
    bikes.simulator.fault("status-503")
    lines()
    await bikes.poll()
    bikes.simulator.fault(None)
    await bikes.poll()
    name = "My bikes"
    assert lines() == [
        f"Error fetching bike_tracker {name} data: "
        "The server cannot answer at the moment (status 503)",
        f"Fetching bike_tracker {name} data recovered",
    ]


async def test_memory_that_is_not_readable(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    lines: Lines,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is a line of its account."""

    load = Store.async_load

    async def _fail(store: Store[Any]) -> Any:
        if store.key == f"{DOMAIN}.{entry.entry_id}":
            raise json.JSONDecodeError("no JSON", "", 0)
        return await load(store)

    monkeypatch.setattr(Store, "async_load", _fail)
    await async_setup(hass, entry)
    name = "127.0.0.1"
    line_begins = f"{name}: The state of trackers is not readable (JSONDecodeError), a new one begins"
    assert [line for line in lines() if line.startswith(line_begins)]
