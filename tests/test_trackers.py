"""Trackers come, go, are renamed and shared."""

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from homeassistant.config_entries import ConfigEntryDisabler
from homeassistant.const import STATE_UNAVAILABLE, Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import (
    MockHAClientWebSocket,
    WebSocketGenerator,
)

from custom_components.bike_tracker import portions
from custom_components.bike_tracker.const import DOMAIN

from .conftest import (
    BLUE,
    BOB,
    EMAIL,
    PASSWORD,
    RED,
    MakeEntry,
    Poll,
    StateOf,
    async_setup,
)
from .simulator.server import Simulator

CAROL = "carol@example.com"
GREEN = "860000000000033"
DAY = 24 * 60
# In hours.
WEEK = 7 * 24


@pytest.fixture
def device_of(device_registry: dr.DeviceRegistry) -> Any:
    """Return a function for the device of a tracker."""

    def _device_of(entry: MockConfigEntry, tracker: str) -> dr.DeviceEntry | None:
        return device_registry.async_get_device_by_identifier(
            (DOMAIN, tracker), entry.entry_id
        )

    return _device_of


@pytest.mark.usefixtures("setup")
async def test_status_and_nothing_else(
    simulator: Simulator, poll: Poll, writes: list[str], state_of: StateOf
) -> None:
    """A tracker that goes offline is off within one poll; no other state is written."""
    simulator.set_status(RED, "offline")
    writes.clear()

    await poll()

    assert writes == ["binary_sensor.red_bike_connectivity"]
    state = state_of(f"{RED}_online", Platform.BINARY_SENSOR)
    assert state is not None
    assert state.state == "off"


@pytest.mark.usefixtures("setup")
async def test_idle_polls_write_nothing(poll: Poll, writes: list[str]) -> None:
    """Polls without news write no state, in whatever order the trackers come."""
    writes.clear()

    for _ in range(5):
        await poll()

    assert not writes


