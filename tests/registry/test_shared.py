"""One tracker in two accounts."""

from typing import Any
from unittest.mock import patch

from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.devices import description_of
from custom_components.bike_tracker.tracking.state import Tracker

from ..conftest import BOB, EMAIL, PASSWORD, RED, Bikes, MakeEntry, async_setup
from ..tools.simulator.server import Simulator
from .test_delete_button import async_delete

GREEN = "860000000000033"
YELLOW = "860000000000044"


@pytest.mark.usefixtures("setup")
async def test_shared_tracker(
    bikes: Bikes,
    make_entry: MakeEntry,
    device_of: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A tracker of two accounts is set up once, by the one that had it first."""
    bikes.simulator.add_account(BOB, PASSWORD)
    bikes.simulator.assign(BOB, RED)
    bikes.simulator.add_device(GREEN, email=BOB)
    other = make_entry(BOB)
    await async_setup(bikes.hass, other)
    await bikes.poll()
    assert device_of(bikes.entry, RED)
    assert device_of(other, RED) is None
    assert device_of(other, GREEN)
    assert "already exists" not in caplog.text

    shared = device_of(bikes.entry, RED).id
    await bikes.hass.config_entries.async_remove(bikes.entry.entry_id)
    await bikes.poll()
    assert device_of(other, RED).id == shared
    assert bikes.value_of(RED) == "not_home"


@pytest.mark.usefixtures("setup")
async def test_shared_tracker_after_a_restart(
    bikes: Bikes, make_entry: MakeEntry, device_of: Any
) -> None:
    """Who had it first is known after a restart, whoever starts first."""
    bikes.simulator.add_account(BOB, PASSWORD)
    bikes.simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)

    await async_setup(bikes.hass, other)
    await async_setup(bikes.hass, bikes.entry)

    assert device_of(bikes.entry, RED)
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


@pytest.mark.usefixtures("setup")
async def test_shared_tracker_that_the_first_account_loses(
    bikes: Bikes,
    make_entry: MakeEntry,
    device_of: Any,
    device_registry: dr.DeviceRegistry,
    entity_registry: er.EntityRegistry,
    hass_ws_client: WebSocketGenerator,
) -> None:
    """Once its device is deleted there the other account has it, with names and IDs."""
    assert await async_setup_component(bikes.hass, "config", {})
    before = device_of(bikes.entry, RED)
    device_registry.async_update_device(before.id, name_by_user="Mine")
    entity_registry.async_update_entity(
        "device_tracker.red_bike", new_entity_id="device_tracker.mine"
    )
    bikes.simulator.add_account(BOB, PASSWORD)
    bikes.simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await async_setup(bikes.hass, other)
    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    await bikes.poll()
    assert device_of(bikes.entry, RED)
    assert device_of(other, RED) is None

    await async_delete(await hass_ws_client(bikes.hass), bikes.entry, before)
    await bikes.poll()
    assert device_of(bikes.entry, RED) is None
    assert device_of(other, RED)
    state = bikes.state_of(RED)
    assert state is not None
    assert (state.entity_id, state.state) == ("device_tracker.mine", "not_home")

    # It stays there, even if the first account lists it again.
    bikes.simulator.assign(EMAIL, RED)
    await bikes.poll()
    await bikes.poll()
    assert device_of(bikes.entry, RED) is None
    assert device_of(other, RED)


@pytest.mark.usefixtures("setup")
async def test_broken_tracker(bikes: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """One that cannot be added costs no other, and is there with its next report."""
    bikes.simulator.add_device(GREEN, email=EMAIL)
    bikes.simulator.add_device(YELLOW, email=EMAIL)

    def broken(tracker: Tracker) -> dict[str, Any]:
        if tracker.device.unique_id == GREEN:
            raise ValueError
        return description_of(tracker)

    with patch("custom_components.bike_tracker.entity.description_of", broken):
        await bikes.poll()
    assert bikes.state_of(YELLOW)
    assert bikes.state_of(GREEN) is None
    assert f"{bikes.entry.title}: Unexpected error" in caplog.text
    bikes.simulator.touch([GREEN])
    await bikes.poll()
    assert bikes.state_of(GREEN)
