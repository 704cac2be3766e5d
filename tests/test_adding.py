"""If adding a tracker's entities fails, all remaining trackers are still added."""

from collections.abc import Callable
from typing import Any

from homeassistant.helpers import device_registry as dr, entity_registry as er
import pytest

from custom_components.bike_tracker.sensor import BikeTrackerSensor
from custom_components.bike_tracker.tracking.state import Tracker

from .conftest import BLUE, EMAIL, RED, Bikes, Shown, async_setup
from .static.entities import DESCRIPTIONS

GREEN = "860000000000033"

type Break = Callable[[pytest.MonkeyPatch, set[str]], None]


def break_device(patch: pytest.MonkeyPatch, broken: set[str]) -> None:
    """Let the device registry raise an error for these trackers."""
    get_or_create = dr.DeviceRegistry.async_get_or_create

    def fail(registry: dr.DeviceRegistry, **device: Any) -> dr.DeviceEntry:
        if device["serial_number"] in broken:
            raise RuntimeError("a bug")
        return get_or_create(registry, **device)

    patch.setattr(dr.DeviceRegistry, "async_get_or_create", fail)


def break_constructor(patch: pytest.MonkeyPatch, broken: set[str]) -> None:
    """Let the constructor of sensors raise an error for these trackers."""
    init = BikeTrackerSensor.__init__

    def fail(
        entity: BikeTrackerSensor, coordinator: Any, tracker: str, *args: Any
    ) -> None:
        if tracker in broken:
            raise RuntimeError("a bug")
        init(entity, coordinator, tracker, *args)

    patch.setattr(BikeTrackerSensor, "__init__", fail)


def break_value(key: str) -> Break:
    """Return a function that lets the reading of this value raise an error for some trackers."""

    def _break(patch: pytest.MonkeyPatch, broken: set[str]) -> None:
        [description] = (
            description
            for descriptions in DESCRIPTIONS.values()
            for description in descriptions
            if description.key == key
        )
        read = vars(description)["value_fn"]

        def fail(tracker: Tracker) -> Any:
            if tracker.device.unique_id in broken:
                raise RuntimeError("a bug")
            return read(tracker)

        # The descriptions are frozen dataclasses, so change their `__dict__`.
        patch.setitem(vars(description), "value_fn", fail)

    return _break


BREAKS = [
    pytest.param(break_device, id="device"),
    pytest.param(break_constructor, id="constructor"),
    pytest.param(break_value("online"), id="a value that all have"),
    pytest.param(break_value("battery"), id="a value that some have"),
]


@pytest.mark.usefixtures("freezer")
@pytest.mark.parametrize("break_", BREAKS)
async def test_at_setup(
    bikes: Bikes,
    shown: Shown,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    break_: Break,
) -> None:
    """If adding a tracker fails at the set-up, all other trackers are added.

    The failing tracker is added with its next report or status, without a reload.
    """
    bikes.simulator.add_device(GREEN, email=EMAIL)
    broken = {BLUE}
    break_(monkeypatch, broken)

    await async_setup(bikes.hass, bikes.entry)

    whole = shown()[RED]
    assert shown()[GREEN] == whole
    assert shown().get(BLUE, 0) < whole
    assert f"{bikes.entry.title}: Unexpected error" in caplog.text

    # As long as nothing changes at the failing tracker, no poll tries to add it again.
    caplog.clear()
    bikes.simulator.touch([RED])
    await bikes.poll()
    assert shown().get(BLUE, 0) < whole
    assert "Unexpected error" not in caplog.text

    broken.clear()
    bikes.simulator.set_status(BLUE, "offline")
    await bikes.poll()

    assert shown() == dict.fromkeys((RED, BLUE, GREEN), whole)
    assert "rror" not in caplog.text


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize("break_", BREAKS)
async def test_trackers_that_come_together(
    bikes: Bikes, shown: Shown, monkeypatch: pytest.MonkeyPatch, break_: Break
) -> None:
    """If adding a new tracker of twenty fails, all other trackers are added. A later report adds the failing tracker."""
    whole = shown()[RED]
    new = [f"8700000000000{number:02}" for number in range(20)]
    for unique_id in new:
        bikes.simulator.add_device(unique_id, email=EMAIL)
    broken = {new[3]}
    break_(monkeypatch, broken)
    await bikes.poll()

    assert bikes.coordinator.last_update_success
    assert shown().get(new[3], 0) < whole
    others = dict.fromkeys((RED, BLUE, *new[:3], *new[4:]), whole)
    assert others.items() <= shown().items()

    broken.clear()
    bikes.simulator.report(new[3], latitude=48.0)
    await bikes.poll()
    assert shown() == others | {new[3]: whole}


@pytest.mark.usefixtures("freezer")
async def test_what_is_newly_reported(
    bikes: Bikes, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a new value cannot be read, only the entity of this value is missing. The next report adds this entity."""
    broken: set[str] = set()
    break_value("charging")(monkeypatch, broken)
    await async_setup(bikes.hass, bikes.entry)
    before = shown()[RED]
    for broken_now, more in (({BLUE}, 0), (set[str](), 1)):
        broken.clear()
        broken.update(broken_now)
        for unique_id in (RED, BLUE):
            charging = {"charge": True}
            bikes.simulator.report(unique_id, latitude=48 + more, attributes=charging)
        await bikes.poll()
        assert shown() == {RED: before + 1, BLUE: before + more}


async def test_kinds_that_every_tracker_has(
    bikes: Bikes, entity_registry: er.EntityRegistry
) -> None:
    """A tracker that has never reported a position has only these entities."""
    bikes.simulator.add_device(GREEN, email=EMAIL, latitude=None)
    await async_setup(bikes.hass, bikes.entry)

    entry_id, keys = bikes.entry.entry_id, set[str]()
    for each in er.async_entries_for_config_entry(entity_registry, entry_id):
        tracker, _, key = each.unique_id.partition("_")
        keys |= {key} if tracker == GREEN else set()
    assert keys == {
        *("", "online", "disabled", "last_update", "position_id", "group_id")
    }
