"""An account is set up, reloaded and removed."""

import asyncio
from typing import Any

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import (
    CONF_EMAIL,
    CONF_PASSWORD,
    CONF_URL,
    STATE_UNAVAILABLE,
    Platform,
)
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from syrupy.assertion import SnapshotAssertion

from custom_components.bike_tracker.api.client import TrackingClient
from custom_components.bike_tracker.const import DOMAIN

from .books import file_of, files_in
from .conftest import (
    BOB,
    EMAIL,
    EVERYTHING,
    PASSWORD,
    RED,
    Bikes,
    MakeEntry,
    Poll,
    ValueOf,
    async_setup,
)
from .tools.simulator.server import Simulator


async def async_update(hass: HomeAssistant) -> None:
    """Poll as `homeassistant.update_entity` does."""
    await async_setup_component(hass, "homeassistant", {})
    data = {"entity_id": ["binary_sensor.red_bike_connectivity"]}
    await hass.services.async_call(
        "homeassistant", "update_entity", data, blocking=True
    )


@pytest.mark.freeze_time("2026-11-20 12:00:00+00:00")
@pytest.mark.usefixtures("all_enabled")
async def test_entities(
    bikes: Bikes, entity_registry: er.EntityRegistry, snapshot: SnapshotAssertion
) -> None:
    """Every tracker has these entities with these values."""
    place: Any = {
        "latitude": 48.0,
        "longitude": 7.85,
        "accuracy": 5.0,
        "altitude": 278.0,
    }
    motion: Any = {"speed": 10.0, "course": 90.0, "battery_level": 66, "motion": True}
    bikes.simulator.report(RED, **place, **motion)
    await async_setup(bikes.hass, bikes.entry)

    entities = er.async_entries_for_config_entry(entity_registry, bikes.entry.entry_id)
    assert {
        entity.entity_id: _readable(entity, bikes.hass.states.get(entity.entity_id))
        for entity in sorted(entities, key=lambda entity: entity.entity_id)
        if entity.unique_id.startswith(RED)
    } == snapshot


def _readable(entity: er.RegistryEntry, state: State | None) -> dict[str, str]:
    assert state is not None
    category = entity.entity_category
    return {
        "category": "primary" if category is None else category.value,
        "state": state.state,
        **{str(key): str(value) for key, value in sorted(state.attributes.items())},
    }


async def test_entities_people_rarely_want_are_disabled(
    bikes: Bikes, entity_registry: er.EntityRegistry
) -> None:
    """What changes with each report, voltages and IDs exist, disabled; all else is enabled."""
    bikes.simulator.report(RED, attributes=EVERYTHING)
    await async_setup(bikes.hass, bikes.entry)

    voltages = {"battery_voltage", "power_voltage"}
    assert {
        entry.unique_id.removeprefix(f"{RED}_")
        for entry in entity_registry.entities.values()
        if entry.disabled and entry.unique_id.startswith(RED)
    } == {"position_id", "group_id", "position_time", "altitude", "course"} | voltages


@pytest.mark.usefixtures("setup")
async def test_log_is_quiet(bikes: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing at warning level or above while all is well."""
    await bikes.poll()
    await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)

    assert not [
        record
        for record in caplog.records
        if record.levelname in ("WARNING", "ERROR") and DOMAIN in record.name
    ]


async def test_unload_and_reload(
    hass: HomeAssistant, setup: MockConfigEntry, simulator: Simulator, poll: Poll
) -> None:
    """An unloaded entry asks nothing; a reloaded one has the same entities again."""
    before = {state.entity_id: state.state for state in hass.states.async_all()}

    assert await hass.config_entries.async_unload(setup.entry_id)
    state = hass.states.get("device_tracker.red_bike")
    assert state is not None
    assert state.state == STATE_UNAVAILABLE
    simulator.record.clear()
    await poll(3600)
    assert not simulator.requests

    await async_setup(hass, setup)
    assert {state.entity_id: state.state for state in hass.states.async_all()} == before


# Home Assistant leaves such an entry as it is, its next poll included.
@pytest.mark.parametrize("expected_lingering_timers", [True])
@pytest.mark.usefixtures("setup", "expected_lingering_timers")
async def test_platform_that_does_not_unload(
    bikes: Bikes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry that Home Assistant cannot unload is not taken apart."""

    async def _fail(*_: object) -> bool:
        return False

    with monkeypatch.context() as patch:
        patch.setattr(bikes.hass.config_entries, "async_unload_platforms", _fail)
        assert not await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)

    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    state = bikes.state("device_tracker.red_bike")
    assert state.state == STATE_UNAVAILABLE


def entry_of_1_0(simulator: Simulator) -> MockConfigEntry:
    """Return what 1.0 made of the account."""
    data = {CONF_URL: simulator.url, CONF_EMAIL: EMAIL, CONF_PASSWORD: PASSWORD}
    names = {"unique_id": f"{EMAIL}@127.0.0.1", "title": "My bikes"}
    return MockConfigEntry(domain=DOMAIN, data=data, **names)


