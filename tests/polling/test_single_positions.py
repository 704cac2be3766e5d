"""Positions that are requested on their own: a single new position, and old positions that the list lacks."""

from datetime import timedelta
from itertools import pairwise
import json
from typing import Any

from homeassistant.util import dt as dt_util
import pytest

from custom_components.bike_tracker.api import TrackingClient
from custom_components.bike_tracker.api.errors import refusal_of

from ..conftest import BLUE, EMAIL, RED, Bikes, async_setup
from .conftest import AT_HOME, AWAY, HOME, asked, place, requested_alone

LONG_AGO = timedelta(days=100)
lists_no_old_positions = pytest.mark.parametrize("simulator", ["6.14.5"], indirect=True)
"""The list of positions lacks all positions older than 90 days, as in this version of Traccar."""


async def test_announced_position_that_comes_late(ready: Bikes) -> None:
    """A position that the device list announces too early is shown within 5 minutes after the service sends it."""
    for minutes in (1, 30, 50):
        position = ready.simulator.report(RED, **(AWAY if minutes != 30 else HOME))
        ready.simulator.devices[RED].position = None
        ready.simulator.touch([RED])
        await ready.poll(times=minutes)
        ready.simulator.devices[RED].position = position
        ready.simulator.touch([RED])
        await ready.poll(times=5)
        assert place(ready) == (position.latitude, position.longitude)


@pytest.mark.parametrize("position_id", [4711, 10**9])
async def test_new_position_that_never_comes(ready: Bikes, position_id: int) -> None:
    """If an announced position never comes, it is requested less and less often. The next position is shown at once.

    The service sends another position instead, with a higher or a lower ID.
    """
    ready.simulator.override_field(RED, "positionId", position_id)
    for minute in range(70):
        ready.simulator.report(BLUE, latitude=48.1 + minute / 1000)
        await ready.poll()
        assert place(ready, BLUE)[0] == pytest.approx(48.1 + minute / 1000)
    assert place(ready) == AT_HOME
    alone = requested_alone(ready.simulator)
    # BLUE also has a new position in each poll, so retries request the list. Only one
    # request was for RED alone.
    assert alone.count(RED) == 1
    assert asked(ready.simulator)["positions"] - len(alone) in range(14, 18)
    ready.simulator.record.clear()
    await ready.poll(300, times=48 * 12)
    # The missing position is requested about once an hour, because it may arrive later.
    assert requested_alone(ready.simulator).count(RED) in range(46, 51)
    assert asked(ready.simulator)["positions"] in range(46, 51)
    ready.simulator.clear_overrides(RED)
    await ready.async_report(**AWAY)
    assert place(ready) == (48.1, 7.9)


@lists_no_old_positions
async def test_many_old_positions(bikes: Bikes) -> None:
    """Old positions are requested one by one, at most every two minutes. A position that the service lacks does not delay other positions."""
    traccar = bikes.simulator
    # Requests for single positions do not need the permission to read reports.
    traccar.accounts[EMAIL].disable_reports = True
    trackers = [f"35{number:013}" for number in range(6)]
    for tracker in trackers:
        traccar.add_device(tracker, email=EMAIL)
        traccar.report(tracker, fix_time=dt_util.utcnow() - LONG_AGO)
    lost = trackers[0]
    traccar.forget_position(lost)
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll(times=20)
    assert [place(bikes, it) for it in trackers] == [(None, None), *[AT_HOME] * 5]
    alone = requested_alone(traccar)
    assert sorted(alone[:6]) == trackers
    # The position of `lost` is still requested, because it may arrive later.
    assert set(alone[6:]) == {lost}
    times = [request.time for request in traccar.requests if request.query][:6]
    assert min(b - a for a, b in pairwise(times)) > timedelta(minutes=2)


@lists_no_old_positions
@pytest.mark.parametrize("fault", ["status-400", "status-503"])
async def test_old_position_fails(bikes: Bikes, fault: str) -> None:
    """If the request for an old position fails, it is repeated the next day. Other old positions wait for later polls. Other trackers show their places."""
    bikes.simulator.add_device("old", name="The old bike", email=EMAIL)
    for tracker in (RED, "old"):
        bikes.simulator.report(tracker, fix_time=dt_util.utcnow() - LONG_AGO)
    # The first request is for the list. The second, for the old position, fails.
    bikes.simulator.fault(fault, path="positions", every=2)
    await async_setup(bikes.hass, bikes.entry)
    assert len(requested_alone(bikes.simulator)) == 1
    assert (place(bikes), place(bikes, BLUE)) == ((None, None), AT_HOME)
    bikes.simulator.fault(None)
    await bikes.poll(3600, times=25)
    assert place(bikes) == place(bikes, "old") == AT_HOME


async def test_older_positions(ready: Bikes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new position is shown, even if a server answers the request for this position alone with older positions."""
    old = json.dumps(ready.simulator.listed("positions", EMAIL)).encode()
    renderer = "tests.tools.simulator.render.Renderer"
    monkeypatch.setattr(f"{renderer}.position_of", lambda *_: old)
    await ready.async_report(**AWAY)
    assert place(ready) == (48.1, 7.9)


async def test_single_new_position(ready: Bikes) -> None:
    """A single new position is requested on its own, once. Two new positions are requested with the list."""
    ready.simulator.record.clear()
    await ready.poll(times=100)
    assert asked(ready.simulator) == {"devices": 100, "positions": 0}
    ready.simulator.report(RED, **AWAY)
    await ready.poll(times=10)
    assert requested_alone(ready.simulator) == [RED]
    for tracker in (RED, BLUE):
        ready.simulator.report(tracker, latitude=48.2)
    await ready.poll()
    assert requested_alone(ready.simulator) == [RED]
    assert asked(ready.simulator) == {"devices": 111, "positions": 2}
    assert place(ready)[0] == place(ready, BLUE)[0] == 48.2


@pytest.mark.parametrize(("status", "tries"), [(200, 1), (400, 1), (404, 1), (503, 3)])
async def test_server_without_single_positions(
    ready: Bikes, monkeypatch: pytest.MonkeyPatch, status: int, tries: int
) -> None:
    """If a server cannot send a single position, later polls request only the list, unless the failure is temporary."""
    get, tried = TrackingClient.async_get_positions, list[int]()

    async def _refuse(client: TrackingClient, *ids: Any) -> Any:
        if len(ids) == 1:
            return await get(client, *ids)
        tried.append(ids[1])
        if status == 200:
            return {}
        raise refusal_of(status, {})

    monkeypatch.setattr(TrackingClient, "async_get_positions", _refuse)
    for minute in range(6):
        await ready.async_report(latitude=48.1 + minute / 10)
        is_late = status == 503 and minute % 2 == 0
        assert (place(ready)[0] == 48.1 + minute / 10) is not is_late
    assert len(tried) == tries
