"""Diagnostics hold what a maintainer needs, and nobody's identity."""

import json
from typing import Any

from homeassistant.components.diagnostics import REDACTED
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.diagnostics import (
    get_diagnostics_for_config_entry,
    get_diagnostics_for_device,
)
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator
from syrupy.assertion import SnapshotAssertion
from syrupy.filters import props

from custom_components.bike_tracker.const import DOMAIN

from .conftest import BLUE, EMAIL, EVERYTHING, PASSWORD, RED, Bikes, async_setup
from .riding import go, riding, standing
from .tools.simulator.server import Simulator

pytestmark = pytest.mark.freeze_time("2026-11-20 12:00:00+00:00")


async def test_entry(
    hass: HomeAssistant,
    hass_client: ClientSessionGenerator,
    simulator: Simulator,
    entry: MockConfigEntry,
    snapshot: SnapshotAssertion,
) -> None:
    """The whole file of an account."""
    simulator.delete_device(BLUE)
    await async_setup(hass, entry)

    diagnostics = await get_diagnostics_for_config_entry(hass, hass_client, entry)

    assert diagnostics == snapshot(exclude=props("bytes", "ride_state", "written_at"))


async def test_device(
    hass: HomeAssistant,
    hass_client: ClientSessionGenerator,
    setup: MockConfigEntry,
    device_registry: dr.DeviceRegistry,
    snapshot: SnapshotAssertion,
) -> None:
    """The whole file of a tracker."""
    device = device_registry.async_get_device_by_identifier(
        (DOMAIN, RED), setup.entry_id
    )
    assert device is not None

    diagnostics = await get_diagnostics_for_device(hass, hass_client, setup, device)

    assert diagnostics == snapshot(exclude=props("ride_state"))


@pytest.mark.usefixtures("setup")
async def test_tracker_that_never_reported(
    bikes: Bikes, hass_client: ClientSessionGenerator
) -> None:
    """It has no position, and all else."""
    bikes.simulator.add_device("860000000000033", email=EMAIL, latitude=None)
    await bikes.poll()

    diagnostics: Any = await get_diagnostics_for_config_entry(
        bikes.hass, hass_client, bikes.entry
    )

    [tracker] = [each for each in diagnostics["trackers"] if not each["position"]]
    assert tracker["position"] is None
    assert tracker["disabled"] is False


@pytest.mark.usefixtures("setup")
async def test_device_that_is_gone(
    bikes: Bikes,
    hass_client: ClientSessionGenerator,
    device_registry: dr.DeviceRegistry,
) -> None:
    """The file of a tracker that is not listed says for how long."""
    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    await bikes.poll(600)
    device = device_registry.async_get_device_by_identifier(
        (DOMAIN, RED), bikes.entry.entry_id
    )
    assert device is not None

    diagnostics: Any = await get_diagnostics_for_device(
        bikes.hass, hass_client, bikes.entry, device
    )

    assert diagnostics["tracker"] is None


@pytest.mark.usefixtures("setup")
async def test_account_that_is_not_loaded(
    bikes: Bikes,
    hass_client: ClientSessionGenerator,
    device_registry: dr.DeviceRegistry,
) -> None:
    """Where the server cannot be reached, the file says so."""
    bikes.simulator.fault("connection-refused")
    await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)
    device = device_registry.async_get_device_by_identifier(
        (DOMAIN, RED), bikes.entry.entry_id
    )
    assert device is not None

    for diagnostics in (
        await get_diagnostics_for_config_entry(bikes.hass, hass_client, bikes.entry),
        await get_diagnostics_for_device(bikes.hass, hass_client, bikes.entry, device),
    ):
        entry: Any = diagnostics["entry"]
        assert entry["state"] == "setup_retry"
        assert "connection refused" in entry["reason"]
        assert entry["data"]["password"] == REDACTED


async def test_nothing_private(
    hass: HomeAssistant,
    hass_client: ClientSessionGenerator,
    simulator: Simulator,
    entry: MockConfigEntry,
) -> None:
    """No name, number, place, credential or host, not even where a server misuses keys."""
    simulator.rename(RED, "Rosinante")
    simulator.override_field(RED, "Rosinante", 1)
    simulator.override_field(RED, "my_rosinante_key", 1)
    simulator.override_field(RED, RED, 1)
    simulator.override_field(RED, EMAIL, 1)
    simulator.override_field(RED, "harmless", 1)
    simulator.set_attributes(RED, {"bluetoothKey": "c0ffee"})
    await async_setup(hass, entry)

    diagnostics: Any = await get_diagnostics_for_config_entry(hass, hass_client, entry)

    written = json.dumps(diagnostics).casefold()
    for private in (
        "rosinante",
        "blue bike",
        RED,
        BLUE,
        EMAIL,
        PASSWORD,
        "127.0.0.1",
        "49.41",
        "c0ffee",
    ):
        assert private not in written
    assert diagnostics["entry"]["data"] == {
        "email": REDACTED,
        "password": REDACTED,
        "url": REDACTED,
    }


