"""Each ride is fired once when it starts and once when it is over, however that comes."""

from contextlib import nullcontext
from datetime import timedelta

from homeassistant.util import dt as dt_util
import pytest

from tests.conftest import BOB, EMAIL, PASSWORD, RED
from tests.tools.simulator.streets import METRES_PER_DEGREE

from .home import Home
from .riding import async_ride, async_stand, report, upload_ride

RIDE = ["started", "ended"]


@pytest.mark.parametrize("in_one_message", [False, True])
async def test_two_rides_in_one_write(home: Home, in_one_message: bool) -> None:
    """A tracker that was out of reach for an hour tells of both at once."""
    begin = dt_util.utcnow()
    await home.async_wait(60 * 60)
    with home.simulator.live.in_one_message() if in_one_message else nullcontext():
        end = upload_ride(home.simulator, begin)
        upload_ride(home.simulator, end + timedelta(minutes=10))
    await home.async_wait(120)
    assert home.listener.rides() == RIDE * 2
    fired = home.listener.alike("860000000000011", "ended")
    for ride in fired:
        assert ride.details["distance"] == pytest.approx(3.6, abs=0.3)
    await home.async_wait(120)
    assert home.listener.rides() == RIDE * 2


async def test_leaves_the_list_under_way(home: Home) -> None:
    """A ride is over once, with the first answer that lists its tracker again."""
    await async_ride(home, 8)
    home.simulator.unassign(EMAIL, RED)
    await async_ride(home, 3)
    await async_stand(home, 40, every=60)
    assert home.listener.rides() == ["started"]
    home.simulator.assign(EMAIL, RED)
    await async_stand(home, 10, every=60)
    assert home.listener.rides() == RIDE
    [ride] = await home.booked(RED)
    assert ride.distance == pytest.approx(0.96, abs=0.5)


async def test_another_account_has_it_under_way(home: Home) -> None:
    """The account that goes on with a ride starts it anew, and ends it once."""
    home.simulator.add_account(BOB, PASSWORD)
    home.simulator.assign(BOB, RED)
    await home.async_add(BOB)
    await async_ride(home, 8)
    home.simulator.unassign(EMAIL, RED)
    await home.async_wait(120)
    await home.hass.config_entries.async_remove(home.entry(EMAIL).entry_id)
    await async_ride(home, 8)
    await async_stand(home, 40, every=60)
    assert home.owner(RED) == BOB
    assert home.listener.rides() == ["started", "started", "ended"]
    assert len(await home.booked(RED)) == 1


async def test_polls_that_see_a_report_a_minute(home: Home) -> None:
    """The ride is fired as polls see it, and booked as it was once the history was asked."""
    home.simulator.live_fault("session-503")
    for _ in range(5):
        await async_ride(home, 3)
        report(home.simulator, metres=-180)
        report(home.simulator, metres=180)
    await async_stand(home, 12, every=60)
    assert home.listener.rides() == RIDE
    [ride] = await home.booked(RED)
    assert ride.distance == pytest.approx(3.6, rel=0.06)


@pytest.mark.parametrize("is_late", [True, False])
async def test_dead_zone_while_live_works(home: Home, is_late: bool) -> None:
    """What comes behind the newest report, or never over live, the history tells."""
    await async_ride(home, 6)
    begin, there = dt_util.utcnow(), home.simulator.devices[RED].position
    assert there is not None
    await home.async_wait(300)
    report(home.simulator, metres=60)
    for number in range(1, 15):
        time = begin + timedelta(seconds=20 * number)
        home.simulator.report(
            RED,
            latitude=there.latitude
            + min(number, 15 - number) * 120 / METRES_PER_DEGREE,
            fix_time=time,
            device_time=time,
            is_late=is_late,
            is_buffered=not is_late,
        )
    await async_stand(home, 12, every=60)
    assert home.listener.rides() == RIDE
    [ride] = await home.booked(RED)
    assert ride.distance == pytest.approx(2.34, rel=0.1)


async def test_silent_until_the_clock_ended_it(home: Home) -> None:
    """What it tells later goes on with the same ride in the book."""
    home.simulator.live_fault("session-503")
    await home.async_restart()
    await async_ride(home, 6)
    begin = dt_util.utcnow()
    await home.async_wait(40 * 60)
    upload_ride(home.simulator, begin)
    await async_stand(home, 8, every=60)
    assert home.listener.rides() == RIDE
    [ride] = await home.booked(RED)
    assert ride.distance == pytest.approx(4.32, rel=0.05)
