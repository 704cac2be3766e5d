"""What the log calls an account: all that a person finds there says which one it is of."""

import pytest

from custom_components.bike_tracker.const import DOMAIN

from .conftest import Bikes


@pytest.mark.usefixtures("setup")
async def test_account_that_is_renamed(
    bikes: Bikes, caplog: pytest.LogCaptureFixture
) -> None:
    """Its new title is in the log with the next poll."""
    bikes.hass.config_entries.async_update_entry(bikes.entry, title="My bikes")
    bikes.simulator.fault("status-503")
    caplog.clear()
    await bikes.poll()
    bikes.simulator.fault(None)
    await bikes.poll()
    ours = (it for it in caplog.records if DOMAIN in it.name)
    assert [it.getMessage() for it in ours if it.levelname != "DEBUG"] == [
        "Error fetching bike_tracker My bikes data: "
        "The server cannot answer at the moment (status 503)",
        "Fetching bike_tracker My bikes data recovered",
    ]
