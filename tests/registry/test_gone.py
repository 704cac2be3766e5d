"""Trackers that leave the list: unavailable until they are back or are deleted."""

from typing import Any

from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
import pytest

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import BLUE, EMAIL, RED, Bikes, async_setup

# In hours.
WEEKS = 3 * 7 * 24


@pytest.mark.usefixtures("setup")
async def test_tracker_returns(
    bikes: Bikes,
    device_of: Any,
    device_registry: dr.DeviceRegistry,
    entity_registry: er.EntityRegistry,
    area_registry: ar.AreaRegistry,
) -> None:
    """A tracker that is gone, for however long, keeps entity id, area and names."""
    garage = area_registry.async_create("Garage")
    device_registry.async_update_device(
        device_of(bikes.entry, RED).id, area_id=garage.id, name_by_user="My red one"
    )
    entity_registry.async_update_entity(
        "device_tracker.red_bike", new_entity_id="device_tracker.mine"
    )
    await bikes.hass.async_block_till_done()

    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    tracker = bikes.hass.states.get("device_tracker.mine")
    other = bikes.hass.states.get("device_tracker.blue_bike")
    assert tracker is not None
    assert other is not None
    assert tracker.state == STATE_UNAVAILABLE
    assert other.state != STATE_UNAVAILABLE

    for _ in range(WEEKS):
        await bikes.poll(3600)
    bikes.simulator.assign(EMAIL, RED)
    await bikes.poll()
    tracker = bikes.hass.states.get("device_tracker.mine")
    assert tracker is not None
    assert tracker.state == "not_home"
    assert tracker.name == "My red one"
    device = device_of(bikes.entry, RED)
    assert device.area_id == garage.id
    assert device.name_by_user == "My red one"


@pytest.mark.usefixtures("setup")
async def test_gone_while_not_loaded(bikes: Bikes, device_of: Any) -> None:
    """A tracker that left while the account was not loaded is unavailable too."""
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    bikes.simulator.unassign(EMAIL, RED)
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll()
    assert bikes.value_of(RED) == STATE_UNAVAILABLE
    assert device_of(bikes.entry, RED)


@pytest.mark.usefixtures("setup")
async def test_empty_account(
    bikes: Bikes, device_of: Any, issue_registry: ir.IssueRegistry
) -> None:
    """An empty list removes nothing, says what to do, and stops saying so by itself."""
    issue_id = f"no_trackers_{bikes.entry.entry_id}"
    assert issue_registry.async_get_issue(DOMAIN, issue_id) is None
    bikes.simulator.unassign(EMAIL, RED)
    bikes.simulator.unassign(EMAIL, BLUE)

    await bikes.poll()
    assert device_of(bikes.entry, RED)
    assert bikes.value_of(RED) == STATE_UNAVAILABLE
    issue = issue_registry.async_get_issue(DOMAIN, issue_id)
    assert issue is not None
    assert issue.translation_key == "no_trackers"
    assert issue.translation_placeholders == {"account": bikes.entry.title}

    bikes.simulator.assign(EMAIL, RED)
    await bikes.poll()
    assert issue_registry.async_get_issue(DOMAIN, issue_id) is None
    assert bikes.value_of(RED) == "not_home"
