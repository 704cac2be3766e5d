"""What is known of positions after a restart, and what a bad file costs."""

import copy
from typing import Any

from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN, Platform
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import RED, Poll, StateOf, async_setup
from ..tools.simulator.server import Simulator
from .places import AT_HOME, AWAY, place

JUNK: list[Any] = [
    {},
    [],
    None,
    "x",
    {"positions": [], "missing": {}},
    {"positions": {}, "missing": []},
    {"positions": {RED: {}}, "missing": {}},
    {"positions": {RED: None}, "missing": {}},
    {"positions": {}, "missing": {RED: "long"}},
    {"positions": {}, "missing": {RED: None}},
    {"positions": {RED: {"latitude": 1}}, "missing": {}},
    {"positions": {RED: {"device_id": "1", "id": 1}}},
    {"positions": {RED: {"device_id": 1, "id": None}}},
    {"alarms": []},
    {"address": []},
    {"address": {RED: 7}},
    {"alarms": {RED: None}},
    {"hardware": {RED: {"lock": True, "power_voltage": "high", "firmware": 1}}},
    {"alarms": {RED: {"position_id": "1", "words": ["sos"]}}},
    {"alarms": {RED: {"position_id": 1, "words": "sos"}}},
    {"alarms": {RED: {"position_id": 1, "words": [1], "time": "soon"}}},
]


async def test_restart_with_positions_failing(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """What was known before a restart is known after it, whatever the lookup says."""
    await poll(301)
    await hass.config_entries.async_unload(setup.entry_id)
    simulator.fault("status-404", path="positions")

    await async_setup(hass, setup)

    state = state_of(RED)
    battery = state_of(f"{RED}_battery", Platform.SENSOR)
    time = state_of(f"{RED}_position_time", Platform.SENSOR)
    assert state is not None
    assert battery is not None
    assert time is not None
    assert state.state == "home"
    assert battery.state == "80"
    assert time.state not in (STATE_UNKNOWN, STATE_UNAVAILABLE)


async def test_restart_with_a_time_that_was_not_readable(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """The position is asked for again, also after a restart."""
    simulator.override_position(RED, "fixTime", "soon")
    simulator.report(RED, **AWAY)
    await poll()
    await hass.config_entries.async_unload(setup.entry_id)
    simulator.clear_overrides(RED)

    await async_setup(hass, setup)
    await poll(6)

    time = state_of(f"{RED}_position_time", Platform.SENSOR)
    assert time is not None
    assert time.state not in (STATE_UNKNOWN, STATE_UNAVAILABLE)


async def test_memory_is_written_again_and_again(
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    hass_storage: dict[str, Any],
) -> None:
    """A position that changed after the first was written is written too."""
    for latitude in (50.0, 51.0, 52.0):
        simulator.report(RED, latitude=latitude)
        for _ in range(10):
            await poll()
        stored = hass_storage[f"{DOMAIN}.{setup.entry_id}"]["data"]
        assert stored["positions"][RED]["latitude"] == latitude


async def test_unloading_without_news(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    poll: Poll,
    hass_storage: dict[str, Any],
) -> None:
    """What is on disk already is not written once more."""
    for _ in range(10):
        await poll()
    del hass_storage[f"{DOMAIN}.{setup.entry_id}"]

    await hass.config_entries.async_unload(setup.entry_id)
    await poll(301)

    assert f"{DOMAIN}.{setup.entry_id}" not in hass_storage


async def test_unloading_with_news(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    hass_storage: dict[str, Any],
) -> None:
    """What is not on disk yet is written at once."""
    for _ in range(10):
        await poll()
    simulator.report(RED, latitude=50.0)
    await poll()

    await hass.config_entries.async_unload(setup.entry_id)

    stored = hass_storage[f"{DOMAIN}.{setup.entry_id}"]["data"]
    assert stored["positions"][RED]["latitude"] == 50.0


async def test_nothing_is_written_after_unloading(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    poll: Poll,
    hass_storage: dict[str, Any],
) -> None:
    """Whoever loads the account next has the file for itself."""
    coordinator = setup.runtime_data.coordinator
    await hass.config_entries.async_unload(setup.entry_id)
    before = copy.deepcopy(hass_storage.get(f"{DOMAIN}.{setup.entry_id}"))

    coordinator.async_forget(RED)
    await poll(301)

    assert hass_storage.get(f"{DOMAIN}.{setup.entry_id}") == before


@pytest.mark.parametrize(
    ("version", "stored"),
    [
        (2, {}),
        (99, {}),
        *((1, stored) for stored in JUNK),
    ],
)
async def test_memory_that_cannot_be_read(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    state_of: StateOf,
    hass_storage: dict[str, Any],
    stored: Any,
    version: int,
) -> None:
    """Whatever stands in the file, of whatever version, the trackers are there."""
    remember(hass_storage, entry, stored, version)

    await async_setup(hass, entry)

    assert place(state_of(RED)) == AT_HOME


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("fix_time", "yesterday"),
        ("fix_time", 5),
        ("latitude", "48"),
        ("longitude", None),
        ("latitude", 1e999),
        ("accuracy", "far"),
        ("accuracy", -1),
        ("altitude", []),
        ("speed", "fast"),
        ("course", {}),
        ("battery_level", "full"),
        ("battery_level", 101),
        ("motion", "yes"),
        ("hardware", "yes"),
        ("address", 7),
        ("hardware", {"charge": "yes", "power_voltage": "high", "firmware": 1}),
        ("future", 1),
    ],
)
@pytest.mark.usefixtures("all_enabled")
async def test_memory_with_a_value_of_the_wrong_type(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    simulator: Simulator,
    state_of: StateOf,
    hass_storage: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    field: str,
    value: Any,
) -> None:
    """It costs that value: no entity and no other tracker, and nothing else of it."""
    good = {
        "device_id": simulator.devices[RED].id,
        "id": simulator.devices[RED].position_id,
        "fix_time": "2026-11-20T06:30:15+00:00",
        "latitude": 48.5,
        "longitude": 7.5,
        "accuracy": 5.0,
        "altitude": 200.0,
        "speed": 10.0,
        "course": 90.0,
        "battery_level": 50,
        "motion": True,
    }
    remember(
        hass_storage,
        entry,
        {"positions": {RED: {**good, field: value}}, field: {RED: value}},
    )

    await async_setup(hass, entry)

    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    has_place = field not in ("latitude", "longitude")
    state = state_of(RED)
    assert place(state) == ((48.5, 7.5) if has_place else (None, None))
    assert state is not None
    assert state_of(f"{RED}_online", Platform.BINARY_SENSOR)
    expected = {
        "battery": "50",
        "speed": "10.0",
        "altitude": "200.0",
        "course": "90.0",
        "position_time": "2026-11-20T06:30:15+00:00",
    }
    for key, shown in expected.items():
        sensor = state_of(f"{RED}_{key}", Platform.SENSOR)
        is_lost = key in field or field == {"position_time": "fix_time"}.get(key)
        if is_lost or (key == "position_time" and not has_place):
            assert sensor is None
        else:
            assert sensor is not None
            assert sensor.state == shown


def remember(
    hass_storage: dict[str, Any], entry: MockConfigEntry, stored: Any, version: int = 1
) -> None:
    """Put a file into the storage of Home Assistant."""
    key = f"{DOMAIN}.{entry.entry_id}"
    hass_storage[key] = {
        "version": version,
        "minor_version": 1,
        "key": key,
        "data": stored,
    }
