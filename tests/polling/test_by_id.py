"""Positions that the list does not have, which are asked for by their ID."""

from datetime import datetime, timedelta
from itertools import pairwise
import json
from typing import Any

from homeassistant.const import Platform
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.api.client import TrackingClient

from ..conftest import BLUE, EMAIL, RED, Bikes, Poll, StateOf, async_setup
from ..tools.simulator.server import Simulator
from .places import AT_HOME, AWAY, HOME, asked, asked_by_id, place


def long_ago() -> datetime:
    """Return a moment that is more than 90 days ago."""
    return dt_util.utcnow() - timedelta(days=100)


async def test_old_position_that_is_not_in_the_list(
    bikes: Bikes, traccar: Simulator, traccar_entry: MockConfigEntry
) -> None:
    """A bike in the cellar has its place and its battery: they are asked for by ID."""
    position = traccar.report(RED, **AWAY, battery_level=7, fix_time=long_ago())
    await async_setup(bikes.hass, traccar_entry)
    for _ in range(60):
        await bikes.poll()

    assert bikes.value_of(f"{RED}_battery", Platform.SENSOR) == "7"
    assert place(bikes.state_of(RED)) == (48.1, 7.9)
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


@pytest.mark.usefixtures("setup")
async def test_new_position_that_never_comes(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """It is asked for by its ID once a day, costs the others nothing, and ends with the next."""
    simulator.override_field(RED, "positionId", 4711)
    for minute in range(70):
        simulator.report(BLUE, latitude=48.1 + minute / 1000)
        await poll()
        assert place(state_of(BLUE))[0] == pytest.approx(48.1 + minute / 1000)
    assert place(state_of(RED)) == AT_HOME
    assert asked_by_id(simulator) == ["id=4711"]

    simulator.record.clear()
    for _ in range(48 * 12):
        await poll(300)
    assert asked_by_id(simulator) == ["id=4711"] * 2
    # The list of all positions, in which it may yet come, is asked for hourly.
    assert 46 <= asked(simulator)["positions"] - 2 <= 50

    simulator.clear_overrides(RED)
    simulator.report(RED, **AWAY)
    await poll()
    assert place(state_of(RED)) == (48.1, 7.9)


async def test_many_old_positions(
    bikes: Bikes, traccar: Simulator, traccar_entry: MockConfigEntry
) -> None:
    """One is asked for at a time, at most one a minute; one that is lost hides none."""
    trackers = [f"35{number:013}" for number in range(6)]
    for tracker in trackers:
        traccar.add_device(tracker, email=EMAIL)
        traccar.report(tracker, fix_time=long_ago())
    lost, *others = trackers
    traccar.forget_position(lost)
    await async_setup(bikes.hass, traccar_entry)
    for _ in range(20):
        await bikes.poll()

    assert place(bikes.state_of(lost)) == (None, None)
    for tracker in others:
        assert place(bikes.state_of(tracker)) == AT_HOME
    queries = asked_by_id(traccar)
    assert len(queries) == len(set(queries)) == len(trackers)
    assert not any("&" in query for query in queries)
    times = [r.time for r in traccar.requests if r.query.startswith("id=")]
    assert min(b - a for a, b in pairwise(times)) > timedelta(minutes=1)


@pytest.mark.parametrize("fault", ["status-400", "status-503", "reset-mid-body"])
async def test_by_id_fails(
    bikes: Bikes,
    traccar: Simulator,
    traccar_entry: MockConfigEntry,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    """It costs nobody else a thing, and is tried again the next day."""
    get = TrackingClient.async_get_position

    async def _fail(client: TrackingClient, position_id: int) -> Any:
        traccar.fault(fault, path="positions")
        try:
            return await get(client, position_id)
        finally:
            traccar.fault(None)

    traccar.report(RED, fix_time=long_ago())
    with monkeypatch.context() as patch:
        patch.setattr(TrackingClient, "async_get_position", _fail)
        await async_setup(bikes.hass, traccar_entry)
        assert place(bikes.state_of(RED)) == (None, None)
        assert place(bikes.state_of(BLUE)) == AT_HOME

    for _ in range(25):
        await bikes.poll(3600)
    assert place(bikes.state_of(RED)) == AT_HOME


@pytest.mark.usefixtures("setup")
async def test_other_positions_than_those_that_were_asked_for(
    bikes: Bikes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that answers by ID with what it likes leads nobody back in time."""
    old = json.dumps(bikes.simulator.listed("positions", EMAIL)).encode()
    monkeypatch.setattr(
        "tests.tools.simulator.render.Renderer.positions_by_id", lambda *_: old
    )
    bikes.simulator.report(RED, **AWAY)
    bikes.simulator.override_field(RED, "positionId", 4711)

    for _ in range(8):
        await bikes.poll()
        assert place(bikes.state_of(RED)) == (48.1, 7.9)
