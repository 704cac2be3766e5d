"""What is known of positions after a restart, and what a bad file costs."""

import copy
from typing import Any

from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN, Platform
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import RED, Poll, ValueOf, async_setup
from ..tools.simulator.server import Simulator
from .places import AWAY


async def test_restart_with_positions_failing(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    value_of: ValueOf,
) -> None:
    """What was known before a restart is known after it, whatever the lookup says."""
    await poll(301)
    await hass.config_entries.async_unload(setup.entry_id)
    simulator.fault("status-404", path="positions")

    await async_setup(hass, setup)

    assert value_of(RED) == "home"
    assert value_of(f"{RED}_battery", Platform.SENSOR) == "80"
    assert value_of(f"{RED}_position_time", Platform.SENSOR) not in (
        None,
        STATE_UNKNOWN,
        STATE_UNAVAILABLE,
    )


async def test_restart_with_a_time_that_was_not_readable(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    value_of: ValueOf,
) -> None:
    """The position is asked for again, also after a restart."""
    simulator.override_position(RED, "fixTime", "soon")
    simulator.report(RED, **AWAY)
    await poll()
    await hass.config_entries.async_unload(setup.entry_id)
    simulator.clear_overrides(RED)

    await async_setup(hass, setup)
    await poll(6)

    assert value_of(f"{RED}_position_time", Platform.SENSOR) not in (
        None,
        STATE_UNKNOWN,
        STATE_UNAVAILABLE,
    )


async def test_unloading_with_news(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    hass_storage: dict[str, Any],
) -> None:
    """What is not on disk yet is written at once."""
    for _ in range(10):
        await poll()
    simulator.report(RED, latitude=50.0)
    await poll()

    await hass.config_entries.async_unload(setup.entry_id)

    stored = hass_storage[f"{DOMAIN}.{setup.entry_id}"]["data"]
    assert stored["trackers"][RED]["position"]["latitude"] == 50.0


async def test_nothing_is_written_after_unloading(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    poll: Poll,
    hass_storage: dict[str, Any],
) -> None:
    """Whoever loads the account next has the file for itself."""
    coordinator = setup.runtime_data.coordinator
    await hass.config_entries.async_unload(setup.entry_id)
    before = copy.deepcopy(hass_storage.get(f"{DOMAIN}.{setup.entry_id}"))

    coordinator.async_forget(RED)
    await poll(301)

    assert hass_storage.get(f"{DOMAIN}.{setup.entry_id}") == before
