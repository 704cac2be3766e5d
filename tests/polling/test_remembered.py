"""What is known of positions after a restart, and what a bad file costs."""

from typing import Any

from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN, Platform
from homeassistant.core import CoreState, State
import pytest
from pytest_homeassistant_custom_component.common import (
    mock_restore_cache_with_extra_data,
)

from ..conftest import RED, Bikes, async_setup
from .places import AWAY


@pytest.mark.usefixtures("setup")
async def test_restart_with_positions_failing(bikes: Bikes) -> None:
    """What was known before a restart is known after it, whatever the lookup says."""
    await bikes.poll(301)
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    bikes.simulator.fault("status-404", path="positions")

    await async_setup(bikes.hass, bikes.entry)

    assert bikes.value_of(RED) == "home"
    assert bikes.value_of(f"{RED}_battery", Platform.SENSOR) == "80"
    assert bikes.value_of(f"{RED}_position_time", Platform.SENSOR) not in (
        None,
        STATE_UNKNOWN,
        STATE_UNAVAILABLE,
    )


@pytest.mark.usefixtures("setup")
async def test_restart_with_a_time_that_was_not_readable(bikes: Bikes) -> None:
    """The position is asked for again, also after a restart."""
    bikes.simulator.override_position(RED, "fixTime", "soon")
    bikes.simulator.report(RED, **AWAY)
    await bikes.poll()
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    bikes.simulator.clear_overrides(RED)

    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll(6)

    assert bikes.value_of(f"{RED}_position_time", Platform.SENSOR) not in (
        None,
        STATE_UNKNOWN,
        STATE_UNAVAILABLE,
    )


@pytest.mark.usefixtures("freezer")
@pytest.mark.parametrize(
    ("stored", "latitude"),
    [
        ({"latitude": 50.0, "longitude": 8.0, "accuracy": 0, "altitude": 1}, 50.0),
        ({"latitude": 50.0, "longitude": 8.0}, 49.414599),
        ({"latitude": "north", "longitude": 8.0, "accuracy": 0}, 49.414599),
    ],
)
async def test_place_of_another_version(
    bikes: Bikes, stored: dict[str, Any], latitude: float
) -> None:
    """Unknown keys are ignored, and what is unreadable costs the stored place alone."""
    bikes.hass.set_state(CoreState.starting)
    known = State("device_tracker.red_bike", "home")
    mock_restore_cache_with_extra_data(bikes.hass, [(known, stored)])
    await async_setup(bikes.hass, bikes.entry)

    state = bikes.state(RED)
    assert state.attributes["latitude"] == latitude
