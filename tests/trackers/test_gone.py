"""Trackers that leave the list, and when they are removed."""

from typing import Any

from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import BLUE, EMAIL, RED, Poll, StateOf, async_setup
from ..tools.simulator.server import Simulator

# In hours.
WEEK = 7 * 24


async def test_tracker_returns(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    device_registry: dr.DeviceRegistry,
    entity_registry: er.EntityRegistry,
    area_registry: ar.AreaRegistry,
) -> None:
    """A tracker that is gone for a while keeps entity id, area and names."""
    garage = area_registry.async_create("Garage")
    device = device_of(setup, RED)
    device_registry.async_update_device(
        device.id, area_id=garage.id, name_by_user="My red one"
    )
    entity_registry.async_update_entity(
        "device_tracker.red_bike", new_entity_id="device_tracker.mine"
    )
    await hass.async_block_till_done()

    simulator.unassign(EMAIL, RED)
    await poll()
    tracker = hass.states.get("device_tracker.mine")
    other = hass.states.get("device_tracker.blue_bike")
    assert tracker is not None
    assert other is not None
    assert tracker.state == STATE_UNAVAILABLE
    assert other.state != STATE_UNAVAILABLE

    for _ in range(WEEK - 1):
        await poll(3600)
    simulator.assign(EMAIL, RED)
    await poll()
    tracker = hass.states.get("device_tracker.mine")
    assert tracker is not None
    assert tracker.state == "not_home"
    assert tracker.name == "My red one"
    device = device_of(setup, RED)
    assert device.area_id == garage.id
    assert device.name_by_user == "My red one"


async def test_tracker_gone_for_a_week_is_removed(
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    state_of: StateOf,
) -> None:
    """After 7 days of polls without it the device goes, and comes back as new."""
    simulator.unassign(EMAIL, RED)
    await poll()
    for _ in range(WEEK - 1):
        await poll(3600)
    for _ in range(60 - 2):
        await poll(60)
    assert device_of(setup, RED)

    for _ in range(3):
        await poll(60)
    assert device_of(setup, RED) is None
    assert state_of(RED) is None
    assert device_of(setup, BLUE)

    simulator.assign(EMAIL, RED)
    await poll()
    assert device_of(setup, RED)
    state = state_of(RED)
    assert state is not None
    assert state.state == "not_home"


async def test_nothing_is_remembered_of_a_removed_tracker(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    hass_storage: dict[str, Any],
) -> None:
    """With the device goes the position that outlives a restart."""
    simulator.unassign(EMAIL, RED)
    for _ in range(WEEK + 2):
        await poll(3600)

    await hass.config_entries.async_unload(setup.entry_id)

    remembered = hass_storage[f"{DOMAIN}.{setup.entry_id}"]["data"]
    assert remembered["positions"].keys() == {BLUE}
    assert not remembered["missing"]


async def test_removed_tracker_that_leaves_again(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    hass_storage: dict[str, Any],
) -> None:
    """A removed tracker is missing no more; once it was there again, it may be anew."""
    simulator.unassign(EMAIL, RED)
    for _ in range(WEEK + 2):
        await poll(3600)
    assert device_of(setup, RED) is None
    await hass.config_entries.async_reload(setup.entry_id)
    assert not hass_storage[f"{DOMAIN}.{setup.entry_id}"]["data"]["missing"]

    simulator.assign(EMAIL, RED)
    await poll()
    simulator.unassign(EMAIL, RED)
    for _ in range(WEEK - 1):
        await poll(3600)
    assert device_of(setup, RED)
    for _ in range(3):
        await poll(3600)
    assert device_of(setup, RED) is None


async def test_missing_tracker_without_a_device(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    device_registry: dr.DeviceRegistry,
) -> None:
    """A tracker whose device is gone already is forgotten after the same week."""
    device_registry.async_remove_device(device_of(setup, RED).id)
    simulator.unassign(EMAIL, RED)
    for _ in range(WEEK + 2):
        await poll(3600)

    simulator.assign(EMAIL, RED)
    await poll()

    assert device_of(setup, RED)


