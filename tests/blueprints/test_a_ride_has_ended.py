"""Tests of the blueprint: a ride has ended."""

from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from tests.conftest import BLUE, RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .house import House
from .test_send_to import CHAT, MAP, phones

__all__ = ["phones"]


@pytest.fixture
async def watched(house: House) -> House:
    """Return the house with both bikes watched, with no more than is required."""
    await house.async_automate("a_ride_has_ended", RED, BLUE)
    await house.async_minutes(2)
    return house


async def ride(
    simulator: Simulator, house: House, *, by: float, tracker: str = RED
) -> None:
    """Have a bike ride so many degrees, back or forth, and stand."""
    for part in (0, 0.5, 1):
        latitude = DEFAULT_LATITUDE + by * part
        simulator.report(tracker, latitude=latitude, motion=True)
        await house.async_minutes(1)
    for _ in range(8):
        simulator.report(tracker, latitude=DEFAULT_LATITUDE + by, motion=False)
        await house.async_minutes(1)


async def test_tells_each_ride(simulator: Simulator, watched: House) -> None:
    """With the way and the time, once, each bike's."""
    await ride(simulator, watched, by=0.01)
    await ride(simulator, watched, by=0.02, tracker=BLUE)
    await watched.async_restart()
    await watched.async_minutes(10)

    assert watched.told == ["Red bike", "Blue bike"]
    red, blue = (notification["message"] for notification in watched.notifications)
    assert red.startswith("Red bike ended a ride: 1.1 km in ")
    assert blue.startswith("Blue bike ended a ride: 2.2 km in ")


async def test_went_nowhere(simulator: Simulator, watched: House) -> None:
    """A bike that was only touched did not ride."""
    await ride(simulator, watched, by=0)
    assert watched.told == []


async def test_whom_it_tells(
    hass: HomeAssistant, simulator: Simulator, house: House, phones: list[str]
) -> None:
    """Phones get it calmly, and the last one of a bike alone; others as a text."""
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    chat = async_mock_service(hass, "notify", "send_message")
    await house.async_automate(
        "a_ride_has_ended", RED, phones=phones[1:], others=[CHAT]
    )
    await house.async_minutes(1)
    await ride(simulator, house, by=0.01)

    [call], [message] = ben, chat
    assert call.data["message"] == message.data["message"]
    assert call.data["data"] == {
        "tag": f"bike_tracker_ride_{house.device(RED)}",
        "url": MAP,
        "clickAction": MAP,
    }


async def test_own_actions(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """They come with what a person may want to tell, instead of the notification."""
    calls = async_mock_service(hass, "test", "tell")
    data = {"said": "{{ name }}: {{ distance | round(1) }}, {{ duration > 60 }}"}
    await house.async_automate(
        "a_ride_has_ended", RED, actions=[{"action": "test.tell", "data": data}]
    )
    await house.async_minutes(1)
    await ride(simulator, house, by=0.01)
    assert [call.data["said"] for call in calls] == ["Red bike: 1.1, True"]
    assert house.told == []