async def test_attributes(
    hass: HomeAssistant,
    hass_client: ClientSessionGenerator,
    simulator: Simulator,
    entry: MockConfigEntry,
) -> None:
    """Of what a position holds, words and places of the tracker alone are shown."""
    simulator.rename(RED, "Rosinante")
    simulator.report(
        RED,
        attributes={
            **EVERYTHING,
            "io9": "c0ffee",
            "rosinante_key": 1,
            RED: 1,
            "alarm": "sos,Rosinante,jamming",
        },
    )
    simulator.set_attributes(RED, {"bluetoothKey": "c0ffee"})
    await async_setup(hass, entry)

    diagnostics: Any = await get_diagnostics_for_config_entry(hass, hass_client, entry)

    (red,) = (tracker for tracker in diagnostics["trackers"] if tracker["alarms"])
    assert [alarm["word"] for alarm in red["alarms"]] == ["sos", REDACTED, "jamming"]
    keys = ("charge", "lock", "battery_voltage", "power_voltage", "firmware")
    assert [red["position"][key] for key in keys] == [True, True, 3.9, 12.3, "1.2"]
    written = json.dumps(diagnostics).casefold()
    for private in ("rosinante", "c0ffee", "bluetooth"):
        assert private not in written


async def test_ride_and_guard(
    bikes: Bikes, hass_client: ClientSessionGenerator
) -> None:
    """How the integration judges rides and the guard is shown, and not when or where."""
    bikes.simulator.override_position(RED, "address", "Kaiserstraße 1")
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    target = {"entity_id": "alarm_control_panel.red_bike_guard"}
    await bikes.hass.services.async_call(
        "alarm_control_panel", "alarm_arm_away", target, blocking=True
    )
    await bikes.poll()
    go(bikes.simulator, 500, **riding(100.5))
    bikes.simulator.report(RED, attributes={"alarm": "vibration,Red bike"})
    await bikes.poll()
    bikes.simulator.fault("status-503")
    await bikes.poll()
    go(bikes.simulator, 300, **riding(100.8))
    bikes.simulator.fault(None)
    bikes.simulator.fault("status-503", path="history")
    await bikes.poll(120)

    diagnostics: Any = await get_diagnostics_for_config_entry(
        bikes.hass, hass_client, bikes.entry
    )

    (red,) = (bike for bike in diagnostics["trackers"] if bike["guard"])
    ride, guard = red["ride_state"]["ride"], red["guard"]
    assert ride["distance"] > 0.3
    assert guard["triggered"]["cause"]
    assert red["gap"]
    assert {ride["started_at"], ride["moved_at"], guard["place"]["latitude"]} == {
        REDACTED
    }
    written = json.dumps([red["ride_state"], guard, red["gap"]])
    for private in ("Kaiserstra", "49.41", "8.7", "Red bike"):
        assert private not in written


PHONE_NUMBERS = (
    *("0171 234 5678", "+49 (171) 23 45 67", "0171/2345678", "030 90 18 20"),
    *("(415) 555-0123", "415-555-0123", "+44 20 7946 0018"),
)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("FMB920 03.27.07.Rev.00", "FMB920 03.27.07.Rev.00"),
        ("TK905-4G_V1.2 20260515", "TK905-4G_V1.2 20260515"),
        ("V2 of Rosinante", REDACTED),
        (f"TK905 {RED}", REDACTED),
        ("TK905 860000000000099", REDACTED),
        ("TK905 86 0000 0000 0001 1", REDACTED),
        ("SIM +491701234567", REDACTED),
        *((f"SIM {number}", REDACTED) for number in PHONE_NUMBERS),
        ("for " + EMAIL.upper(), REDACTED),
        ("for somebody@example.org", REDACTED),
        ("at 127.0.0.1", REDACTED),
        (f"x{PASSWORD}x", REDACTED),
    ],
)
async def test_model_and_firmware(
    hass: HomeAssistant,
    hass_client: ClientSessionGenerator,
    simulator: Simulator,
    entry: MockConfigEntry,
    said: str,
    shown: str,
) -> None:
    """They are what a maintainer asks for first, and may hold what is nobody's business."""
    simulator.rename(BLUE, "Rosinante")
    simulator.override_field(RED, "model", said)
    simulator.report(RED, attributes={"versionFw": said})
    await async_setup(hass, entry)

    diagnostics: Any = await get_diagnostics_for_config_entry(hass, hass_client, entry)

    (red,) = (tracker for tracker in diagnostics["trackers"] if tracker["model"])
    assert red["model"] == shown
    assert red["position"]["firmware"] == shown
