"""Set-up, reload and removal of an account."""

import asyncio
from typing import Any
from unittest.mock import patch

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL, STATE_UNAVAILABLE
from homeassistant.core import State
from homeassistant.helpers import (
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from syrupy.assertion import SnapshotAssertion

from custom_components.bike_tracker.api import TrackingClient
from custom_components.bike_tracker.const import DOMAIN

from .books import file_of, files_in, folder_of
from .conftest import BOB, EMAIL, EVERYTHING, PASSWORD, RED, Bikes, async_setup, logged


@pytest.mark.freeze_time("2026-11-20 12:00:00+00:00")
@pytest.mark.usefixtures("all_enabled")
async def test_entities(
    bikes: Bikes, entity_registry: er.EntityRegistry, snapshot: SnapshotAssertion
) -> None:
    """A tracker that reports all values has the entities and states in the snapshot."""
    place: Any = {"latitude": 48.0, "longitude": 7.85, "accuracy": 5.0}
    place |= {"altitude": 278.0, "speed": 10.0, "course": 90.0, "address": "Main 1"}
    bikes.simulator.report(RED, **place, attributes=EVERYTHING)
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
        "key": entity.unique_id.removeprefix(RED),
        "state": state.state,
        **{key: str(it) for key, it in entity.options.get("sensor", {}).items()},
        **{str(key): str(value) for key, value in sorted(state.attributes.items())},
    }


async def test_entities_people_rarely_want_are_disabled(bikes: Bikes) -> None:
    """By default, only voltages, IDs and entities that change with each report are disabled."""
    bikes.simulator.report(RED, attributes=EVERYTHING)
    await async_setup(bikes.hass, bikes.entry)
    voltages = {"battery_voltage", "power_voltage"}
    assert {
        entry.unique_id.removeprefix(f"{RED}_")
        for entry in er.async_get(bikes.hass).entities.values()
        if entry.disabled and entry.unique_id.startswith(RED)
    } == {"position_id", "group_id", "position_time", "altitude", "course"} | voltages


