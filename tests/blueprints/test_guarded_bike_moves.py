"""Tests of the blueprint: guarded bike moves."""

from typing import Any

from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from tests.conftest import BLUE, RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .house import House
from .test_send_to import CHAT, phones

__all__ = ["phones"]

GUARD = "alarm_control_panel.red_bike_guard"


@pytest.fixture
async def guarded(simulator: Simulator, house: House) -> House:
    """Return the house with a guarded bike."""
    for bike in (RED, BLUE):
        simulator.report(bike, motion=False)
    await house.async_minutes(1)
    await house.async_guard("red_bike")
    await house.async_minutes(1)
    return house


def steal(simulator: Simulator, **more: Any) -> None:
    """Let the red bike be ridden away."""
    simulator.report(
        RED, **{"latitude": DEFAULT_LATITUDE + 0.01, "motion": True, **more}
    )


@pytest.mark.parametrize(
    ("happens", "message"),
    [
        ({}, "Red bike: The bike is elsewhere (1.1 km), 12:02"),
        ({"latitude": DEFAULT_LATITUDE}, "Red bike: The bike moves, 12:02"),
        (
            {"motion": False, "attributes": {"alarm": "tow"}},
            "Red bike: Alarm of the tracker, 12:02",
        ),
    ],
)
async def test_tells_why(
    simulator: Simulator, guarded: House, happens: dict[str, Any], message: str
) -> None:
    """Once, with what happened and when."""
    await guarded.async_automate("guarded_bike_moves", RED, BLUE)
    steal(simulator, **happens)
    await guarded.async_minutes(3)
    steal(simulator)
    await guarded.async_minutes(3)

    [notification] = guarded.notifications
    is_alarm = "attributes" in happens
    title = "Alarm of Red bike" if is_alarm else "Red bike is being moved"
    assert notification["title"] == title
    assert notification["message"] == message


async def test_disarmed_from_a_phone(
    hass: HomeAssistant,
    simulator: Simulator,
    guarded: House,
    phones: list[str],
) -> None:
    """The guard can be disarmed from the message, also after a restart."""
    ann = async_mock_service(hass, "notify", "mobile_app_ann_s_phone")
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    chat = async_mock_service(hass, "notify", "send_message")
    await guarded.async_automate(
        "guarded_bike_moves", RED, phones=phones, others=[CHAT]
    )
    steal(simulator)
    await guarded.async_minutes(1)

    [message], action = chat, ""
    assert message.data["entity_id"] == [CHAT]
    for [call] in (ann, ben):
        assert call.data["title"] == "Red bike is being moved"
        assert call.data["message"] == message.data["message"]
        disarm, _ = call.data["data"]["actions"]
        assert disarm["title"] == "Disarm"
        action = disarm["action"]

    hass.bus.async_fire("mobile_app_notification_action", {"action": "OTHER"})
    hass.bus.async_fire("mobile_app_notification_action", {})
    await guarded.async_minutes(1)
    assert guarded.state(GUARD) == "triggered"
    await guarded.async_restart()
    await guarded.async_minutes(2)
    hass.bus.async_fire("mobile_app_notification_action", {"action": action})
    await guarded.async_minutes(1)
    assert guarded.state(GUARD) == "disarmed"
    assert len(guarded.notifications) == len(chat) == 1


async def test_outage_and_restart(simulator: Simulator, guarded: House) -> None:
    """What happens meanwhile is told afterwards, and nothing again."""
    await guarded.async_automate("guarded_bike_moves", RED)
    simulator.fault("status-503")
    await guarded.async_minutes(1)
    steal(simulator)
    simulator.fault(None)
    await guarded.async_restart()
    await guarded.async_minutes(3)
    await guarded.async_restart()
    await guarded.async_minutes(3)
    assert guarded.told == ["Red bike is being moved"]


async def test_own_actions(
    hass: HomeAssistant, simulator: Simulator, guarded: House
) -> None:
    """They come with what a person may want to tell, instead of the notification."""
    calls = async_mock_service(hass, "test", "tell")
    data: dict[str, Any] = {"said": "{{ name }}, {{ cause }}, {{ title }}"}
    await guarded.async_automate(
        "guarded_bike_moves", RED, actions=[{"action": "test.tell", "data": data}]
    )
    steal(simulator)
    await guarded.async_minutes(1)
    assert [call.data["said"] for call in calls] == [
        "Red bike, place, Red bike is being moved"
    ]
    assert not guarded.told
