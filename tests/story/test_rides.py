"""Each ride is told once when it starts and once when it is over, however that comes."""

from datetime import timedelta

from homeassistant.util import dt as dt_util
import pytest

from tests.conftest import EMAIL

from .home import Home
from .riding import METRES_PER_SECOND, report, upload_ride

RIDE = ["started", "ended"]


@pytest.mark.parametrize("in_one_message", [False, True])
async def test_two_rides_in_one_write(home: Home, in_one_message: bool) -> None:
    """A tracker that was out of reach for an hour tells of both at once."""
    begin = dt_util.utcnow()
    await home.async_wait(60 * 60)
    if in_one_message:
        with home.simulator.live.in_one_message():
            end = upload_ride(home.simulator, begin)
            upload_ride(home.simulator, end + timedelta(minutes=10))
    else:
        end = upload_ride(home.simulator, begin)
        upload_ride(home.simulator, end + timedelta(minutes=10))
    await home.async_wait(120)
    assert home.listener.rides() == RIDE * 2
    told = home.listener.alike("860000000000011", "ended")
    for ride in told:
        assert ride.details["distance"] == pytest.approx(3.6, abs=0.3)
    await home.async_wait(120)
    assert home.listener.rides() == RIDE * 2


@pytest.mark.parametrize("rides", [1, 12])
async def test_while_polls_fail(home: Home, rides: int) -> None:
    """What live told during an outage of the list is told with the first answer."""
    home.simulator.fault("status-503", path="devices")
    await home.async_wait(120)
    for number in range(rides):
        begin = dt_util.utcnow()
        await home.async_wait(25 * 60)
        upload_ride(home.simulator, begin)
        if number % 2 == 0:
            report(home.simulator, alarm="sos")
            report(home.simulator, alarm="tow")
    await home.async_wait(60)
    assert home.listener.rides() == []
    home.simulator.fault(None)
    await home.async_wait(310)
    assert home.listener.rides() == RIDE * rides
    assert home.listener.alarms() == ["sos", "tow"] * ((rides + 1) // 2)


async def test_as_it_happens(home: Home) -> None:
    """It starts with the first report that moves, and is over when the bike stood."""
    for _ in range(30):
        report(home.simulator, metres=20 * METRES_PER_SECOND)
        await home.async_wait(20)
        assert home.listener.rides() == ["started"]
    for _ in range(8):
        report(home.simulator)
        await home.async_wait(60)
    assert home.listener.rides() == RIDE


@pytest.mark.parametrize("way", ["restart", "reload", "kill"])
async def test_end_and_start_while_away(home: Home, way: str) -> None:
    """Under way before, and under way again afterwards: the first ride is over."""
    for _ in range(20):
        report(home.simulator, metres=20 * METRES_PER_SECOND)
        await home.async_wait(20)
    for _ in range(4):
        report(home.simulator)
        await home.async_wait(30)
    if way == "reload":
        await home.hass.config_entries.async_unload(home.entry(EMAIL).entry_id)
    elif way == "restart":
        await home.async_stop()
    else:
        await home.async_kill()
    for _ in range(25):
        report(home.simulator)
        await home.async_wait(30)
    if way == "reload":
        await home.hass.config_entries.async_setup(home.entry(EMAIL).entry_id)
        await home.async_settle()
    else:
        await home.async_start()
    for _ in range(30):
        report(home.simulator, metres=20 * METRES_PER_SECOND)
        await home.async_wait(20)
    for _ in range(8):
        report(home.simulator)
        await home.async_wait(60)
    assert home.listener.rides() == RIDE * 2


@pytest.mark.parametrize("way", ["restart", "reload", "kill"])
async def test_nothing_again(home: Home, way: str) -> None:
    """What was told is not told again."""
    for _ in range(20):
        report(home.simulator, metres=20 * METRES_PER_SECOND)
        await home.async_wait(20)
    for _ in range(3):
        if way == "reload":
            await home.async_reload(EMAIL)
        elif way == "restart":
            await home.async_restart()
        else:
            await home.async_wait(11)
            await home.async_kill()
            await home.async_start()
        report(home.simulator, metres=20 * METRES_PER_SECOND)
        await home.async_wait(20)
    assert home.listener.rides() == ["started"]
    for _ in range(10):
        report(home.simulator)
        await home.async_wait(60)
    assert home.listener.rides() == RIDE
