"""Trackers that leave the list: unavailable until they are back or are deleted."""

from typing import Any

from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import BLUE, EMAIL, RED, Poll, ValueOf, async_setup
from ..tools.simulator.server import Simulator

# In hours.
WEEKS = 3 * 7 * 24


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
    """A tracker that is gone, for however long, keeps entity id, area and names."""
    garage = area_registry.async_create("Garage")
    device_registry.async_update_device(
        device_of(setup, RED).id, area_id=garage.id, name_by_user="My red one"
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

    for _ in range(WEEKS):
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


async def test_gone_while_not_loaded(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    value_of: ValueOf,
) -> None:
    """A tracker that left while the account was not loaded is unavailable too."""
    await hass.config_entries.async_unload(setup.entry_id)
    simulator.unassign(EMAIL, RED)
    await async_setup(hass, setup)
    await poll()
    assert value_of(RED) == STATE_UNAVAILABLE
    assert device_of(setup, RED)


async def test_empty_account(
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    issue_registry: ir.IssueRegistry,
    value_of: ValueOf,
) -> None:
    """An empty list removes nothing, says what to do, and stops saying so by itself."""
    issue_id = f"no_trackers_{setup.entry_id}"
    assert issue_registry.async_get_issue(DOMAIN, issue_id) is None
    simulator.unassign(EMAIL, RED)
    simulator.unassign(EMAIL, BLUE)

    await poll()
    assert device_of(setup, RED)
    assert value_of(RED) == STATE_UNAVAILABLE
    issue = issue_registry.async_get_issue(DOMAIN, issue_id)
    assert issue is not None
    assert issue.translation_key == "no_trackers"
    assert issue.translation_placeholders == {"account": setup.title}

    simulator.assign(EMAIL, RED)
    await poll()
    assert issue_registry.async_get_issue(DOMAIN, issue_id) is None
    assert value_of(RED) == "not_home"
