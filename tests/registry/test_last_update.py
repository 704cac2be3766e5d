"""Last update follows reports in steps of five minutes."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from homeassistant.const import Platform
from homeassistant.util import dt as dt_util
import pytest

from ..conftest import EMAIL, RED, Poll, StateOf
from ..tools.simulator.server import Simulator

STATE = "sensor.red_bike_last_update"

type Ride = Callable[[int], Awaitable[list[Written]]]

pytestmark = [
    pytest.mark.usefixtures("setup"),
    pytest.mark.freeze_time("2026-11-20 12:00:00+00:00"),
]


class Written(NamedTuple):
    """What was written, and when the tracker reported last."""

    writes: int
    is_exact: bool


@pytest.fixture
def ride(
    simulator: Simulator, poll: Poll, writes: list[str], state_of: StateOf
) -> Ride:
    """Return a function that lets a tracker report before each of so many polls."""

    async def _ride(polls: int) -> list[Written]:
        written = []
        for _ in range(polls):
            reported_at = dt_util.utcnow() + timedelta(seconds=50)
            simulator.touch([RED], last_update=reported_at)
            writes.clear()
            await poll(60)
            written.append(Written(writes.count(STATE), shown(state_of) == reported_at))
        return written

    return _ride


def shown(state_of: StateOf) -> datetime | None:
    """Return what the red bike shows."""
    state = state_of(f"{RED}_last_update", Platform.SENSOR)
    assert state is not None
    return dt_util.parse_datetime(state.state)


async def test_reports_that_keep_coming(ride: Ride) -> None:
    """They are written in steps of five minutes, with the poll that brings them."""
    await ride(5)

    written = await ride(15)

    assert [each.writes for each in written] == [int(each.is_exact) for each in written]
    assert sum(each.writes for each in written) == 3


async def test_end_of_a_series(ride: Ride, poll: Poll, writes: list[str]) -> None:
    """A tracker that falls silent keeps its last step, and costs no row."""
    await ride(7)
    writes.clear()

    for _ in range(10):
        await poll(60)

    assert not writes


@pytest.mark.parametrize("way", ["outage", "unassigned"])
async def test_coming_back(
    ride: Ride, simulator: Simulator, poll: Poll, way: str
) -> None:
    """A tracker that comes back shows what is known now."""
    await ride(7)
    if way == "outage":
        simulator.fault("status-503")
    else:
        simulator.unassign(EMAIL, RED)
    await poll(60)
    simulator.fault(None)
    simulator.assign(EMAIL, RED)

    assert await ride(1) == [Written(1, is_exact=True)]
