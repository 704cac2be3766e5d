"""What messages tell between polls, in several automations at once."""

from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from tests.conftest import BLUE, RED
from tests.settle import settle
from tests.test_live import BEGINS, Pass, wait

from .garage import Garage

__all__ = ["wait"]

pytestmark = pytest.mark.usefixtures("with_live")

EVENTS = ("alarm_raised", "started_moving", "stopped_moving")


@pytest.fixture(name="live")
async def live_fixture(garage: Garage, wait: Pass) -> Garage:
    """Return the garage, live."""
    await wait(BEGINS)
    await wait(1.1)
    assert len(garage.simulator.live.sockets) == 1
    return garage


def told(garage: Garage) -> list[str]:
    """Return what was told, in order, without the bike's name."""
    return [run.what.removeprefix("Red bike").lstrip(": ") for run in garage.runs]


async def _async_save(garage: Garage) -> None:
    devices = [garage.device(RED), garage.device(BLUE)]
    await garage.async_save(
        *(
            garage.automation(
                trigger, alias=trigger, target={"device_id": devices}, told=["alarm"]
            )
            for trigger in reversed(EVENTS)
        )
    )


async def test_told_while_polls_fail(live: Garage, wait: Pass) -> None:
    """What came and went meanwhile is told with the first answer, oldest first."""
    await _async_save(live)
    live.simulator.fault("status-503", path="devices")
    await wait(61)
    reports: list[dict[str, Any]] = [
        {"motion": True, "alarm": "movement"},
        {"motion": True, "alarm": "tow"},
        {"motion": False},
        {"motion": False, "alarm": "tampering"},
    ]
    for attributes in reports:
        live.simulator.report(RED, attributes=attributes)
        await wait(5)
    assert live.runs == []

    live.simulator.fault(None)
    for _ in range(10):
        await wait(61)

    assert told(live) == [
        "started moving",
        "Movement",
        "Towed",
        "stopped moving",
        "Tampering",
    ]


async def test_several_in_one_read(
    hass: HomeAssistant, live: Garage, wait: Pass
) -> None:
    """Each is told once, those of one bike oldest first."""
    await _async_save(live)
    words = ["movement", "tow", "sos", "fault", "door", "lock", "unlock"]
    for word in words:
        live.simulator.report(RED, attributes={"alarm": word, "motion": True})
    live.simulator.report(RED, attributes={"motion": False})
    for _ in range(5):
        await wait(1.1)
    await settle(hass)

    alarms = [run.variables["alarm"] for run in live.runs if run.variables["alarm"]]
    assert alarms == words
    moves = [what for what in told(live) if what.endswith("moving")]
    assert moves == ["started moving", "stopped moving"]


async def test_message_of_another(
    hass: HomeAssistant, live: Garage, freezer: FrozenDateTimeFactory
) -> None:
    """It does not tell that a bike is silent."""
    live.simulator.report(RED)
    await live.async_listen("became_silent", **{"for": {"seconds": 30}})
    freezer.tick(35)
    live.simulator.report(BLUE, motion=True)
    await settle(hass)
    assert live.runs == []

    for _ in range(2):
        freezer.tick(61)
        async_fire_time_changed(hass)
        await settle(hass)
    assert len(live.runs) == 1