@pytest.mark.usefixtures("setup")
async def test_unknown_status(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """A status the interface does not name is unknown, not off."""
    simulator.set_status(RED, "sleeping")

    await poll()

    state = state_of(f"{RED}_online", Platform.BINARY_SENSOR)
    assert state is not None
    assert state.state == "unknown"


@pytest.mark.usefixtures("setup")
async def test_new_tracker(simulator: Simulator, poll: Poll, state_of: StateOf) -> None:
    """A tracker that is assigned appears at the next poll, with all its entities."""
    simulator.add_device(GREEN, name="Green bike", email=EMAIL)

    await poll()

    for unique_id, platform in (
        (GREEN, Platform.DEVICE_TRACKER),
        (f"{GREEN}_online", Platform.BINARY_SENSOR),
        (f"{GREEN}_disabled", Platform.BINARY_SENSOR),
        (f"{GREEN}_last_update", Platform.SENSOR),
        (f"{GREEN}_battery", Platform.SENSOR),
    ):
        state = state_of(unique_id, platform)
        assert state is not None
        assert state.state != STATE_UNAVAILABLE


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
    for _ in range(WEEK - 24):
        await poll(3600)
    for _ in range(DAY - 2):
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


async def async_delete(
    client: MockHAClientWebSocket, entry: MockConfigEntry, device: dr.DeviceEntry
) -> dict[str, Any]:
    """Press the delete button of a device, by the command that all releases know."""
    await client.send_json_auto_id(
        {
            "type": "config/device_registry/remove_config_entry",
            "config_entry_id": entry.entry_id,
            "device_id": device.id,
        }
    )
    response: dict[str, Any] = await client.receive_json()
    return response


async def test_delete_button(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    state_of: StateOf,
    hass_ws_client: WebSocketGenerator,
) -> None:
    """A person may delete a tracker that is gone, not one that is listed."""
    assert await async_setup_component(hass, "config", {})
    client = await hass_ws_client(hass)
    device = device_of(setup, RED)

    response = await async_delete(client, setup, device)
    assert not response["success"]
    assert device_of(setup, RED)

    simulator.unassign(EMAIL, RED)
    await poll()
    response = await async_delete(client, setup, device)
    assert response["success"]
    assert device_of(setup, RED) is None

    simulator.assign(EMAIL, RED)
    await poll()
    state = state_of(RED)
    assert state is not None
    assert state.state == "not_home"


async def test_delete_button_is_remembered(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    hass_ws_client: WebSocketGenerator,
    hass_storage: dict[str, Any],
) -> None:
    """Nothing is left of a tracker that a person deleted, although no list says so."""
    assert await async_setup_component(hass, "config", {})
    simulator.unassign(EMAIL, RED)
    await poll()
    simulator.unassign(EMAIL, BLUE)
    for _ in range(10):
        await poll()
    remembered = hass_storage[f"{DOMAIN}.{setup.entry_id}"]
    assert remembered["data"]["positions"].keys() == {RED, BLUE}
    assert remembered["data"]["missing"].keys() == {RED}

    client = await hass_ws_client(hass)
    await async_delete(client, setup, device_of(setup, RED))
    for _ in range(10):
        await poll()

    remembered = hass_storage[f"{DOMAIN}.{setup.entry_id}"]
    assert remembered["data"]["positions"].keys() == {BLUE}
    assert not remembered["data"]["missing"]


async def test_deleted_tracker_that_comes_back(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    state_of: StateOf,
    hass_ws_client: WebSocketGenerator,
) -> None:
    """It is a new tracker, and not first where it was."""
    assert await async_setup_component(hass, "config", {})
    client = await hass_ws_client(hass)
    simulator.unassign(EMAIL, RED)
    await poll()
    await async_delete(client, setup, device_of(setup, RED))
    simulator.report(RED, latitude=50.0)
    simulator.assign(EMAIL, RED)

    await poll()

    state = state_of(RED)
    assert state is not None
    assert state.attributes["latitude"] == 50.0


async def test_delete_button_of_an_account_that_is_not_loaded(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    device_of: Any,
    hass_ws_client: WebSocketGenerator,
) -> None:
    """Nobody knows whether the tracker is gone, so it stays."""
    assert await async_setup_component(hass, "config", {})
    client = await hass_ws_client(hass)
    await hass.config_entries.async_unload(setup.entry_id)

    response = await async_delete(client, setup, device_of(setup, RED))

    assert not response["success"]


async def test_delete_button_of_a_device_of_another_make(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    device_registry: dr.DeviceRegistry,
    hass_ws_client: WebSocketGenerator,
) -> None:
    """A device that is no tracker of ours can always go."""
    assert await async_setup_component(hass, "config", {})
    client = await hass_ws_client(hass)
    device = device_registry.async_get_or_create(
        config_entry_id=setup.entry_id, identifiers={("other", "thing")}
    )

    response = await async_delete(client, setup, device)

    assert response["success"]


async def test_rename(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
) -> None:
    """A rename is followed; entity ids stay."""
    simulator.rename(RED, "Fast bike")

    await poll()

    assert device_of(setup, RED).name == "Fast bike"
    tracker = hass.states.get("device_tracker.red_bike")
    online = hass.states.get("binary_sensor.red_bike_connectivity")
    assert tracker is not None
    assert online is not None
    assert tracker.name == "Fast bike"
    assert online.name == "Fast bike Connectivity"


async def test_rename_of_a_tracker_that_is_gone(
    setup: MockConfigEntry, simulator: Simulator, poll: Poll, device_of: Any
) -> None:
    """A tracker that was renamed while it was not listed comes back with the new name."""
    simulator.unassign(EMAIL, RED)
    await poll()
    simulator.rename(RED, "Fast bike")
    simulator.assign(EMAIL, RED)

    await poll()

    assert device_of(setup, RED).name == "Fast bike"


async def test_rename_of_a_device_that_a_person_named(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    device_registry: dr.DeviceRegistry,
) -> None:
    """The name a person gave wins."""
    device_registry.async_update_device(device_of(setup, RED).id, name_by_user="Mine")
    simulator.rename(RED, "Fast bike")

    await poll()

    tracker = hass.states.get("device_tracker.red_bike")
    assert tracker is not None
    assert tracker.name == "Mine"


async def test_rename_before_the_device_exists(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    device_of: Any,
    device_registry: dr.DeviceRegistry,
) -> None:
    """A tracker whose device is gone can be renamed without harm."""
    device_registry.async_remove_device(device_of(setup, RED).id)
    simulator.rename(RED, "Fast bike")

    await poll()

    assert device_of(setup, BLUE).name == "Blue bike"


@pytest.mark.usefixtures("setup")
async def test_other_internal_id(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """The same `uniqueId` under another internal `id` is the same tracker."""
    simulator.move_internal_id(RED)
    simulator.report(RED, latitude=50.0)

    await poll()

    state = state_of(RED)
    assert state is not None
    assert state.entity_id == "device_tracker.red_bike"
    assert state.attributes["latitude"] == 50.0


async def test_shared_tracker(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    poll: Poll,
    device_of: Any,
    state_of: StateOf,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A tracker of two accounts is set up once, by the one that had it first."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    simulator.add_device(GREEN, email=BOB)
    other = make_entry(BOB)
    await async_setup(hass, other)
    await poll()
    assert device_of(setup, RED)
    assert device_of(other, RED) is None
    assert device_of(other, GREEN)
    assert "already exists" not in caplog.text

    await hass.config_entries.async_remove(setup.entry_id)
    await poll()
    assert device_of(other, RED)
    state = state_of(RED)
    assert state is not None
    assert state.state == "not_home"


async def test_shared_tracker_after_a_restart(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    device_of: Any,
) -> None:
    """Who had it first is known after a restart, whoever starts first."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await hass.config_entries.async_unload(setup.entry_id)

    await async_setup(hass, other)
    await async_setup(hass, setup)

    assert device_of(setup, RED)
    assert device_of(other, RED) is None


async def test_two_accounts_at_once(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Two accounts that start together never both take a shared tracker."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    make_entry(BOB)

    assert await async_setup_component(hass, DOMAIN, {})
    await hass.async_block_till_done(wait_background_tasks=True)

    assert len(hass.states.async_entity_ids("device_tracker")) == 2
    assert "already exists" not in caplog.text


async def test_shared_tracker_of_a_disabled_account(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    poll: Poll,
    device_of: Any,
) -> None:
    """An account that is only disabled keeps its trackers."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await async_setup(hass, other)

    await hass.config_entries.async_set_disabled_by(
        setup.entry_id, ConfigEntryDisabler.USER
    )
    await poll()

    assert device_of(other, RED) is None


async def test_shared_tracker_that_the_first_account_loses(
    setup: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    hass: HomeAssistant,
    poll: Poll,
    device_of: Any,
    device_registry: dr.DeviceRegistry,
    entity_registry: er.EntityRegistry,
    area_registry: ar.AreaRegistry,
    state_of: StateOf,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The other account takes over within minutes, with all that a person changed."""
    garage = area_registry.async_create("Garage")
    before = device_of(setup, RED)
    device_registry.async_update_device(
        before.id, area_id=garage.id, name_by_user="Mine"
    )
    entity_registry.async_update_entity(
        "device_tracker.red_bike", new_entity_id="device_tracker.mine"
    )
    await hass.async_block_till_done()
    entities = {
        entity.id: (entity.entity_id, entity.disabled_by)
        for entity in er.async_entries_for_device(
            entity_registry, before.id, include_disabled_entities=True
        )
    }
    helper = entity_registry.async_get_or_create(
        "sensor", "template", "mileage", device_id=before.id
    )
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await async_setup(hass, other)
    assert device_of(other, RED) is None
    simulator.unassign(EMAIL, RED)

    await poll()
    await poll()
    kept = entity_registry.async_get(helper.entity_id)
    assert kept is not None
    assert (kept.device_id, kept.config_entry_id) == (before.id, None)
    entity_registry.async_remove(helper.entity_id)

    assert device_of(setup, RED) is None
    after = device_of(other, RED)
    assert (after.id, after.area_id, after.name_by_user) == (
        before.id,
        garage.id,
        "Mine",
    )
    moved = er.async_entries_for_device(
        entity_registry, after.id, include_disabled_entities=True
    )
    assert {item.id: (item.entity_id, item.disabled_by) for item in moved} == entities
    assert {item.config_entry_id for item in moved} == {other.entry_id}
    state = state_of(RED)
    assert state is not None
    assert (state.entity_id, state.state) == ("device_tracker.mine", "not_home")
    assert "already exists" not in caplog.text

    simulator.report(RED, latitude=48.25)
    await poll()
    state = state_of(RED)
    assert state is not None
    assert state.attributes["latitude"] == 48.25

    # It stays there, even if the first account lists it again.
    simulator.assign(EMAIL, RED)
    await poll()
    await poll()
    assert device_of(setup, RED) is None
    assert device_of(other, RED)


async def test_shared_tracker_that_comes_back_to_the_first_account(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    poll: Poll,
    device_of: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It stays with the account that took it over, also after a restart."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await async_setup(hass, other)
    simulator.unassign(EMAIL, RED)
    for _ in range(27):
        await poll(3600)
    simulator.assign(EMAIL, RED)

    for _ in range(3):
        await poll()
        assert device_of(setup, RED) is None
        assert device_of(other, RED)

    for entry in (setup, other):
        await hass.config_entries.async_unload(entry.entry_id)
    for entry in (setup, other):
        await async_setup(hass, entry)
        await poll()
        assert device_of(setup, RED) is None
        assert device_of(other, RED)
    assert len(hass.states.async_entity_ids("device_tracker")) == 2
    assert "already exists" not in caplog.text


async def test_shared_tracker_that_goes_back_and_forth(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    poll: Poll,
    device_of: Any,
    state_of: StateOf,
) -> None:
    """It is seen wherever it is, also with an account that had it before."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await async_setup(hass, other)
    accounts = [(EMAIL, setup), (BOB, other)]

    for latitude in (48.0, 49.0, 50.0):
        (giver, _), (taker, entry) = accounts
        simulator.assign(taker, RED)
        await poll()
        simulator.unassign(giver, RED)
        simulator.report(RED, latitude=latitude)
        await poll()
        await poll()
        await poll(6)

        assert device_of(entry, RED)
        state = state_of(RED)
        assert state is not None
        assert state.attributes["latitude"] == latitude
        accounts.reverse()


async def test_shared_tracker_of_which_something_was_left(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    poll: Poll,
    device_of: Any,
    entity_registry: er.EntityRegistry,
    state_of: StateOf,
) -> None:
    """An account gets back a tracker of which it has a device without entities."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    await hass.config_entries.async_unload(setup.entry_id)
    for entity in er.async_entries_for_device(
        entity_registry, device_of(setup, RED).id, include_disabled_entities=True
    ):
        entity_registry.async_remove(entity.entity_id)
    other = make_entry(BOB)
    await async_setup(hass, other)
    await async_setup(hass, setup)
    assert device_of(setup, RED)
    moved = device_of(other, RED)
    assert moved

    simulator.unassign(BOB, RED)
    await poll()
    await poll()

    assert device_of(setup, RED).id == moved.id
    for unique_id in (RED, BLUE):
        state = state_of(unique_id)
        assert state is not None
        assert state.state == "not_home"


async def test_shared_tracker_that_is_listed_no_more(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    poll: Poll,
    device_of: Any,
) -> None:
    """An account takes over only what it lists itself, and leaves the rest to others."""
    for email in (BOB, CAROL):
        simulator.add_account(email, PASSWORD)
        simulator.assign(email, RED)
        simulator.add_device(f"{GREEN}{email}", email=email)
    await async_setup(hass, make_entry(BOB))
    simulator.unassign(BOB, RED)
    await hass.config_entries.async_remove(setup.entry_id)
    await poll()

    other = make_entry(CAROL)
    await async_setup(hass, other)

    assert device_of(other, RED)


async def test_many_trackers_come_and_go(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator, poll: Poll
) -> None:
    """Fleets are added and told in portions; none is forgotten."""
    trackers = [f"35{number:013}" for number in range(250)]
    for tracker in trackers:
        simulator.add_device(tracker, email=EMAIL)
    await async_setup(hass, entry)
    assert len(hass.states.async_entity_ids("device_tracker")) == 252

    for tracker in trackers:
        simulator.set_status(tracker, "offline")
    await poll()
    assert (
        sum(state.state == "off" for state in hass.states.async_all("binary_sensor"))
        == 250 + 2 * 252
    )

    simulator.fault("status-500")
    await poll()
    assert all(
        state.state == STATE_UNAVAILABLE
        for state in hass.states.async_all("device_tracker")
    )


async def test_trackers_that_go_while_they_are_added(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fleet that is taken away before all of it was added comes back whole."""
    turn = asyncio.Event()
    monkeypatch.setattr(
        portions, "asyncio", SimpleNamespace(sleep=lambda _: turn.wait())
    )
    trackers = [f"35{number:013}" for number in range(30)]
    for tracker in trackers:
        simulator.add_device(tracker, email=EMAIL)
    await setup.runtime_data.coordinator.async_refresh()
    for tracker in trackers:
        simulator.unassign(EMAIL, tracker)
    await setup.runtime_data.coordinator.async_refresh()
    turn.set()
    await hass.async_block_till_done()
    assert 2 < len(hass.states.async_all("device_tracker")) < 32

    for tracker in trackers:
        simulator.assign(EMAIL, tracker)
    await poll()

    states = [state.state for state in hass.states.async_all("device_tracker")]
    assert states == ["not_home"] * 32


async def test_thousands_of_trackers(
    hass: HomeAssistant, setup: MockConfigEntry, simulator: Simulator, poll: Poll
) -> None:
    """A fleet of any size is read whole."""
    for number in range(1_100):
        simulator.add_device(f"35{number:013}", email=EMAIL, latitude=None)

    await poll()

    assert len(hass.states.async_entity_ids("device_tracker")) == 1_102


async def test_only_those_who_listen_to_what_changed_are_called(
    setup: MockConfigEntry, simulator: Simulator, poll: Poll
) -> None:
    """A tracker's news are told to those who listen to it, an outage to everybody."""
    called: list[str] = []
    coordinator = setup.runtime_data.coordinator
    for name in (RED, BLUE):
        coordinator.async_add_listener(lambda name=name: called.append(name), name)
    coordinator.async_add_listener(lambda: called.append("all"))

    for change, expected in (
        (lambda: simulator.set_status(RED, "offline"), ["all", RED]),
        (lambda: None, []),
        (lambda: simulator.report(BLUE, latitude=50.0), ["all", BLUE]),
        (lambda: simulator.fault("status-503"), ["all", RED, BLUE]),
        (lambda: None, []),
        (lambda: simulator.fault(None), ["all", RED, BLUE]),
        (lambda: simulator.unassign(EMAIL, RED), ["all", RED]),
        (lambda: None, []),
        (lambda: simulator.assign(EMAIL, RED), ["all", RED]),
    ):
        called.clear()
        change()
        await poll(301)
        assert called == expected


async def test_entity_that_fails_does_not_hold_up_the_others(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    state_of: StateOf,
) -> None:
    """A bug in one platform leaves the other platforms' states right."""
    from custom_components.bike_tracker.sensor import BikeTrackerSensor  # noqa: PLC0415

    def _fail(_: BikeTrackerSensor) -> None:
        raise RuntimeError("a bug")

    simulator.set_status(RED, "offline")
    simulator.touch([RED], last_update=dt_util.utcnow() + timedelta(seconds=30))
    with monkeypatch.context() as patch:
        patch.setattr(BikeTrackerSensor, "async_write_ha_state", _fail)
        await poll()

    state = state_of(f"{RED}_online", Platform.BINARY_SENSOR)
    assert state is not None
    assert state.state == "off"
    assert "a bug" in caplog.text
    caplog.clear()


async def test_shared_tracker_without_a_device(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    poll: Poll,
    device_of: Any,
    device_registry: dr.DeviceRegistry,
) -> None:
    """A tracker whose device is gone already moves all the same."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await async_setup(hass, other)
    device_registry.async_remove_device(device_of(setup, RED).id)
    simulator.unassign(EMAIL, RED)

    await poll()
    await poll()

    assert device_of(other, RED)