@pytest.mark.parametrize("fault", ["status-503", "connection-refused"])
async def test_outage_removes_nothing(
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    fault: str,
) -> None:
    """Only successful polls count: a week of failures says nothing of who is missing."""
    simulator.unassign(EMAIL, RED)
    await poll()
    simulator.fault(fault)
    for _ in range(WEEK + 24):
        await poll(3600)
    simulator.fault(None)
    await poll(3600)
    await poll(61)

    assert device_of(setup, RED)


async def test_outages_do_not_add_up(
    setup: MockConfigEntry, simulator: Simulator, poll: Poll, device_of: Any
) -> None:
    """The time between two successful polls counts only if none failed in between."""
    simulator.unassign(EMAIL, RED)
    await poll()

    for _ in range(WEEK + 24):
        simulator.fault("status-503")
        await poll()
        simulator.fault(None)
        await poll(3500)

    assert device_of(setup, RED)


async def test_sleeping_machine_removes_nothing(
    setup: MockConfigEntry, simulator: Simulator, poll: Poll, device_of: Any
) -> None:
    """Days between two polls are not days of polls."""
    simulator.unassign(EMAIL, RED)
    await poll()

    await poll(30 * 24 * 3600)
    await poll()

    assert device_of(setup, RED)


async def test_missing_time_outlives_a_restart(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
) -> None:
    """A reload does not begin the 7 days anew."""
    simulator.unassign(EMAIL, RED)
    await poll()
    for _ in range(WEEK - 4):
        await poll(3600)
    await hass.config_entries.async_reload(setup.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)

    for _ in range(3):
        await poll(3600)
    assert device_of(setup, RED)
    for _ in range(2):
        await poll(3600)
    assert device_of(setup, RED) is None


async def test_missing_time_ends_with_the_return(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
) -> None:
    """Who was missing once and goes again while the entry is unloaded has a whole week."""
    simulator.unassign(EMAIL, RED)
    await poll()
    for _ in range(WEEK - 4):
        await poll(3600)
    simulator.fault("status-503")
    await poll(301)
    simulator.fault(None)
    simulator.assign(EMAIL, RED)
    await poll(120)
    await hass.config_entries.async_unload(setup.entry_id)
    simulator.unassign(EMAIL, RED)
    await async_setup(hass, setup)

    for _ in range(10):
        await poll(3600)

    assert device_of(setup, RED)


async def test_removed_while_not_running(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    state_of: StateOf,
) -> None:
    """A tracker unassigned while the entry was not loaded goes the same way."""
    await hass.config_entries.async_unload(setup.entry_id)
    simulator.unassign(EMAIL, RED)
    await async_setup(hass, setup)
    state = state_of(RED)
    assert state is not None
    assert state.state == STATE_UNAVAILABLE

    for _ in range(WEEK + 1):
        await poll(3600)

    assert device_of(setup, RED) is None


async def test_empty_account(
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    issue_registry: ir.IssueRegistry,
    state_of: StateOf,
) -> None:
    """An empty list removes nothing, says what to do, and stops saying so by itself."""
    issue_id = f"no_trackers_{setup.entry_id}"
    assert issue_registry.async_get_issue(DOMAIN, issue_id) is None
    simulator.unassign(EMAIL, RED)
    simulator.unassign(EMAIL, BLUE)

    for _ in range(WEEK + 24):
        await poll(3600)
    assert device_of(setup, RED)
    state = state_of(RED)
    assert state is not None
    assert state.state == STATE_UNAVAILABLE
    issue = issue_registry.async_get_issue(DOMAIN, issue_id)
    assert issue is not None
    assert issue.translation_key == "no_trackers"
    assert issue.translation_placeholders == {"account": setup.title}

    simulator.assign(EMAIL, RED)
    await poll()
    assert issue_registry.async_get_issue(DOMAIN, issue_id) is None
    state = state_of(RED)
    assert state is not None
    assert state.state == "not_home"


async def test_issue_goes_with_the_entry(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    simulator: Simulator,
    issue_registry: ir.IssueRegistry,
) -> None:
    """No repair issue is left of an entry that is removed."""
    simulator.unassign(EMAIL, RED)
    simulator.unassign(EMAIL, BLUE)
    await async_setup(hass, entry)
    assert issue_registry.issues

    await hass.config_entries.async_remove(entry.entry_id)

    assert not issue_registry.issues
