"""Trackers that a person deletes."""

from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import (
    MockHAClientWebSocket,
    WebSocketGenerator,
)

from ..conftest import EMAIL, RED, Bikes


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


@pytest.mark.usefixtures("setup")
async def test_delete_button(
    bikes: Bikes, device_of: Any, hass_ws_client: WebSocketGenerator
) -> None:
    """A person may delete a tracker that is gone, not one that is listed."""
    assert await async_setup_component(bikes.hass, "config", {})
    client = await hass_ws_client(bikes.hass)
    device = device_of(bikes.entry, RED)

    response = await async_delete(client, bikes.entry, device)
    assert not response["success"]
    assert device_of(bikes.entry, RED)

    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    response = await async_delete(client, bikes.entry, device)
    assert response["success"]
    assert device_of(bikes.entry, RED) is None

    bikes.simulator.assign(EMAIL, RED)
    await bikes.poll()
    assert bikes.value_of(RED) == "not_home"


@pytest.mark.usefixtures("setup")
async def test_deleted_tracker_that_comes_back(
    bikes: Bikes, device_of: Any, hass_ws_client: WebSocketGenerator
) -> None:
    """It is a new tracker, and not first where it was."""
    assert await async_setup_component(bikes.hass, "config", {})
    client = await hass_ws_client(bikes.hass)
    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    await async_delete(client, bikes.entry, device_of(bikes.entry, RED))
    bikes.simulator.report(RED, latitude=50.0)
    bikes.simulator.assign(EMAIL, RED)

    await bikes.poll()

    state = bikes.state_of(RED)
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
