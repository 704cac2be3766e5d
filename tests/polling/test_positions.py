"""Requests for positions, and wrong answers to them."""

from itertools import product

from homeassistant.config_entries import ConfigEntryState
import pytest

from custom_components.bike_tracker.api import TrackingClient
from custom_components.bike_tracker.api.errors import (
    CannotConnectError,
    InvalidResponseError,
    ServiceUnavailableError,
    TrackingError,
)

from ..conftest import BLUE, RED, Bikes, async_setup, logged
from ..long import some
from .conftest import AWAY, asked, place

NOT_OFFERED = [
    *("status-400", "status-401", "status-403", "status-404", "status-204"),
    *("html", "json-object", "redirect-302-same"),
]
PASSING = ["status-500", "status-503", "status-429", "status-408", "reset-mid-body"]


@pytest.mark.parametrize(
    ("error", "requests"),
    [
        (ServiceUnavailableError("status 503"), 2),
        (ServiceUnavailableError("status 503", retry_after=30), 1),
        (CannotConnectError("no answer in time", code="timeout"), 1),
        (CannotConnectError("connection lost"), 2),
        (InvalidResponseError("status 404"), 1),
    ],
)
async def test_second_try(
    ready: Bikes, monkeypatch: pytest.MonkeyPatch, error: TrackingError, requests: int
) -> None:
    """The third failure in a row is retried at once, unless it is a timeout or a 404, or requests a wait."""
    tried = list[object]()

    async def _fail(_: TrackingClient, *ids: object) -> None:
        tried.append(ids)
        raise error

    monkeypatch.setattr(TrackingClient, "async_get_positions", _fail)
    ready.simulator.report(RED, **AWAY)
    while len(tried) < 3:
        await ready.poll()
    assert len(tried) == 2 + requests


@pytest.mark.parametrize("fault", NOT_OFFERED)
async def test_not_offered(bikes: Bikes, fault: str) -> None:
    """If the first request for positions is refused, the poll succeeds, and the next request follows an hour later."""
    bikes.simulator.fault(fault, path="positions")
    await async_setup(bikes.hass, bikes.entry)
    for _ in range(50):
        await bikes.async_report(**AWAY)
    assert bikes.entry.state is ConfigEntryState.LOADED
    assert asked(bikes.simulator)["positions"] == 1
    assert not bikes.hass.config_entries.flow.async_progress()
    bikes.simulator.fault(None)
    await bikes.poll(times=10)
    assert asked(bikes.simulator)["positions"] == 2
    assert place(bikes) == (48.1, 7.9)


@pytest.mark.parametrize(
    ("fault", "steps"), some(product(NOT_OFFERED + PASSING, [1, 60, 24 * 12]), every=4)
)
@pytest.mark.parametrize("restart", [False, True])
async def test_offered(ready: Bikes, fault: str, steps: int, restart: bool) -> None:
    """If positions worked before a fault, they work again within 5 minutes after its end, even after a reload."""
    ready.simulator.fault(fault, path="positions")
    ready.simulator.report(RED, **AWAY)
    if restart:
        await ready.hass.config_entries.async_reload(ready.entry.entry_id)
    await ready.poll(300 if steps > 60 else 60, times=steps)
    assert ready.value_of(RED) == "home"
    ready.simulator.fault(None)
    await ready.poll(times=5)
    assert place(ready) == (48.1, 7.9)


@pytest.mark.parametrize("is_too_large", [True, False])
async def test_never_offered(
    bikes: Bikes, caplog: pytest.LogCaptureFixture, is_too_large: bool
) -> None:
    """If the list of positions is too large, one line is logged. If the service has no positions, nothing is logged."""
    fault = "huge-body" if is_too_large else "status-404"
    bikes.simulator.fault(fault, path="positions")
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll(600, times=12)
    began = "127.0.0.1: Positions cannot be fetched (more than 8 MiB); trackers stay where they were"
    assert logged(caplog) == [began] * is_too_large


async def test_refused_history(ready: Bikes) -> None:
    """After the service refused a request for its history, no more reports count as missing."""
    ready.simulator.fault("status-404", path="history")
    for bike in (RED, BLUE):
        ready.freezer.tick(600)
        ready.simulator.report(bike)
        await ready.poll()
    assert ready.coordinator.data.gaps.keys() == {RED}
