"""Positions that the list does not have, which are asked for by their ID."""

from datetime import datetime, timedelta
from itertools import pairwise
import json
from typing import Any

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.api import TrackingClient

from ..conftest import BLUE, EMAIL, RED, Poll, StateOf, async_setup
from ..tools.simulator.server import Simulator
from .places import AT_HOME, AWAY, HOME, asked, asked_by_id, place


def long_ago() -> datetime:
    """Return a moment that is more than 90 days ago."""
    return dt_util.utcnow() - timedelta(days=100)


@pytest.mark.usefixtures("setup")
async def test_vanished_position(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """A position that a server drops as too old is still the last known one."""
    simulator.forget_position(RED)
    simulator.report(BLUE, **AWAY)

    await poll()

    assert place(state_of(RED)) == AT_HOME
    assert place(state_of(BLUE)) == (48.1, 7.9)


async def test_old_position_that_is_not_in_the_list(
    hass: HomeAssistant,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """A bike in the cellar has its place and its battery: they are asked for by ID."""
    position = traccar.report(RED, **AWAY, battery_level=7, fix_time=long_ago())
    await async_setup(hass, traccar_entry)
    for _ in range(60):
        await poll()

    battery = state_of(f"{RED}_battery", Platform.SENSOR)
    assert battery is not None
    assert battery.state == "7"
    assert place(state_of(RED)) == (48.1, 7.9)
    assert asked_by_id(traccar) == [f"id={position.id}"]


@pytest.mark.usefixtures("setup")
async def test_announced_position_that_comes_late(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """A position that the list announces before it is there shows within minutes."""
    for minutes in (1, 30, 50):
        position = simulator.report(RED, **(AWAY if minutes != 30 else HOME))
        simulator.devices[RED].position = None
        simulator.touch([RED])
        for _ in range(minutes):
            await poll()
        simulator.devices[RED].position = position
        simulator.touch([RED])

        for _ in range(5):
            await poll()

        assert place(state_of(RED)) == (position.latitude, position.longitude)


@pytest.mark.parametrize("vanished", [True, False])
@pytest.mark.usefixtures("setup")
async def test_new_position_that_is_not_there(
    simulator: Simulator, poll: Poll, state_of: StateOf, vanished: bool
) -> None:
    """What the server never tells is asked for in growing waits, at last hourly."""
    if vanished:
        simulator.forget_position(RED)
    simulator.override_field(RED, "positionId", 4711)
    simulator.record.clear()
    for _ in range(61):
        await poll()
    # After 1, 2, 4, 5, 5 … minutes, by ID never twice in ten minutes.
    assert 13 <= asked(simulator)["positions"] - len(asked_by_id(simulator)) <= 17
    assert len(asked_by_id(simulator)) <= 6
    assert asked_by_id(simulator)[0] == "id=4711"
    assert place(state_of(RED)) == AT_HOME

    simulator.record.clear()
    for _ in range(24 * 12):
        await poll(300)
    assert 23 <= asked(simulator)["positions"] - len(asked_by_id(simulator)) <= 27

    # Another one that is announced is asked for at once.
    simulator.clear_overrides(RED)
    simulator.report(RED, **AWAY)
    await poll()
    assert place(state_of(RED)) == (48.1, 7.9)


@pytest.mark.usefixtures("setup")
async def test_others_while_a_position_is_lacking(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """Each of their reports is seen with the next poll, as ever."""
    simulator.override_field(RED, "positionId", 4711)
    for minute in range(70):
        simulator.report(BLUE, latitude=48.1 + minute / 1000)
        await poll()
        assert place(state_of(BLUE))[0] == pytest.approx(48.1 + minute / 1000)
    by_id = [r.time for r in simulator.requests if r.query.startswith("id=")]
    assert by_id[0] < simulator.requests[0].time + timedelta(minutes=2)
    assert 5 <= len(by_id) <= 7
    assert min(b - a for a, b in pairwise(by_id)) > timedelta(minutes=10)


@pytest.mark.usefixtures("setup")
async def test_all_that_are_lacking_are_asked_for_together(
    simulator: Simulator, poll: Poll
) -> None:
    """At once, and then not again for ten minutes."""
    simulator.override_field(RED, "positionId", 4711)
    simulator.override_field(BLUE, "positionId", 4712)
    for _ in range(9):
        await poll()
    [query] = asked_by_id(simulator)
    assert sorted(query.split("&")) == ["id=4711", "id=4712"]


async def test_two_that_the_server_does_not_have(
    hass: HomeAssistant,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """One whose history was deleted hides none that is merely old."""
    traccar.report(RED, **AWAY, fix_time=long_ago())
    traccar.forget_position(BLUE)
    await async_setup(hass, traccar_entry)

    for _ in range(30):
        await poll()

    assert place(state_of(RED)) == (48.1, 7.9)


async def test_many_old_positions(
    hass: HomeAssistant,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    state_of: StateOf,
) -> None:
    """They are asked for two hundred at a time: an address has its limits."""
    trackers = [f"35{number:013}" for number in range(250)]
    for tracker in trackers:
        traccar.add_device(tracker, email=EMAIL)
        traccar.report(tracker, fix_time=long_ago())

    await async_setup(hass, traccar_entry)

    assert [query.count("id=") for query in asked_by_id(traccar)] == [200, 50]
    for tracker in trackers:
        assert place(state_of(tracker)) == AT_HOME


async def test_one_among_many_that_the_server_does_not_have(
    hass: HomeAssistant,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """It is asked for in ever smaller company, in which all the others are found."""
    trackers = [f"35{number:013}" for number in range(12)]
    for tracker in trackers:
        traccar.add_device(tracker, email=EMAIL)
        traccar.report(tracker, fix_time=long_ago())
    lost, *others = trackers
    traccar.forget_position(lost)
    await async_setup(hass, traccar_entry)

    for _ in range(60):
        await poll()

    assert place(state_of(lost)) == (None, None)
    for tracker in others:
        assert place(state_of(tracker)) == AT_HOME


async def test_more_than_are_asked_for_at_once(
    hass: HomeAssistant,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
) -> None:
    """All have their turn, though none of the first ones is ever told."""
    trackers = [f"35{number:013}" for number in range(6)]
    for tracker in trackers:
        traccar.add_device(tracker, email=EMAIL)
        traccar.report(tracker, fix_time=long_ago())
    for tracker in trackers[:4]:
        traccar.forget_position(tracker)
    await async_setup(hass, traccar_entry)

    for _ in range(60):
        await poll()

    for tracker in trackers[4:]:
        assert place(state_of(tracker)) == AT_HOME


@pytest.mark.parametrize(
    ("fault", "lasts", "right_after"),
    [
        ("status-400", 0, 13),
        ("status-503", 0, 6),
        ("status-503", 100, 6),
        ("reset-mid-body", 5, 6),
    ],
)
async def test_by_id_fails(
    hass: HomeAssistant,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    poll: Poll,
    state_of: StateOf,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    lasts: int,
    right_after: int,
) -> None:
    """It costs nobody else a thing, and is tried again: soon, unless it was refused."""
    get = TrackingClient.async_get_positions_by_id

    async def _fail(client: TrackingClient, ids: list[int]) -> Any:
        traccar.fault(fault, path="positions")
        try:
            return await get(client, ids)
        finally:
            traccar.fault(None)

    traccar.report(RED, fix_time=long_ago())
    with monkeypatch.context() as patch:
        patch.setattr(TrackingClient, "async_get_positions_by_id", _fail)
        await async_setup(hass, traccar_entry)
        assert place(state_of(RED)) == (None, None)
        assert place(state_of(BLUE)) == AT_HOME
        for _ in range(lasts):
            await poll()

    for _ in range(right_after):
        await poll()
    assert place(state_of(RED)) == AT_HOME


@pytest.mark.usefixtures("setup")
async def test_other_positions_than_those_that_were_asked_for(
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that answers by ID with what it likes leads nobody back in time."""
    old = json.dumps(simulator.listed("positions", EMAIL)).encode()
    monkeypatch.setattr(
        "tests.tools.simulator.render.Renderer.positions_by_id", lambda *_: old
    )
    simulator.report(RED, **AWAY)
    simulator.override_field(RED, "positionId", 4711)

    for _ in range(8):
        await poll()
        assert place(state_of(RED)) == (48.1, 7.9)
