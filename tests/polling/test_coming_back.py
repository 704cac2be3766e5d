"""A tracker that comes back is first where it was."""

from typing import Any

from homeassistant.const import EVENT_HOMEASSISTANT_STARTED
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_mock_service,
)

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import BLUE, EMAIL, RED, Poll, StateOf, ValueOf, async_setup
from ..tools.simulator.server import Simulator
from ..tools.simulator.world import DEFAULT_LONGITUDE
from .places import AT_HOME, AWAY, place


async def async_watch_for_leaving(
    hass: HomeAssistant, entry: MockConfigEntry
) -> list[Any]:
    """Set up an automation on the red bike's device; return what it does."""
    device = dr.async_get(hass).async_get_device_by_identifier(
        (DOMAIN, RED), entry.entry_id
    )
    assert device is not None
    calls = async_mock_service(hass, "notify", "theft")
    assert await async_setup_component(
        hass,
        "automation",
        {
            "automation": {
                "triggers": {
                    "trigger": "zone.left",
                    "target": {"device_id": device.id},
                    "options": {"zone": "zone.home"},
                },
                "actions": {"action": "notify.theft"},
            }
        },
    )
    await hass.async_block_till_done()
    return calls


async def test_ride_away_during_an_outage(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """A ride that begins while the server is down is noticed seconds after it is back."""
    calls = await async_watch_for_leaving(hass, setup)
    simulator.fault("status-503")
    await poll()
    simulator.report(RED, **AWAY)
    simulator.fault(None)
    await poll()
    assert place(state_of(RED)) == AT_HOME
    requests = len(simulator.requests)

    await poll(5)

    assert len(calls) == 1
    assert place(state_of(RED)) == (48.1, 7.9)
    assert len(simulator.requests) == requests


@pytest.mark.parametrize("reloads", [1, 2])
async def test_ride_away_during_a_reload(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
    value_of: ValueOf,
    reloads: int,
) -> None:
    """After reloads the tracker is first where it was; seconds later it has left."""
    calls = await async_watch_for_leaving(hass, setup)
    for _ in range(reloads):
        await hass.config_entries.async_unload(setup.entry_id)
        simulator.report(RED, **AWAY)
        await async_setup(hass, setup)
        assert place(state_of(RED)) == AT_HOME
        await poll(1)

    await poll(5)

    assert len(calls) == 1
    assert value_of(RED) == "not_home"


async def test_ride_away_while_home_assistant_starts(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """Until automations run, trackers stay where they were."""
    await hass.config_entries.async_unload(setup.entry_id)
    hass.set_state(CoreState.starting)
    simulator.report(RED, **AWAY)
    simulator.add_device("new", latitude=1.0, longitude=1.0, email=EMAIL)
    await async_setup(hass, setup)
    await poll()
    await poll()
    assert place(state_of(RED)) == AT_HOME
    assert place(state_of("new")) == (1.0, 1.0)

    hass.set_state(CoreState.running)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await hass.async_block_till_done()
    assert place(state_of(RED)) == AT_HOME
    requests = len(simulator.requests)
    await poll(5)

    assert place(state_of(RED)) == (48.1, 7.9)
    assert len(simulator.requests) == requests


async def test_report_while_a_tracker_is_shown_where_it_was(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """It moves to where it is by then; one that was not away moves at once."""
    simulator.fault("status-503")
    await poll()
    simulator.report(RED, **AWAY)
    simulator.fault(None)
    await poll()
    for tracker in (RED, BLUE):
        simulator.report(tracker, latitude=48.2)
    await setup.runtime_data.coordinator.async_refresh()
    await hass.async_block_till_done(wait_background_tasks=True)
    assert place(state_of(RED)) == AT_HOME
    assert place(state_of(BLUE)) == (48.2, DEFAULT_LONGITUDE)

    await poll(5)

    assert place(state_of(RED)) == (48.2, 7.9)
