"""Values that entities show: after reports, and after a restart."""

from typing import Any

from homeassistant.const import EVENT_HOMEASSISTANT_STARTED
from homeassistant.core import CoreState, State
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    async_mock_service,
    mock_restore_cache_with_extra_data,
)

from ..conftest import BLUE, EMAIL, RED, Bikes, async_setup
from ..tools.simulator.world import DEFAULT_LONGITUDE
from .conftest import AT_HOME, AWAY, asked, place


async def test_report_from_the_same_place(ready: Bikes, writes: list[str]) -> None:
    """After a report and a new status, only the four entities whose values changed are written."""
    await ready.poll()
    ready.simulator.report(RED, battery_level=79)
    ready.simulator.set_status(RED, "?")
    writes.clear()
    await ready.poll()
    names = ("battery", "position_id", "position_time")
    online = "binary_sensor.red_bike_connectivity"
    assert sorted(writes) == [online, *(f"sensor.red_bike_{it}" for it in names)]
    assert ready.state(online).state == "unknown"


@pytest.mark.parametrize("internal_id", [None, "shared"])
async def test_unusable_internal_id(ready: Bikes, internal_id: str | None) -> None:
    """While the internal ID of a tracker is missing, the tracker keeps its place. If two share an ID, both keep their places."""
    shared = ready.simulator.devices[BLUE].id if internal_id else None
    ready.simulator.override_field(RED, "id", shared)
    for bike in (RED, BLUE):
        ready.simulator.report(bike, **AWAY)
    ready.simulator.add_device("860000000000033", name="Green bike", email=EMAIL)
    await ready.poll()
    assert asked(ready.simulator)["positions"] == 2
    assert place(ready) == AT_HOME
    assert place(ready, BLUE) == (AT_HOME if shared else (48.1, 7.9))
    ready.simulator.clear_overrides(RED)
    await ready.poll()
    assert place(ready) == place(ready, BLUE) == (48.1, 7.9)
    # With another internal ID, the tracker stays the same: its `uniqueId` identifies it.
    ready.simulator.move_internal_id(RED)
    await ready.async_report(latitude=50.0)
    assert ready.state("device_tracker.red_bike").attributes["latitude"] == 50.0


# After a restart


@pytest.mark.parametrize(
    ("stored", "latitude"),
    [
        ({"latitude": 50.0, "longitude": 8.0, "accuracy": 0, "altitude": 1}, 50.0),
        ({"latitude": 50.0, "longitude": 8.0}, AT_HOME[0]),
        ({"latitude": "north", "longitude": 8.0, "accuracy": 0}, AT_HOME[0]),
    ],
)
async def test_old_place(bikes: Bikes, stored: dict[str, Any], latitude: float) -> None:
    """Unknown keys in a stored place are ignored. If a value is missing or wrong, the place is not used."""
    bikes.hass.set_state(CoreState.starting)
    known = State("device_tracker.red_bike", "home")
    mock_restore_cache_with_extra_data(bikes.hass, [(known, stored)])
    await async_setup(bikes.hass, bikes.entry)
    assert bikes.state(RED).attributes["latitude"] == latitude


async def test_ride_away(ready: Bikes) -> None:
    """After reloads, the tracker first shows its old place, so that automations notice that the bike left the zone."""
    calls = async_mock_service(ready.hass, "notify", "theft")
    trigger = {
        "trigger": "zone.left",
        "target": {"device_id": ready.device().id},
        "options": {"zone": "zone.home"},
    }
    theft = {"triggers": trigger, "actions": {"action": "notify.theft"}}
    assert await async_setup_component(ready.hass, "automation", {"automation": theft})
    await ready.hass.async_block_till_done()
    for _ in range(2):
        await ready.hass.config_entries.async_unload(ready.entry.entry_id)
        ready.simulator.report(RED, **AWAY)
        await async_setup(ready.hass, ready.entry)
        assert place(ready) == AT_HOME
        await ready.poll(1)
    requests = len(ready.simulator.requests)
    await ready.poll(5)
    assert len(calls) == 1
    assert (ready.value_of(RED), place(ready)) == ("not_home", (48.1, 7.9))
    assert len(ready.simulator.requests) == requests


async def test_ride_away_while_home_assistant_starts(ready: Bikes) -> None:
    """Until 5 seconds after the start, a tracker shows its old place. A new tracker shows its current place at once."""
    await ready.hass.config_entries.async_unload(ready.entry.entry_id)
    ready.hass.set_state(CoreState.starting)
    ready.simulator.report(RED, **AWAY)
    ready.simulator.add_device("new", latitude=1.0, longitude=1.0, email=EMAIL)
    await async_setup(ready.hass, ready.entry)
    await ready.poll(times=2)
    assert place(ready) == AT_HOME
    assert place(ready, "new") == (1.0, 1.0)
    ready.hass.set_state(CoreState.running)
    ready.hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await ready.hass.async_block_till_done()
    assert place(ready) == AT_HOME
    await ready.poll(5)
    assert place(ready) == (48.1, 7.9)


async def test_report_while_a_tracker_is_shown_where_it_was(ready: Bikes) -> None:
    """While a tracker shows its old place after an outage, new reports do not move it. Other trackers move at once."""
    ready.simulator.fault("status-503")
    await ready.poll()
    ready.simulator.report(RED, **AWAY)
    ready.simulator.fault(None)
    await ready.poll()
    for tracker in (RED, BLUE):
        ready.simulator.report(tracker, latitude=48.2)
    await ready.coordinator.async_refresh()
    await ready.hass.async_block_till_done(wait_background_tasks=True)
    assert place(ready) == AT_HOME
    assert place(ready, BLUE) == (48.2, DEFAULT_LONGITUDE)
    await ready.poll(5)
    assert place(ready) == (48.2, 7.9)
