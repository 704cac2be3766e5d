"""What is held back while a tracker comes back is its place, and nothing else."""

from typing import Any

import pytest

from tests.conftest import EMAIL, RED
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .home import Home
from .riding import async_ride, async_stand, report

AWAY = 48.1


def where(home: Home) -> float | None:
    """Return where the red bike is shown."""
    return home.state("device_tracker.red_bike").attributes.get("latitude")


def away(home: Home, **more: Any) -> None:
    """Have the red bike report from somewhere else, under way."""
    home.simulator.report(
        RED, latitude=AWAY, longitude=7.9, speed=10, motion=True, **more
    )


async def async_outage(home: Home, minutes: float) -> None:
    """Let nothing of the service be in reach, and then let it be again."""
    home.simulator.fault("status-503")
    home.simulator.live_fault("session-503")
    await home.async_wait(minutes * 60)


async def async_well_again(home: Home) -> None:
    """Let the service be well, and ask it."""
    home.simulator.fault(None)
    home.simulator.live_fault(None)
    await home.entry(EMAIL).runtime_data.coordinator.async_refresh()
    await home.async_settle()


async def test_place_alone(home: Home) -> None:
    """Battery, speed and motion are shown at once, and the bike moves 5 seconds later."""
    await async_outage(home, 5)
    away(home, battery_level=33)
    await async_well_again(home)
    assert where(home) == DEFAULT_LATITUDE
    assert home.state("sensor.red_bike_battery").state == "33"
    assert float(home.state("sensor.red_bike_speed").state) == pytest.approx(18.52)
    assert home.state("binary_sensor.red_bike_moving").state == "on"
    await home.async_wait(4)
    assert where(home) == DEFAULT_LATITUDE
    await home.async_wait(2)
    assert where(home) == AWAY


@pytest.mark.parametrize("restarts", [False, True])
async def test_leaves_the_list_while_held_back(home: Home, restarts: bool) -> None:
    """Place and way are remembered together: it comes back as any other."""
    await async_stand(home, 1, every=20)
    await async_ride(home, 4)
    await async_stand(home, 8, every=60)
    assert home.listener.rides() == ["started", "ended"]
    was_at, before = where(home), _total(home)
    await async_outage(home, 5)
    report(home.simulator, metres=900)
    await async_well_again(home)
    home.simulator.unassign(EMAIL, RED)
    await home.entry(EMAIL).runtime_data.coordinator.async_refresh()
    await home.async_wait(130)
    if restarts:
        await home.async_restart()
        await home.async_wait(60)
    home.simulator.assign(EMAIL, RED)
    await home.entry(EMAIL).runtime_data.coordinator.async_refresh()
    await home.async_settle()
    assert where(home) == was_at
    await home.async_wait(60)
    position = home.simulator.devices[RED].position
    assert position is not None
    assert where(home) == pytest.approx(position.latitude)
    assert _total(home) - before == pytest.approx(0.9, abs=0.02)
    await home.async_wait(60 * 45)
    assert home.listener.rides() == ["started", "ended"] * 2


def _total(home: Home) -> float:
    return float(home.state("sensor.red_bike_total_distance").state)
