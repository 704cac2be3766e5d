"""Rides from the thirty days before the set-up of a tracker are requested and stored, but fire no events."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.util import dt as dt_util
import pytest

from custom_components.bike_tracker import coordinator
from custom_components.bike_tracker.diagnostics import (
    async_get_config_entry_diagnostics,
)
from custom_components.bike_tracker.polling import history
from custom_components.bike_tracker.tracking.history import HistoryAnswer
from custom_components.bike_tracker.tracking.rides import Ride

from .books import file_of, full_disk
from .conftest import BLUE, EMAIL, RED
from .riding import go
from .tools.simulator import Simulator
from .tools.simulator.streets import METERS_PER_DEGREE
from .tools.story.home import Home

MINUTE = 60
DAY = timedelta(days=1)
RIDE = timedelta(minutes=10)
SECONDS = 31
"""Seconds by which a stored start may differ from the real start: reports of a ride are 30 seconds apart."""
MOVES: dict[str, Any] = {"accuracy": 5.0, "speed": 5.0, "motion": True}
STANDS = MOVES | {"speed": 0.0, "motion": False}

pytestmark = pytest.mark.usefixtures("with_rides_from_before")


def ride_on_days(simulator: Simulator, days: int) -> list[datetime]:
    """Let the red bike ride a kilometer on each of the last `days` days. Return the start times, the earliest first."""
    now, starts = dt_util.utcnow(), list[datetime]()
    for day in range(days, 0, -1):
        # Each request covers a day. Every second ride begins in one of these days and
        # ends in the next.
        hours = 8 if day % 2 else 0
        start = now - day * DAY + timedelta(hours=hours) - RIDE / 2
        for number in range(-1, 34):
            time = start + number * RIDE / 20
            meters = 1_000 * len(starts) + 50 * min(max(number, 0), 20)
            values = MOVES if 0 <= number < 20 else STANDS
            latitude = 47.9 + meters / METERS_PER_DEGREE
            simulator.report(RED, latitude=latitude, last_update=time, **values)
        starts.append(start)
    return starts


def asked(simulator: Simulator, a_minute: int = 1) -> int:
    """Return how often the history was requested. Check that no minute had more requests than `a_minute`."""
    times = [item.time for item in simulator.requests if "deviceId" in item.query]
    assert all(
        late - early > 0.9 * timedelta(minutes=1)
        for early, late in zip(times, times[a_minute:], strict=False)
    )
    return len(times)


@pytest.fixture
def never_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every answer of the service as slow, because with a frozen clock, every answer would seem quick."""
    monkeypatch.setattr(history, "_QUICK_SECONDS", 0)


def hold(rides: list[Ride], starts: list[datetime]) -> None:
    """Check that exactly one ride of a kilometer is stored for each start time, in order."""
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
    """Return a house in which the account is not added yet. Stop its Home Assistant after the test."""
    home = Home(freezer, simulator, hass_storage, hass_tmp_config_dir)
    yield home
    await home.async_stop()


async def async_ride(home: Home) -> datetime:
    """Let the red bike ride a kilometer now, in ten minutes. Return the start time."""
    start = dt_util.utcnow()
    for _ in range(20):
        go(home.simulator, 50, **MOVES)
        await home.async_wait(30)
    home.simulator.report(RED, **STANDS)
    return start


async def days_left(home: Home) -> list[int]:
    """Return how many days of each tracker are still to be requested, according to diagnostics."""
    fired = await async_get_config_entry_diagnostics(home.hass, home.entry(EMAIL))
    untils = [each["rides_from_before_until"] for each in fired["trackers"]]
    return [30 - (dt_util.utcnow() - until).days if until else 0 for until in untils]


