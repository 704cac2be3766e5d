"""Tests of the blueprint: tracker offline."""

from datetime import timedelta

from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_mock_service

from tests.conftest import BLUE, RED
from tests.tools.simulator.server import Simulator

from .house import House

OFFLINE = "Red bike has been offline since "


async def test_offline_and_back(
    hass: HomeAssistant, simulator: Simulator, house: House, phones: list[str]
) -> None:
    """It tells once, also that it is back: what Home Assistant showed is gone then."""
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    await house.async_automate("tracker_offline", RED, phones=phones)
    await house.async_minutes(5)
    for _ in range(2):
        simulator.set_status(RED, "offline")
        await house.async_minutes(20)
        simulator.set_status(RED, "online")
        await house.async_minutes(1)
    assert house.fired == []
    simulator.set_status(RED, "offline")
    simulator.set_status(BLUE, "offline")
    await house.async_minutes(20)
    simulator.fault("status-503")
    await house.async_minutes(5)
    simulator.fault(None)
    await house.async_restart()
    await house.async_minutes(30)
    [title] = house.titles
    assert title.startswith(OFFLINE)
    assert house.fired[0].startswith("Red bike is at home, position from ")
    assert house.gone == []
    simulator.set_status(RED, "online")
    await house.async_minutes(2)
    assert house.titles == [title]
    assert house.gone == [house.notifications[0]["notification_id"]]
    assert [push.data["title"] for push in ben] == [title, "Red bike came online"]


async def test_silent(simulator: Simulator, house: House) -> None:
    """It tells once of a tracker that does not report, though it is online."""
    await house.async_automate("tracker_offline", RED, hours=2)
    await house.async_minutes(2)
    simulator.set_last_update(RED, dt_util.utcnow() - timedelta(hours=1))
    await house.async_minutes(70)
    assert house.titles == ["Red bike has not reported since 11:02"]
