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


@pytest.mark.usefixtures("setup")
async def test_report_from_the_same_place(bikes: Bikes, writes: list[str]) -> None:
    """After a report and a new status, only the four entities whose values changed are written."""
    await bikes.poll()
    bikes.simulator.report(RED, battery_level=79)
    bikes.simulator.set_status(RED, "?")
    writes.clear()
    await bikes.poll()
    names = ("battery", "position_id", "position_time")
    online = "binary_sensor.red_bike_connectivity"
    assert sorted(writes) == [online, *(f"sensor.red_bike_{it}" for it in names)]
    assert bikes.state(online).state == "unknown"


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize("internal_id", [None, "shared"])
async def test_internal_id_that_leads_nowhere(
    bikes: Bikes, internal_id: str | None
) -> None:
    """While the internal ID of a tracker is missing or belongs to another tracker, the tracker keeps its place."""
    shared = bikes.simulator.devices[BLUE].id if internal_id else None
    bikes.simulator.override_field(RED, "id", shared)
    bikes.simulator.report(RED, **AWAY)
    bikes.simulator.add_device("860000000000033", name="Green bike", email=EMAIL)
    await bikes.poll()
    assert asked(bikes.simulator)["positions"] == 2
    assert place(bikes) == place(bikes, BLUE) == AT_HOME
    bikes.simulator.clear_overrides(RED)
    await bikes.poll()
    assert place(bikes) == (48.1, 7.9)
    assert place(bikes, BLUE) == AT_HOME
    # With another internal ID, the tracker stays the same: its `uniqueId` identifies it.
    bikes.simulator.move_internal_id(RED)
    bikes.simulator.report(RED, latitude=50.0)
    await bikes.poll()
    assert bikes.state("device_tracker.red_bike").attributes["latitude"] == 50.0


# After a restart


@pytest.mark.usefixtures("freezer")
@pytest.mark.parametrize(
    ("stored", "latitude"),
    [
        ({"latitude": 50.0, "longitude": 8.0, "accuracy": 0, "altitude": 1}, 50.0),
        ({"latitude": 50.0, "longitude": 8.0}, AT_HOME[0]),
        ({"latitude": "north", "longitude": 8.0, "accuracy": 0}, AT_HOME[0]),
    ],
)
async def test_place_of_another_version(
    bikes: Bikes, stored: dict[str, Any], latitude: float
) -> None:
    """Unknown keys in a stored place are ignored. If a value is missing or wrong, the place is not used."""
    bikes.hass.set_state(CoreState.starting)
    known = State("device_tracker.red_bike", "home")
    mock_restore_cache_with_extra_data(bikes.hass, [(known, stored)])
    await async_setup(bikes.hass, bikes.entry)
    assert bikes.state(RED).attributes["latitude"] == latitude


@pytest.mark.usefixtures("setup")
async def test_ride_away(bikes: Bikes) -> None:
    """After reloads, the tracker first shows its old place, so that automations notice that the bike left the zone."""
    calls = async_mock_service(bikes.hass, "notify", "theft")
    trigger = {
        "trigger": "zone.left",
        "target": {"device_id": bikes.device().id},
        "options": {"zone": "zone.home"},
    }
    theft = {"triggers": trigger, "actions": {"action": "notify.theft"}}
    assert await async_setup_component(bikes.hass, "automation", {"automation": theft})
    await bikes.hass.async_block_till_done()
    for _ in range(2):
        await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
        bikes.simulator.report(RED, **AWAY)
        await async_setup(bikes.hass, bikes.entry)
        assert place(bikes) == AT_HOME
        await bikes.poll(1)
    requests = len(bikes.simulator.requests)
    await bikes.poll(5)
    assert len(calls) == 1
    assert (bikes.value_of(RED), place(bikes)) == ("not_home", (48.1, 7.9))
    assert len(bikes.simulator.requests) == requests


@pytest.mark.usefixtures("setup")
async def test_ride_away_while_home_assistant_starts(bikes: Bikes) -> None:
    """Until 5 seconds after the start, a tracker shows its old place. A new tracker shows its current place at once."""
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    bikes.hass.set_state(CoreState.starting)
    bikes.simulator.report(RED, **AWAY)
    bikes.simulator.add_device("new", latitude=1.0, longitude=1.0, email=EMAIL)
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll()
    await bikes.poll()
    assert place(bikes) == AT_HOME
    assert place(bikes, "new") == (1.0, 1.0)
    bikes.hass.set_state(CoreState.running)
    bikes.hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await bikes.hass.async_block_till_done()
    assert place(bikes) == AT_HOME
    await bikes.poll(5)
    assert place(bikes) == (48.1, 7.9)


@pytest.mark.usefixtures("setup")
async def test_report_while_a_tracker_is_shown_where_it_was(bikes: Bikes) -> None:
    """While a tracker shows its old place after an outage, new reports do not move it. Other trackers move at once."""
    bikes.simulator.fault("status-503")
    await bikes.poll()
    bikes.simulator.report(RED, **AWAY)
    bikes.simulator.fault(None)
    await bikes.poll()
    for tracker in (RED, BLUE):
        bikes.simulator.report(tracker, latitude=48.2)
    await bikes.coordinator.async_refresh()
    await bikes.hass.async_block_till_done(wait_background_tasks=True)
    assert place(bikes) == AT_HOME
    assert place(bikes, BLUE) == (48.2, DEFAULT_LONGITUDE)
    await bikes.poll(5)
    assert place(bikes) == (48.2, 7.9)
