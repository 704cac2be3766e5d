"""If adding a tracker's entities fails, all remaining trackers are still added."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.helpers import device_registry as dr, entity_registry as er
import pytest

from custom_components.bike_tracker.sensor import BikeTrackerSensor
from custom_components.bike_tracker.tracking.state import Tracker

from .conftest import BLUE, EMAIL, RED, Bikes, async_setup
from .static.entities import DESCRIPTIONS


def failing(function: Callable[..., Any], broken: set[str]) -> Callable[..., Any]:
    """Return a function that raises an error if an argument is a tracker in `broken`, and otherwise calls `function`."""

    def fail(*args: Any, **kwargs: Any) -> Any:
        for it in (*args, *kwargs.values()):
            unique_id = it.device.unique_id if isinstance(it, Tracker) else it
            if isinstance(unique_id, str) and unique_id in broken:
                raise RuntimeError("a bug")
        return function(*args, **kwargs)

    return fail


def break_value(key: str, patch: pytest.MonkeyPatch, broken: set[str]) -> None:
    """Let the function that reads the value `key` raise an error for trackers in `broken`."""
    every = (it for descriptions in DESCRIPTIONS.values() for it in descriptions)
    fields = next(vars(it) for it in every if it.key == key)
    # The descriptions are frozen dataclasses, so change their `__dict__`.
    patch.setitem(fields, "value_fn", failing(fields["value_fn"], broken))


def break_method(
    owner: type, name: str, patch: pytest.MonkeyPatch, broken: set[str]
) -> None:
    """Let a method raise an error for trackers in `broken`."""
    patch.setattr(owner, name, failing(getattr(owner, name), broken))


def shown(bikes: Bikes) -> dict[str, int]:
    """Return the number of available entities for each tracker that has at least one entity."""
    registry = er.async_get(bikes.hass)
    entities = er.async_entries_for_config_entry(registry, bikes.entry.entry_id)
    states = {it.unique_id: bikes.hass.states.get(it.entity_id) for it in entities}
    return Counter(
        unique_id.partition("_")[0]
        for unique_id, state in states.items()
        if state and state.state != STATE_UNAVAILABLE
    )


@pytest.mark.parametrize("is_set_up", [False, True])
@pytest.mark.parametrize(
    "break_",
    [
        partial(break_method, dr.DeviceRegistry, "async_get_or_create"),
        partial(break_method, BikeTrackerSensor, "__init__"),
        partial(break_value, "online"),
        partial(break_value, "battery"),
    ],
    ids=["device", "constructor", "a value that all have", "a value that some have"],
)
async def test_trackers_that_come_together(
    bikes: Bikes,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    break_: Callable[[pytest.MonkeyPatch, set[str]], None],
    is_set_up: bool,
) -> None:
    """If adding one of many new trackers fails, at the set-up or later, all other trackers are added.

    The failing tracker is added with its next report or status, without a reload.
    """
    if is_set_up:
        await async_setup(bikes.hass, bikes.entry)
    new = [f"8700000000000{number:02}" for number in range(8)]
    for unique_id in new:
        bikes.simulator.add_device(unique_id, email=EMAIL)
    late, broken = new[3], {new[3]}
    break_(monkeypatch, broken)
    await (bikes.poll() if is_set_up else async_setup(bikes.hass, bikes.entry))
    assert bikes.coordinator.last_update_success
    whole = shown(bikes)[RED]
    others = dict.fromkeys((RED, BLUE, *new[:3], *new[4:]), whole)
    assert others.items() <= shown(bikes).items()
    assert shown(bikes).get(late, 0) < whole
    assert f"{bikes.entry.title}: Unexpected error" in caplog.text
    # As long as nothing changes at the failing tracker, no poll tries to add it again.
    caplog.clear()
    bikes.simulator.touch([RED])
    await bikes.poll()
    assert shown(bikes).get(late, 0) < whole
    broken.clear()
    bikes.simulator.set_status(late, "offline")
    await bikes.poll()
    assert shown(bikes) == others | {late: whole}
    assert "rror" not in caplog.text


async def test_newly_reported(bikes: Bikes, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a new value cannot be read, only the entity of this value is missing. The next report adds this entity."""
    broken: set[str] = set()
    break_value("charging", monkeypatch, broken)
    await async_setup(bikes.hass, bikes.entry)
    before = shown(bikes)[RED]
    for broken_now, more in (({BLUE}, 0), (set[str](), 1)):
        broken.clear()
        broken.update(broken_now)
        for unique_id in (RED, BLUE):
            charging = {"charge": True}
            bikes.simulator.report(unique_id, latitude=48 + more, attributes=charging)
        await bikes.poll()
        assert shown(bikes) == {RED: before + 1, BLUE: before + more}