@pytest.mark.parametrize(("is_quick", "minutes"), [(True, 7), (False, 65)])
async def test_new_installation(
    request: pytest.FixtureRequest, home: Home, is_quick: bool, minutes: int
) -> None:
    """After thirty requests for each bike, the database has the rides of thirty days. Sensors show the newest ride.

    A quick service receives up to eleven of these requests a minute, a slow service one.
    """
    if not is_quick:
        request.getfixturevalue("never_quick")
    starts = ride_on_days(home.simulator, 60)
    await home.async_move_in(EMAIL)
    assert max(await days_left(home)) in range(15, 31)
    newest = await home.booked(RED)
    hold(newest, starts[-len(newest) :])
    counts = home.simulator.record.counts
    polls = counts["/api/devices"]
    await home.async_wait(minutes * MINUTE)
    assert abs(counts["/api/devices"] - polls - minutes) <= 1
    hold(await home.booked(RED), starts[-29:])
    assert set(await days_left(home)) == {0}
    assert home.listener.entities == home.listener.triggers == []
    # Each of the two bikes needs thirty requests. A few more can follow because of
    # rides at the edge of two requests.
    assert asked(home.simulator, 11 if is_quick else 1) in range(60, 68)
    for _ in range(2):
        for name, value in (("distance", 1), ("duration", 10)):
            shown = home.state(f"sensor.red_bike_ride_{name}").state
            assert float(shown) == pytest.approx(value, rel=0.1)
        await home.async_stop()
        await home.async_start()


@pytest.mark.usefixtures("never_quick")
@pytest.mark.parametrize("how", ["restart", "kill"])
async def test_interrupted(home: Home, how: str) -> None:
    """If Home Assistant is restarted or killed while requests for earlier rides remain, each ride is stored one time."""
    starts = ride_on_days(home.simulator, 40)
    await home.async_move_in(EMAIL)
    for minutes in (3, 14, 24):
        await home.async_wait(minutes * MINUTE)
        await home.async_stop() if how == "restart" else await home.async_kill()
        await home.async_start()
    await home.async_wait(90 * MINUTE)
    hold(await home.booked(RED), starts[-29:])


@pytest.mark.usefixtures("never_quick")
@pytest.mark.parametrize("is_stopped", [False, True])
async def test_ride_meanwhile_comes_first(home: Home, is_stopped: bool) -> None:
    """If the bike rides while requests for earlier rides remain, this ride is fired one time and stored one time."""
    starts = ride_on_days(home.simulator, 10)
    await home.async_move_in(EMAIL)
    await home.async_wait(3 * MINUTE)
    if is_stopped:
        await home.async_stop()
    start = await async_ride(home)
    if is_stopped:
        await home.async_start()
    await home.async_wait(90 * MINUTE)
    for runs in (home.listener.entities, home.listener.triggers):
        assert [run.what for run in runs] == ["started", "ended"]
    rides = await home.booked(RED)
    assert len(rides) == 11
    hold(rides[:-1], starts)
    assert abs((rides[-1].started_at - start).total_seconds()) <= MINUTE


async def test_refused_after_a_restart(home: Home) -> None:
    """If the history answered before a restart, it is requested again minutes after a refusal."""
    await home.async_move_in(EMAIL)
    await home.async_wait(10 * MINUTE)
    await home.async_stop()
    start = await async_ride(home)
    home.simulator.fault("status-404", path="history", times=1)
    await home.async_start()
    await home.async_wait(40 * MINUTE)
    hold(await home.booked(RED), [start])


@pytest.mark.parametrize(
    "simulator", ["service", "4.11", "5.12", "6.14.5"], indirect=True
)
async def test_ride_during_set_up(home: Home) -> None:
    """If a ride is under way during the set-up, it is stored one time, after its end."""
    starts = ride_on_days(home.simulator, 2)
    start = dt_util.utcnow() - RIDE
    for number in range(20):
        time = start + number * RIDE / 20
        go(home.simulator, 50, last_update=time, **MOVES)
    await home.async_move_in(EMAIL)
    for _ in range(10):
        go(home.simulator, 50, **MOVES)
        await home.async_wait(30)
    assert all(ride.moved_at < start for ride in await home.booked(RED))
    home.simulator.report(RED, **STANDS)
    await home.async_wait(90 * MINUTE)
    *before, last = await home.booked(RED)
    hold(before, starts)
    assert abs((last.started_at - start).total_seconds()) <= SECONDS
    assert last.distance == pytest.approx(1.5, abs=0.06)


