"""One tracker in two accounts."""

from typing import Any

from homeassistant.config_entries import ConfigEntryDisabler
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import (
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
from ..tools.simulator.server import Simulator

CAROL = "carol@example.com"
GREEN = "860000000000033"


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

    shared = device_of(setup, RED).id
    await hass.config_entries.async_remove(setup.entry_id)
    await poll()
    assert device_of(other, RED).id == shared
    state = state_of(RED)
    assert state is not None
    assert state.state == "not_home"


async def test_shared_tracker_of_three_accounts(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    poll: Poll,
    device_of: Any,
) -> None:
    """If the account that has it is removed, one of the others has it at once."""
    others = []
    for email in (BOB, CAROL):
        simulator.add_account(email, PASSWORD)
        simulator.assign(email, RED)
        others.append(make_entry(email))
        await async_setup(hass, others[-1])
    await poll()
    await hass.config_entries.async_remove(setup.entry_id)
    for _ in range(2):
        assert [bool(device_of(entry, RED)) for entry in others].count(True) == 1
        await poll()


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
    await poll()

    assert device_of(other, RED)


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
