"""What the log calls an account: all that a person finds there says which one it is of."""

from collections.abc import Callable

import pytest

from custom_components.bike_tracker.const import DOMAIN

from .conftest import Bikes

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