async def test_migration(bikes: Bikes) -> None:
    """An entry of 1.0 learns its port, and is otherwise as before."""
    entry = entry_of_1_0(bikes.simulator)
    entry.add_to_hass(bikes.hass)
    data = dict(entry.data)

    await async_setup(bikes.hass, entry)

    assert entry.state is ConfigEntryState.LOADED
    assert entry.unique_id == f"{EMAIL}@127.0.0.1:{bikes.simulator.port}"
    assert (entry.version, entry.minor_version) == (1, 2)
    assert entry.data == data
    assert entry.title == "My bikes"
    assert bikes.state_of(RED)


@pytest.mark.usefixtures("setup")
async def test_removal_leaves_nothing(
    bikes: Bikes,
    entity_registry: er.EntityRegistry,
    device_registry: dr.DeviceRegistry,
) -> None:
    """With the entry go its devices, its entities and what it remembered."""
    bikes.simulator.report(RED, latitude=48.0)
    await bikes.poll()
    await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)
    assert file_of(bikes.hass, bikes.entry).exists()

    await bikes.hass.config_entries.async_remove(bikes.entry.entry_id)
    await bikes.hass.async_block_till_done()

    assert not er.async_entries_for_config_entry(entity_registry, bikes.entry.entry_id)
    assert not dr.async_entries_for_config_entry(device_registry, bikes.entry.entry_id)
    assert not bikes.hass.states.async_all("device_tracker")
    assert not files_in(bikes.hass)


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize("call", ["async_get_devices", "async_get_positions"])
async def test_removal_during_a_poll(
    bikes: Bikes,
    make_entry: MakeEntry,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    call: str,
) -> None:
    """An answer that comes after the removal writes nothing and holds no tracker."""
    answered, removed = asyncio.Event(), asyncio.Event()
    get = getattr(TrackingClient, call)

    async def _answer_late(*args: Any) -> Any:
        answer = await get(*args)
        answered.set()
        await removed.wait()
        return answer

    bikes.simulator.add_device("new", email=EMAIL)
    bikes.simulator.report(RED, latitude=48.0)
    with monkeypatch.context() as patch:
        patch.setattr(TrackingClient, call, _answer_late)
        asking = bikes.hass.async_create_task(async_update(bikes.hass))
        await answered.wait()
        await bikes.hass.config_entries.async_remove(bikes.entry.entry_id)
        removed.set()
        await asking
    await bikes.poll(400)
    assert not files_in(bikes.hass)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]

    bikes.simulator.add_account(BOB, PASSWORD)
    bikes.simulator.assign(BOB, "new")
    await async_setup(bikes.hass, make_entry(BOB))
    assert bikes.state_of("new")


async def test_update_on_demand(
    hass: HomeAssistant, setup: MockConfigEntry, simulator: Simulator, value_of: ValueOf
) -> None:
    """`homeassistant.update_entity` polls, also with polling disabled."""
    hass.config_entries.async_update_entry(setup, pref_disable_polling=True)
    await hass.async_block_till_done()
    await hass.config_entries.async_reload(setup.entry_id)
    simulator.set_status(RED, "offline")
    await async_update(hass)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert value_of(f"{RED}_online", Platform.BINARY_SENSOR) == "off"


async def test_migration_of_an_account_that_is_set_up_twice(
    bikes: Bikes, caplog: pytest.LogCaptureFixture
) -> None:
    """Which 1.0 allows, installed again for a while: both go on, and the log tells."""
    twin = entry_of_1_0(bikes.simulator)
    twin.add_to_hass(bikes.hass)
    data = dict(twin.data)

    await async_setup(bikes.hass, bikes.entry)

    assert bikes.entry.state is twin.state is ConfigEntryState.LOADED
    assert bikes.entry.unique_id == f"{EMAIL}@127.0.0.1:{bikes.simulator.port}"
    assert twin.unique_id is None
    assert twin.minor_version == 2
    assert twin.data == data
    warning = "My bikes is set up twice: delete one of the two entries"
    assert [record.getMessage() for record in caplog.records].count(warning) == 1

    # Once it is the only one the account is its own.
    await bikes.hass.config_entries.async_remove(bikes.entry.entry_id)
    flow = await twin.start_reconfigure_flow(bikes.hass)
    await bikes.hass.config_entries.flow.async_configure(flow["flow_id"], data)
    await bikes.hass.async_block_till_done(wait_background_tasks=True)
    assert twin.unique_id == f"{EMAIL}@127.0.0.1:{bikes.simulator.port}"


async def test_two_accounts_at_once(
    bikes: Bikes, make_entry: MakeEntry, caplog: pytest.LogCaptureFixture
) -> None:
    """Two accounts that start together never both take a shared tracker."""
    bikes.simulator.add_account(BOB, PASSWORD)
    bikes.simulator.assign(BOB, RED)
    make_entry()
    make_entry(BOB)

    assert await async_setup_component(bikes.hass, DOMAIN, {})
    await bikes.hass.async_block_till_done(wait_background_tasks=True)

    assert len(bikes.hass.states.async_entity_ids("device_tracker")) == 2
    assert "already exists" not in caplog.text
