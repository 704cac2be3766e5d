"""A tracker that comes back is first where it was."""

from homeassistant.const import EVENT_HOMEASSISTANT_STARTED
from homeassistant.core import CoreState
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from ..conftest import BLUE, EMAIL, RED, Bikes, async_setup
from ..tools.simulator.world import DEFAULT_LONGITUDE
from .places import AT_HOME, AWAY, place


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize("reloads", [0, 1, 2])
async def test_ride_away(bikes: Bikes, reloads: int) -> None:
    """A ride that begins during an outage or reloads is noticed seconds after: the tracker is first where it was."""
    calls = async_mock_service(bikes.hass, "notify", "theft")
    trigger = {
        "trigger": "zone.left",
        "target": {"device_id": bikes.device().id},
        "options": {"zone": "zone.home"},
    }
    theft = {"triggers": trigger, "actions": {"action": "notify.theft"}}
    assert await async_setup_component(bikes.hass, "automation", {"automation": theft})
    await bikes.hass.async_block_till_done()
    if not reloads:
        bikes.simulator.fault("status-503")
        await bikes.poll()
        bikes.simulator.report(RED, **AWAY)
        bikes.simulator.fault(None)
        await bikes.poll()
        assert place(bikes.state_of(RED)) == AT_HOME
    for _ in range(reloads):
        await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
        bikes.simulator.report(RED, **AWAY)
        await async_setup(bikes.hass, bikes.entry)
        assert place(bikes.state_of(RED)) == AT_HOME
        await bikes.poll(1)
    requests = len(bikes.simulator.requests)

    await bikes.poll(5)

    assert len(calls) == 1
    assert bikes.value_of(RED) == "not_home"
    assert place(bikes.state_of(RED)) == (48.1, 7.9)
    assert len(bikes.simulator.requests) == requests


@pytest.mark.usefixtures("setup")
async def test_ride_away_while_home_assistant_starts(bikes: Bikes) -> None:
    """Until automations run, trackers stay where they were."""
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    bikes.hass.set_state(CoreState.starting)
    bikes.simulator.report(RED, **AWAY)
    bikes.simulator.add_device("new", latitude=1.0, longitude=1.0, email=EMAIL)
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll()
    await bikes.poll()
    assert place(bikes.state_of(RED)) == AT_HOME
    assert place(bikes.state_of("new")) == (1.0, 1.0)

    bikes.hass.set_state(CoreState.running)
    bikes.hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await bikes.hass.async_block_till_done()
    assert place(bikes.state_of(RED)) == AT_HOME
    requests = len(bikes.simulator.requests)
    await bikes.poll(5)

    assert place(bikes.state_of(RED)) == (48.1, 7.9)
    assert len(bikes.simulator.requests) == requests


@pytest.mark.usefixtures("setup")
async def test_report_while_a_tracker_is_shown_where_it_was(bikes: Bikes) -> None:
    """It moves to where it is by then; one that was not away moves at once."""
    bikes.simulator.fault("status-503")
    await bikes.poll()
    bikes.simulator.report(RED, **AWAY)
    bikes.simulator.fault(None)
    await bikes.poll()
    for tracker in (RED, BLUE):
        bikes.simulator.report(tracker, latitude=48.2)
    await bikes.coordinator.async_refresh()
    await bikes.hass.async_block_till_done(wait_background_tasks=True)
    assert place(bikes.state_of(RED)) == AT_HOME
    assert place(bikes.state_of(BLUE)) == (48.2, DEFAULT_LONGITUDE)

    await bikes.poll(5)

    assert place(bikes.state_of(RED)) == (48.2, 7.9)
