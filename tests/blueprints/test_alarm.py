"""Tests of the blueprint: alarm."""

from typing import Any

from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from custom_components.bike_tracker.tracking import ALARM_TYPES
from tests.conftest import BLUE, RED
from tests.static.project import ROOT
from tests.tools.simulator.server import Simulator

from .house import House


@pytest.fixture
async def watched(house: House) -> House:
    """Return the house with both bikes listened to."""
    await house.async_automate("alarm", RED, BLUE)
    await house.async_minutes(2)
    return house


async def test_tells_what_was_raised(simulator: Simulator, watched: House) -> None:
    """Each alarm of each bike is told, and each once."""
    simulator.report(RED, attributes={"alarm": "vibration,fallDown"})
    await watched.async_minutes(1)
    simulator.report(BLUE, attributes={"alarm": "sos"})
    await watched.async_minutes(5)

    assert watched.told == [
        "Red bike: Vibration",
        "Red bike: Bike fell over",
        "Blue bike: SOS",
    ]
    message = "Its tracker raised this alarm at 12:02."
    assert watched.notifications[1]["message"] == message


async def test_only_what_was_chosen(simulator: Simulator, house: House) -> None:
    """Nothing else is told."""
    await house.async_automate("alarm", RED, alarms=["low_battery", "other"])
    for alarm in ("sos", "lowBattery", "general", "vibration"):
        simulator.report(RED, attributes={"alarm": alarm})
        await house.async_minutes(1)
    assert house.told == ["Red bike: Battery low", "Red bike: general"]


async def test_outage_and_restart(simulator: Simulator, watched: House) -> None:
    """An alarm during an outage is told after it; nothing is told anew after a restart."""
    simulator.fault("status-503")
    await watched.async_minutes(1)
    simulator.report(RED, attributes={"alarm": "tow"})
    await watched.async_minutes(1)
    simulator.fault(None)
    await watched.async_minutes(3)
    assert watched.told == ["Red bike: Towed"]

    await watched.async_restart()
    await watched.async_minutes(3)
    assert watched.told == ["Red bike: Towed"]


async def test_own_actions(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """They come with what a person may want to tell, instead of the notification."""
    calls = async_mock_service(hass, "test", "tell")
    data: dict[str, Any] = {
        "said": "{{ name }}, {{ alarm }}, {{ title }}, {{ message }}"
    }
    await house.async_automate(
        "alarm", RED, actions=[{"action": "test.tell", "data": data}]
    )
    simulator.report(RED, attributes={"alarm": "powerCut"})
    await house.async_minutes(1)

    assert [call.data["said"] for call in calls] == [
        "Red bike, power_cut, Red bike: Power cut, "
        "Its tracker raised this alarm at 12:00."
    ]
    assert not house.told


async def test_messages(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """Whoever is chosen gets one."""
    calls = async_mock_service(hass, "notify", "send_message")
    await house.async_automate("alarm", RED, others=["notify.chat", "notify.other"])
    simulator.report(RED, attributes={"alarm": "sos"})
    await house.async_minutes(1)

    assert [(call.data["entity_id"], call.data["title"]) for call in calls] == [
        (["notify.chat"], "Red bike: SOS"),
        (["notify.other"], "Red bike: SOS"),
    ]


def test_every_type_can_be_chosen() -> None:
    """In the order of the integration."""
    path = ROOT / "blueprints" / "automation" / "bike_tracker" / "alarm.yaml"
    lines = path.read_text().splitlines()
    options = [
        line.split("value: ")[1].split(",")[0] for line in lines if "- {value" in line
    ]
    assert tuple(options) == tuple(ALARM_TYPES)


async def test_own_words(simulator: Simulator, house: House) -> None:
    """What only the service has a word for is called so, in a title, which is no Markdown."""
    await house.async_automate("alarm", RED, alarms=["other"])
    word = "*[sos](http://evil.example)*"
    simulator.report(RED, attributes={"alarm": word})
    await house.async_minutes(1)
    [notification] = house.notifications
    assert notification["title"] == f"Red bike: {word}"