@pytest.mark.usefixtures("with_live", "never_quick")
async def test_all_else_goes_on(home: Home) -> None:
    """While requests for earlier rides remain, push messages are shown, and a guard can be armed and triggered."""
    ride_on_days(home.simulator, 60)
    await home.async_move_in(EMAIL)
    guard = "alarm_control_panel.red_bike_guard"
    await home.hass.services.async_call(
        "alarm_control_panel", "alarm_arm_away", {"entity_id": guard}, blocking=True
    )
    await home.async_wait(5 * MINUTE)
    booked = len(await home.booked(RED))
    assert 1 < booked < 9
    home.simulator.report(BLUE, latitude=48.5)
    await home.async_wait(1)
    assert home.state("device_tracker.blue_bike").attributes["latitude"] == 48.5
    assert home.state(guard).state == "armed_away"
    go(home.simulator, 700, **MOVES)
    await home.async_wait(1)
    assert home.state(guard).state == "triggered"
    assert len(await home.booked(RED)) == booked


@pytest.mark.usefixtures("never_quick")
@pytest.mark.parametrize(
    ("how", "minutes"),
    [
        *(("status-400", 4), ("no-answer", 4), ("status-503", 4)),
        *(("status-503", 8 * 60), ("status-403", 60), ("html", 60)),
    ],
)
async def test_history_fails_for_a_while(home: Home, how: str, minutes: int) -> None:
    """If all requests for the history fail for minutes or hours, no day is skipped: all rides are stored later."""
    starts = ride_on_days(home.simulator, 20)
    await home.async_move_in(EMAIL)
    await home.async_wait(2 * MINUTE)
    home.simulator.fault(how, path="history")
    await home.async_wait(minutes * MINUTE)
    home.simulator.fault(None)
    await home.async_wait(100 * MINUTE)
    assert set(await days_left(home)) == {0}
    hold(await home.booked(RED), starts)


@pytest.mark.usefixtures("never_quick")
async def test_failing_answer(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """If applying an answer raises an error, its request is repeated, but not each minute. Other trackers are unaffected."""
    book, tried = coordinator.rides_before, list[int]()
    blue = home.simulator.devices[BLUE].id

    def _book(answer: HistoryAnswer, *times: datetime) -> Any:
        if any(report.device_id == blue for report in answer.reports):
            tried.append(blue)
            raise RuntimeError("poison")
        return book(answer, *times)

    monkeypatch.setattr(coordinator, "rides_before", _book)
    starts = ride_on_days(home.simulator, 10)
    for days in range(1, 30):
        home.simulator.report(BLUE, last_update=dt_util.utcnow() - days * DAY)
    await home.async_move_in(EMAIL)
    await home.async_wait(60 * MINUTE)
    hold(await home.booked(RED), starts)
    assert len(tried) in range(3, 7)
    monkeypatch.undo()
    await home.async_wait(150 * MINUTE)
    assert set(await days_left(home)) == {0}


async def test_full_disk(home: Home) -> None:
    """If rides cannot be written because the disk is full, they are written later. No day is requested twice."""
    starts = ride_on_days(home.simulator, 30)
    await home.async_move_in(EMAIL)
    with full_disk(file_of(home.hass, home.entry(EMAIL))):
        await home.async_wait(5 * MINUTE)
    await home.async_wait(10 * MINUTE)
    assert asked(home.simulator, 11) in range(60, 68)
    hold(await home.booked(RED), starts[-29:])
    assert set(await days_left(home)) == {0}