async def test_reload(bikes: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """After an unload, nothing is polled. After a reload, all entities are available again. No warning is logged."""
    bikes.simulator.add_device("new", email=EMAIL, latitude=None)
    await async_setup(bikes.hass, bikes.entry)
    before = {it.entity_id: it.state for it in bikes.hass.states.async_all()}
    assert await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    assert bikes.value_of(RED) == STATE_UNAVAILABLE
    bikes.simulator.record.clear()
    await bikes.poll(3600)
    assert not bikes.simulator.requests
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll()
    after = {it.entity_id: it.state for it in bikes.hass.states.async_all()}
    assert after == before
    assert not logged(caplog)


# Home Assistant keeps an entry that it cannot unload. So the timer of the next poll
# still exists after the test, and the test must allow this.
@pytest.mark.parametrize("expected_lingering_timers", [True])
@pytest.mark.usefixtures("expected_lingering_timers")
async def test_platform_that_does_not_unload(ready: Bikes) -> None:
    """If Home Assistant cannot unload the entry, the entry continues to work."""
    entries = ready.hass.config_entries
    with patch.object(entries, "async_unload_platforms", return_value=False):
        assert not await entries.async_unload(ready.entry.entry_id)
    ready.simulator.unassign(EMAIL, RED)
    await ready.poll()
    assert ready.value_of(RED) == STATE_UNAVAILABLE


@pytest.mark.parametrize("is_set_up_twice", [False, True])
async def test_migration(bikes: Bikes, *, is_set_up_twice: bool) -> None:
    """An entry of version 1.0 gets a unique ID with a port, but only once no other entry of the account has this ID.

    An account has two entries if a user added it again after a downgrade to 1.0.
    """
    data = {CONF_URL: bikes.simulator.url, CONF_EMAIL: EMAIL, CONF_PASSWORD: PASSWORD}
    old_id, new_id = (
        f"{EMAIL}@127.0.0.1{port}" for port in ("", f":{bikes.simulator.port}")
    )
    entry = MockConfigEntry(domain=DOMAIN, data=data, unique_id=old_id)
    entry.add_to_hass(bikes.hass)
    first = bikes.entry if is_set_up_twice else entry
    await async_setup(bikes.hass, first)
    assert first.state is entry.state is ConfigEntryState.LOADED
    assert first.unique_id == new_id
    assert entry.unique_id == (old_id if is_set_up_twice else new_id)
    if is_set_up_twice:
        await bikes.hass.config_entries.async_remove(first.entry_id)
        await bikes.hass.config_entries.async_reload(entry.entry_id)
    assert entry.unique_id == new_id
    assert (entry.version, entry.minor_version, entry.data) == (1, 2, data)
    assert bikes.state_of(RED)


async def test_removal_leaves_nothing(
    ready: Bikes, bobs: MockConfigEntry, caplog: pytest.LogCaptureFixture
) -> None:
    """If two accounts are removed at the same time during an outage, they leave no devices, issues or databases."""
    hass, entries = ready.hass, (ready.entry, bobs)
    ready.simulator.add_device("new", email=BOB)
    await async_setup(hass, bobs)
    aside = file_of(hass, bobs).with_suffix(".db.20260101T000000.000000Z")
    aside.touch()
    unreadable = folder_of(hass).parent / f"{DOMAIN}.{bobs.entry_id}.unreadable"
    unreadable.touch()
    ready.simulator.fault("status-503")
    await ready.poll(times=40)
    assert len(ir.async_get(hass).issues) == 2
    assert len(files_in(hass)) > 3
    caplog.clear()
    removed = (hass.config_entries.async_remove(it.entry_id) for it in entries)
    await asyncio.gather(*removed)
    await ready.poll(400)
    registries = dr.async_get(hass).devices, er.async_get(hass).entities
    assert [*map(len, registries)] == [0, 0]
    assert not hass.states.async_all("device_tracker")
    assert not ir.async_get(hass).issues
    assert not files_in(hass)
    assert not folder_of(hass).exists()
    assert not unreadable.exists()
    assert "Error" not in caplog.text


@pytest.mark.parametrize("call", ["async_get_devices", "async_get_positions"])
async def test_removal_during_a_poll(
    ready: Bikes, bobs: MockConfigEntry, caplog: pytest.LogCaptureFixture, call: str
) -> None:
    """If a poll is answered after its account was removed, nothing is written. Another account can add the new tracker."""
    answered, removed = asyncio.Event(), asyncio.Event()
    get = getattr(TrackingClient, call)

    async def _answer_late(*args: Any) -> Any:
        answer = await get(*args)
        answered.set()
        await removed.wait()
        return answer

    ready.simulator.add_device("new", email=EMAIL)
    ready.simulator.report(RED, latitude=48.0)
    with patch.object(TrackingClient, call, _answer_late):
        asking = ready.hass.async_create_task(ready.coordinator.async_refresh())
        await answered.wait()
        await ready.hass.config_entries.async_remove(ready.entry.entry_id)
        removed.set()
        await asking
    await ready.poll(400)
    assert not files_in(ready.hass)
    assert "ERROR" not in caplog.text
    ready.simulator.assign(BOB, "new")
    await async_setup(ready.hass, bobs)
    assert ready.state_of("new")


@pytest.mark.usefixtures("entry", "bobs")
async def test_both_at_once(bikes: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """If two accounts start at the same time, a tracker that both list belongs to a single account."""
    assert await async_setup_component(bikes.hass, DOMAIN, {})
    await bikes.hass.async_block_till_done(wait_background_tasks=True)
    assert len(bikes.hass.states.async_entity_ids("device_tracker")) == 2
    assert "already exists" not in caplog.text


async def test_renamed_account(ready: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """If a user renames the account, log lines have the new name from the next poll on."""
    ready.hass.config_entries.async_update_entry(ready.entry, title="My bikes")
    ready.simulator.fault("status-503")
    caplog.clear()
    await ready.poll()
    ready.simulator.fault(None)
    await ready.poll()
    assert logged(caplog) == [
        "Error fetching bike_tracker My bikes data: "
        "The server cannot answer at the moment (status 503)",
        "Fetching bike_tracker My bikes data recovered",
    ]
