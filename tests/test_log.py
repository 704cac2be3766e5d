"""What the log calls an account: all that a person finds there says which one it is of."""

from collections.abc import Callable
import json
from typing import Any

from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.storage import Store
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.identity import name_of

from .conftest import BOB, EMAIL, PASSWORD, RED, MakeEntry, Poll, async_setup
from .tools.simulator import Simulator

HOUR = 60 * 60

type Lines = Callable[[], list[str]]


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Lines:
    """Return a function for the integration's lines above debug since the last call."""

    def _lines() -> list[str]:
        found = [
            record.getMessage()
            for record in caplog.records
            if DOMAIN in record.name and record.levelname != "DEBUG"
        ]
        caplog.clear()
        return found

    return _lines


@pytest.mark.parametrize(
    ("title", "url", "name"),
    [
        ("bikes.example.com", "https://bikes.example.com/api", "bikes.example.com"),
        ("My bikes", "https://bikes.example.com/api", "My bikes"),
        ("bikes.lan:8082", "http://bikes.lan:8082/api", "bikes.lan:8082"),
        ("bikes.lan:8082 (2)", "http://bikes.lan:8082/api", "bikes.lan:8082 (2)"),
        # As 1.1 called it.
        ("bikes.lan", "http://bikes.lan:8082/api", "bikes.lan (port 8082)"),
        ("My bikes", "http://bikes.lan:8082/api", "My bikes (port 8082)"),
        ("[::1]:8082", "http://[::1]:8082/api", "[::1]:8082"),
    ],
)
def test_name(title: str, url: str, name: str) -> None:
    """It is the title, with a port that is unusual."""
    data = {CONF_URL: url, CONF_EMAIL: EMAIL, CONF_PASSWORD: PASSWORD}
    assert name_of(MockConfigEntry(title=title, data=data)) == name


async def test_account_that_is_renamed(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    poll: Poll,
    lines: Lines,
) -> None:
    """Its new title is in the log with the next poll."""
    hass.config_entries.async_update_entry(setup, title="My bikes")
    simulator.fault("status-503")
    lines()
    await poll()
    simulator.fault(None)
    await poll()
    name = f"My bikes (port {simulator.port})"
    assert lines() == [
        f"Error fetching bike_tracker {name} data: "
        "The server cannot answer at the moment (status 503)",
        f"Fetching bike_tracker {name} data recovered",
    ]


async def test_elements_that_are_left_out(
    simulator: Simulator, setup: MockConfigEntry, poll: Poll, lines: Lines
) -> None:
    """They are a line of their account."""
    simulator.raw_devices([*simulator.listed("devices", EMAIL), "no device"])
    lines()
    await poll()
    name = f"127.0.0.1 (port {simulator.port})"
    assert lines() == [
        f"{name}: The server sent 1 elements that are no device and are left out"
    ]


async def test_tracker_that_is_missing_for_a_week(
    simulator: Simulator, setup: MockConfigEntry, poll: Poll, lines: Lines
) -> None:
    """Its removal is a line of its account."""
    simulator.unassign(EMAIL, RED)
    lines()
    await poll()
    for _ in range(7 * 24):
        await poll(HOUR)
    [line] = lines()
    name = f"127.0.0.1 (port {simulator.port})"
    assert line.startswith(f"{name}: Removing device ")


async def test_tracker_that_moves_to_another_account(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    make_entry: MakeEntry,
    poll: Poll,
    lines: Lines,
    device_registry: dr.DeviceRegistry,
) -> None:
    """It is a line of the one that takes it over."""
    simulator.add_account(BOB, PASSWORD)
    simulator.assign(BOB, RED)
    other = make_entry(BOB)
    hass.config_entries.async_update_entry(other, title="Bob")
    await async_setup(hass, other)
    simulator.unassign(EMAIL, RED)
    lines()
    for _ in range(3):
        await poll()
    [device] = dr.async_entries_for_config_entry(device_registry, other.entry_id)
    name = f"Bob (port {simulator.port})"
    assert lines() == [f"{name}: Device {device.id} moves here from another account"]


async def test_memory_that_is_not_readable(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    lines: Lines,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is a line of its account."""

    load = Store.async_load

    async def _fail(store: Store[Any]) -> Any:
        if store.key == f"{DOMAIN}.{entry.entry_id}":
            raise json.JSONDecodeError("no JSON", "", 0)
        return await load(store)

    monkeypatch.setattr(Store, "async_load", _fail)
    await async_setup(hass, entry)
    name = f"127.0.0.1 (port {simulator.port})"
    told = f"{name}: The memory is not readable (JSONDecodeError), a new one begins"
    assert [line for line in lines() if line.startswith(told)]
