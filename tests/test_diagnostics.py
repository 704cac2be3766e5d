"""The file of diagnostics and the page *System health* help a maintainer, and contain no personal data."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
import json
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

from homeassistant.components.diagnostics import REDACTED
from homeassistant.config_entries import ConfigEntryDisabler, ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import get_system_health_info
from pytest_homeassistant_custom_component.components.diagnostics import (
    get_diagnostics_for_config_entry,
    get_diagnostics_for_device,
)
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator
from syrupy.assertion import SnapshotAssertion
from syrupy.filters import props

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.database import File

from .books import file_of, query, row, store
from .conftest import (
    BLUE,
    BOB,
    EMAIL,
    EVERYTHING,
    PASSWORD,
    RED,
    Bikes,
    MakeEntry,
    async_setup,
)
from .riding import go, riding, standing

type Diagnose = Callable[..., Awaitable[Any]]

pytestmark = pytest.mark.freeze_time("2026-11-20 12:00:00+00:00")


@pytest.fixture
def diagnose(bikes: Bikes, hass_client: ClientSessionGenerator) -> Diagnose:
    """Return a function that downloads the diagnostics of the account or of a tracker."""

    async def _diagnose(tracker: str = "") -> Any:
        account = bikes.hass, hass_client, bikes.entry
        if tracker:
            return await get_diagnostics_for_device(*account, bikes.device(tracker))
        return await get_diagnostics_for_config_entry(*account)

    return _diagnose


async def async_health(hass: HomeAssistant) -> dict[str, Any]:
    """Return the data on the page *System health*, with the result of the check of the servers."""
    assert await async_setup_component(hass, "system_health", {})
    await hass.async_block_till_done()
    info: dict[str, Any] = await get_system_health_info(hass, DOMAIN)
    return {**info, "can_reach_server": await info["can_reach_server"]}


async def test_entry(
    bikes: Bikes, diagnose: Diagnose, snapshot: SnapshotAssertion
) -> None:
    """The diagnostics of an account have the values in the snapshot. The diagnostics of a tracker are a part of them.

    A tracker that never reported has no position. A tracker that is no longer listed is
    left out.
    """
    bikes.simulator.delete_device(BLUE)
    data = {"bikes": ["a", "b"], "riders": ["person.ann"], "night_ends": "06:00:00"}
    night = ConfigSubentry(
        data=MappingProxyType(data),
        subentry_type="night_guard",
        title="My night",
        unique_id=None,
    )
    bikes.hass.config_entries.async_add_subentry(bikes.entry, night)
    await async_setup(bikes.hass, bikes.entry)
    account = await diagnose()
    assert account == snapshot(exclude=props("bytes", "ride_state", "written_at"))
    [tracker] = account["trackers"]
    connection = {key: account[key] for key in ("live", "poll", "service")}
    assert await diagnose(RED) == {**connection, "tracker": tracker}
    bikes.simulator.add_device("new", email=EMAIL, latitude=None)
    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    account = await diagnose()
    assert account["counts"] == {"trackers": 1, "missing": 1, "in_another_account": 0}
    [tracker] = account["trackers"]
    assert (tracker["disabled"], tracker["position"]) == (False, None)
    assert (await diagnose(RED))["tracker"] is None


async def test_account_that_is_not_loaded(ready: Bikes, diagnose: Diagnose) -> None:
    """If the account could not be loaded, its diagnostics show the reason, and system health shows no database."""
    ready.simulator.fault("connection-refused")
    await ready.hass.config_entries.async_reload(ready.entry.entry_id)
    account = await diagnose()
    assert account == await diagnose(RED)
    entry = account["entry"]
    assert entry["state"] == "setup_retry"
    assert entry["reason"] == "The server could not be reached (connection refused)"
    assert entry["data"]["password"] == REDACTED
    info = await async_health(ready.hass)
    assert info.keys() == {"accounts", "can_reach_server"}


async def test_nothing_private(bikes: Bikes, diagnose: Diagnose) -> None:
    """Diagnostics contain no name, ID of a tracker, place, credential, host or text of the server, not even as a key.

    The states and voltages of a position are shown.
    """
    bikes.simulator.rename(RED, "Rosinante")
    for field in ("Rosinante", "my_rosinante_key", RED, EMAIL, "harmless"):
        bikes.simulator.override_field(RED, field, 1)
    odd = {"io9": "c0ffee", "rosinante_key": 1, RED: 1}
    odd["alarm"] = "sos,Rosinante,jamming"
    bikes.simulator.report(RED, attributes=EVERYTHING | odd)
    bikes.simulator.override_field(RED, "model", "V2 of Rosinante")
    bikes.simulator.set_attributes(RED, {"bluetoothKey": "c0ffee"})
    await async_setup(bikes.hass, bikes.entry)
    account = await diagnose()
    (red,) = (tracker for tracker in account["trackers"] if tracker["alarms"])
    keys = ("charge", "lock", "battery_voltage", "power_voltage")
    assert [red["position"][key] for key in keys] == [True, True, 3.9, 12.3]
    texts = [red["model"], red["position"]["firmware"], red["alarms"][0]["word"]]
    assert {*texts} == {REDACTED}
    written = json.dumps(account).casefold()
    names = ("rosinante", "blue bike", RED, BLUE, EMAIL, PASSWORD)
    for private in (*names, "127.0.0.1", "49.41", "c0ffee", "bluetooth"):
        assert private not in written
    shown = account["entry"]["data"]
    assert shown == dict.fromkeys(("email", "password", "url"), REDACTED)


async def test_ride_and_guard(bikes: Bikes, diagnose: Diagnose) -> None:
    """Diagnostics show the ride under way and the guard, but not their places, nor the start and end of the ride."""
    bikes.simulator.override_position(RED, "address", "Kaiserstraße 1")
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    await bikes.async_guard()
    await bikes.poll()
    go(bikes.simulator, 500, **riding(100.5))
    await bikes.async_report(attributes={"alarm": "vibration,Red bike"})
    bikes.simulator.fault("status-503")
    await bikes.poll()
    go(bikes.simulator, 300, **riding(100.8))
    bikes.simulator.fault(None)
    bikes.simulator.fault("status-503", path="history")
    await bikes.poll(120)
    account = await diagnose()
    (red,) = (bike for bike in account["trackers"] if bike["guard"])
    ride, guard = red["ride_state"]["ride"], red["guard"]
    assert ride["distance"] > 0.3
    assert guard["triggered"]["cause"]
    place = guard["place"]
    times = (red["gap"]["start"], ride["started_at"], ride["moved_at"], place["time"])
    assert {*times, place["latitude"], ride["route"]} == {REDACTED}
    written = json.dumps([red["ride_state"], guard, red["gap"]])
    for private in ("Kaiserstra", "49.41", "8.7", "Red bike"):
        assert private not in written


async def test_database_that_is_not_readable(ready: Bikes, diagnose: Diagnose) -> None:
    """If the database cannot be read, the diagnostics and system health lack only its size and number of rides."""
    with patch.object(File, "query", side_effect=OSError):
        assert (await diagnose())["database"].keys().isdisjoint({"bytes", "rides"})
        assert (await async_health(ready.hass))["database_size"] == "0.00 MiB"


async def test_system_health(bikes: Bikes, make_entry: MakeEntry) -> None:
    """System health shows the size of the database, its last write, and the error of a server that is down, unless its account is disabled.

    With several accounts, the last write is that to any database. The check of a server
    sends no credentials.
    """
    rows = [row(timedelta(hours=number)) for number in range(1, 300)]
    store(bikes.hass, bikes.entry, rows)
    await async_setup(bikes.hass, bikes.entry)
    assert "database_written_at" not in await async_health(bikes.hass)
    await bikes.coordinator.database.async_write()
    bikes.simulator.record.clear()
    info = await async_health(bikes.hass)
    [(pages,)] = query(file_of(bikes.hass, bikes.entry), "PRAGMA page_count")
    assert info == {
        "accounts": 1,
        "can_reach_server": "ok",
        "database_size": f"{pages / 2048:.2f} MiB",
        "database_version": 1,
        "database_written_at": dt_util.utcnow(),
    }
    requests = bikes.simulator.requests
    assert requests
    assert not any(request.header("Authorization") for request in requests)
    other = make_entry(EMAIL, url=bikes.simulator.url.replace("127.0.0.1", "localhost"))
    down = make_entry(BOB, url="http://127.0.0.1:9/api")
    await async_setup(bikes.hass, other)
    bikes.freezer.tick(60)
    await other.runtime_data.coordinator.database.async_write()
    info = await async_health(bikes.hass)
    assert info["accounts"] == 3
    assert info["database_written_at"] == dt_util.utcnow()
    assert info["can_reach_server"] == {"type": "failed", "error": "unreachable"}
    by_user = ConfigEntryDisabler.USER
    await bikes.hass.config_entries.async_set_disabled_by(down.entry_id, by_user)
    assert (await async_health(bikes.hass))["can_reach_server"] == "ok"
