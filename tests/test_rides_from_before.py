"""Rides from before a tracker was set up: thirty days of them, into the book alone."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.api import TrackingClient, TrackingError
from custom_components.bike_tracker.diagnostics import (
    async_get_config_entry_diagnostics,
)
from custom_components.bike_tracker.tracking import Ride

from .conftest import BLUE, EMAIL, RED, Poll, async_setup
from .registry.test_ride_book import file_of, row, store
from .tools.simulator import Simulator
from .tools.simulator.streets import METRES_PER_DEGREE
from .tools.story.home import Home

MINUTE = 60
HOUR = 60 * MINUTE
DAY = timedelta(days=1)
RIDE = timedelta(minutes=10)
SECONDS = 31
"""A bike reports each half a minute under way."""

pytestmark = pytest.mark.usefixtures("with_rides_from_before")


def ride_on_days(simulator: Simulator, days: int, tracker: str = RED) -> list[datetime]:
    """Let a bike have ridden a kilometre a day; return when.

    Each second ride was under way exactly a number of days ago.
    """
    now, starts = dt_util.utcnow(), list[datetime]()
    for day in range(days, 0, -1):
        hours = 8 if day % 2 else 0
        start = now - day * DAY + timedelta(hours=hours) - RIDE / 2
        for number in range(-1, 34):
            time = start + number * RIDE / 20
            metres = 1_000 * len(starts) + 50 * min(max(number, 0), 20)
            moves = 0 <= number < 20
            simulator.report(
                tracker,
                latitude=47.9 + metres / METRES_PER_DEGREE,
                accuracy=5.0,
                speed=5.0 if moves else 0.0,
                attributes={"motion": moves},
                fix_time=time,
                device_time=time,
                last_update=time,
            )
        starts.append(start)
    return starts


def asked(simulator: Simulator) -> int:
    """Return how often the history was asked for: never twice in a minute."""
    times = [item.time for item in simulator.requests if "deviceId" in item.query]
    assert all(
        late - early > 0.9 * timedelta(minutes=1) for early, late in pairwise(times)
    )
    return len(times)


def hold(rides: list[Ride], starts: list[datetime]) -> None:
    """Hold rides of a book against when they were: each once, and whole."""
    assert len(rides) == len(starts)
    for ride, start in zip(rides, starts, strict=True):
        assert abs((ride.started_at - start).total_seconds()) <= SECONDS
        assert ride.distance == pytest.approx(1, abs=0.06)


@pytest.fixture
async def home(
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    hass_storage: dict[str, Any],
    hass_tmp_config_dir: str,
) -> AsyncIterator[Home]:
    """Return a house that is to be moved into."""
    home = Home(freezer, simulator, hass_storage, hass_tmp_config_dir)
    yield home
    if home.is_running:
        await home.async_stop()


async def days_left(home: Home) -> list[int]:
    """Return what diagnostics tell of each tracker."""
    told = await async_get_config_entry_diagnostics(home.hass, home.entry(EMAIL))
    return [each["rides_from_before"]["days_left"] for each in told["trackers"]]


async def test_new_installation(home: Home, simulator: Simulator) -> None:
    """The last thirty days are in the calendar after as many requests, one a minute."""
    starts = ride_on_days(simulator, 60)
    await home.async_move_in(EMAIL)
    assert max(await days_left(home)) in {29, 30}
    await home.async_wait(20 * MINUTE)
    assert asked(simulator) in range(19, 24)
    newest = home.booked(RED)
    hold(newest, starts[-len(newest) :])
    record = simulator.record
    polls = record.counts["/api/devices"]
    await home.async_wait(75 * MINUTE)
    assert abs(record.counts["/api/devices"] - polls - 75) <= 1
    hold(home.booked(RED), starts[-29:])
    assert set(await days_left(home)) == {0}
    assert home.listener.rides(RED) == []
    # Of two bikes, one a minute; where a ride was under way at midnight, some hours more.
    assert asked(simulator) in range(60, 68)


@pytest.mark.parametrize("how", ["restart", "kill"])
async def test_interrupted(home: Home, simulator: Simulator, how: str) -> None:
    """It goes on where it was: nothing comes twice, and nothing is missing."""
    starts = ride_on_days(simulator, 40)
    await home.async_move_in(EMAIL)
    for minutes in (3, 14, 24):
        await home.async_wait(minutes * MINUTE)
        await home.async_stop() if how == "restart" else await home.async_kill()
        await home.async_start()
    await home.async_wait(90 * MINUTE)
    hold(home.booked(RED), starts[-29:])


async def test_rides_meanwhile_come_first(home: Home, simulator: Simulator) -> None:
    """What happens while it is asked is fired, and booked once."""
    starts = ride_on_days(simulator, 10)
    await home.async_move_in(EMAIL)
    await home.async_wait(3 * MINUTE)
    start = dt_util.utcnow()
    for number in range(21):
        simulator.report(
            RED,
            latitude=47.91 + 50 * number / METRES_PER_DEGREE,
            speed=5.0 if number < 20 else 0.0,
            attributes={"motion": number < 20},
        )
        await home.async_wait(30)
    await home.async_wait(90 * MINUTE)
    assert home.listener.rides(RED) == ["started", "ended"]
    rides = home.booked(RED)
    assert len(rides) == 11
    hold(rides[:-1], starts)
    assert abs((rides[-1].started_at - start).total_seconds()) <= MINUTE


async def test_service_that_keeps_a_week(home: Home, simulator: Simulator) -> None:
    """There is no more to tell."""
    starts = ride_on_days(simulator, 7)
    await home.async_move_in(EMAIL)
    await home.async_wait(70 * MINUTE)
    hold(home.booked(RED), starts)
    assert set(await days_left(home)) == {0}


@pytest.mark.parametrize("how", ["status-400", "no-answer", "status-503"])
async def test_some_days_fail(home: Home, simulator: Simulator, how: str) -> None:
    """What passes is asked for again; what is refused, or fails thrice, is left out."""
    starts = ride_on_days(simulator, 20)
    await home.async_move_in(EMAIL)
    simulator.fault(how, path="history")
    await home.async_wait(4 * MINUTE)
    simulator.fault(None)
    await home.async_wait(100 * MINUTE)
    rides = home.booked(RED)
    assert set(await days_left(home)) == {0}
    if how == "status-400":
        assert 15 <= len(rides) < 20
    else:
        hold(rides, starts)


async def test_day_that_never_comes(home: Home, simulator: Simulator) -> None:
    """After three times the one before is asked for."""
    starts = ride_on_days(simulator, 4)
    await home.async_move_in(EMAIL)
    simulator.fault("no-answer", path="history")
    await home.async_wait(30 * MINUTE)
    assert asked(simulator) in range(4, 12)
    simulator.fault(None)
    await home.async_wait(100 * MINUTE)
    assert set(await days_left(home)) == {0}
    rides = home.booked(RED)
    assert 1 <= len(rides) < len(starts)


async def test_service_without_history(home: Home, simulator: Simulator) -> None:
    """Nothing comes of it, and nobody asks for it every minute."""
    ride_on_days(simulator, 3)
    simulator.fault("status-404", path="history")
    await home.async_move_in(EMAIL)
    await home.async_wait(2 * HOUR)
    assert asked(simulator) == 1
    assert home.booked(RED) == []
    assert min(await days_left(home)) > 20


async def test_days_that_are_too_large(
    home: Home, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They come in halves."""
    get = TrackingClient.async_get_history

    async def _get(
        client: TrackingClient, device_id: int, start: datetime, end: datetime
    ) -> Any:
        if end - start > DAY / 2:
            raise TrackingError("too large", is_too_large=True)
        return await get(client, device_id, start, end)

    monkeypatch.setattr(TrackingClient, "async_get_history", _get)
    starts = ride_on_days(simulator, 3)
    await home.async_move_in(EMAIL)
    await home.async_wait(40 * MINUTE)
    hold(home.booked(RED), starts)


async def test_book_of_1_2(
    hass: HomeAssistant,
    hass_storage: dict[str, Any],
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
) -> None:
    """Whose rides are booked is not new."""
    rows = [row(DAY), row(DAY, BLUE)]
    ride_on_days(simulator, 3)
    store(hass_storage, entry, rows)
    assert "backfill" not in hass_storage[file_of(entry)]["data"]
    await async_setup(hass, entry)
    for _ in range(5):
        await poll()
    assert asked(simulator) == 0


async def test_removed_meanwhile(
    hass: HomeAssistant, simulator: Simulator, entry: MockConfigEntry
) -> None:
    """Nothing comes of what was asked for a tracker that is gone, and a new one begins."""
    await async_setup(hass, entry)
    book = entry.runtime_data.coordinator.rides
    assert book.days_left(RED) > 20
    book.async_forget(RED)
    time = dt_util.utcnow()
    book.async_add_from_before(RED, [Ride(time - RIDE, time, 1.0)], time)
    assert book.rides == []
    assert book.days_left(RED) == 0
