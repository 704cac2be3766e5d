"""One tracker in two accounts."""

from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import (
    BOB,
    EMAIL,
    PASSWORD,
    RED,
    MakeEntry,
    Poll,
    StateOf,
    ValueOf,
    async_setup,
)
from ..tools.simulator.server import Simulator
from .test_delete_button import async_delete

GREEN = "860000000000033"
YELLOW = "860000000000044"


async def test_shared_tracker(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    poll: Poll,
    device_of: Any,
    value_of: ValueOf,
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
    assert value_of(RED) == "not_home"


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


async def test_shared_tracker_that_the_first_account_loses(
    setup: MockConfigEntry,
    simulator: Simulator,
    make_entry: MakeEntry,
    hass: HomeAssistant,
    poll: Poll,
    device_of: Any,
    device_registry: dr.DeviceRegistry,
    entity_registry: er.EntityRegistry,
    state_of: StateOf,
    hass_ws_client: WebSocketGenerator,
) -> None:
    """Once its device is deleted there the other account has it, with names and IDs."""
    assert await async_setup_component(hass, "config", {})
    before = device_of(setup, RED)
    device_registry.async_update_device(before.id, name_by_user="Mine")
    entity_registry.async_update_entity(
        "device_tracker.red_bike", new_entity_id="device_tracker.mine"
    )
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await async_setup(hass, other)
    simulator.unassign(EMAIL, RED)
    await poll()
    await poll()
    assert device_of(setup, RED)
    assert device_of(other, RED) is None

    await async_delete(await hass_ws_client(hass), setup, before)
    await poll()
    assert device_of(setup, RED) is None
    assert device_of(other, RED)
    state = state_of(RED)
    assert state is not None
    assert (state.entity_id, state.state) == ("device_tracker.mine", "not_home")

    # It stays there, even if the first account lists it again.
    simulator.assign(EMAIL, RED)
    await poll()
    await poll()
    assert device_of(setup, RED) is None
    assert device_of(other, RED)


async def test_broken_tracker(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One whose owner cannot be found costs no other, and is there once it can."""
    simulator.add_device(GREEN, email=EMAIL)
    simulator.add_device(YELLOW, email=EMAIL)
    get_entity_id = er.EntityRegistry.async_get_entity_id

    def broken(
        self: er.EntityRegistry, domain: str, platform: str, unique_id: str
    ) -> str | None:
        if unique_id == GREEN:
            raise ValueError
        return get_entity_id(self, domain, platform, unique_id)

    with monkeypatch.context() as patch:
        patch.setattr(er.EntityRegistry, "async_get_entity_id", broken)
        await poll()
        assert state_of(YELLOW)
    assert state_of(GREEN) is None
    assert f"{setup.title}: Unexpected error" in caplog.text
    await poll()
    assert state_of(GREEN)
