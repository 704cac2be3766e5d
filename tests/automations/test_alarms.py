"""The trigger on alarms: each is fired, once, whatever comes in between."""

from datetime import timedelta
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar
from homeassistant.util import dt as dt_util
import pytest

from tests.conftest import EMAIL, RED

from .garage import Garage

FIRED = ("alarm", "type", "time")


def alarm(garage: Garage, words: str, tracker: str = RED) -> None:
    """Let a bike report an alarm."""
    garage.simulator.report(tracker, attributes={"alarm": words})


async def async_listen(garage: Garage, **more: Any) -> None:
    """Save an automation that tells all of an alarm."""
    await garage.async_listen("alarm_raised", fired=FIRED, **more)


def fired(garage: Garage) -> list[tuple[str, str]]:
    """Return what was told: type and word."""
    return [(run.variables["type"], run.variables["alarm"]) for run in garage.runs]


async def test_fires_at_once(garage: Garage) -> None:
    """With the poll that brings it, and what it is about."""
    await async_listen(garage)
    alarm(garage, "fallDown")
    raised = garage.now
    await garage.async_minutes(3)

    [run] = garage.runs
    assert run.at - raised <= timedelta(minutes=1)
    assert run.about() == {
        "device_id": garage.device(RED),
        "entity_id": garage.entity(RED),
        "name": "Red bike",
        "description": "Red bike: Bike fell over",
        "since": raised,
    }
    assert fired(garage) == [("fall_down", "fallDown")]
    assert run.variables["before"] is None
    assert dt_util.parse_datetime(run.variables["time"]) == raised


async def test_each_is_fired(garage: Garage) -> None:
    """Each word of a report, as often as it is raised, oldest first."""
    await async_listen(garage)
    for words in ("sos,lowBattery,sos", "shock", "jamming", "shock", "Fahrrad weg!"):
        alarm(garage, words)
        await garage.async_minutes(1)

    assert fired(garage) == [
        ("sos", "sos"),
        ("low_battery", "lowBattery"),
        ("vibration", "shock"),
        ("jamming", "jamming"),
        ("vibration", "shock"),
        ("other", "Fahrrad weg!"),
    ]
    # What has no name here is called as its tracker calls it.
    assert garage.runs[-1].variables["description"] == "Red bike: Fahrrad weg!"


@pytest.mark.parametrize("chosen", ["tow", ["tow"], ["tow", "sos", "tow"]])
async def test_only_those_that_were_chosen(garage: Garage, chosen: Any) -> None:
    """Others are passed over, and do not keep later ones from being told."""
    await async_listen(garage, alarm=chosen)
    for words in ("vibration,tow", "movement", "tow,fault"):
        alarm(garage, words)
        await garage.async_minutes(1)
    await garage.async_restart()
    await garage.async_minutes(2)

    assert fired(garage) == [("tow", "tow")] * 2


async def test_without_a_fix(garage: Garage) -> None:
    """An alarm counts as raised when it was received."""
    garage.simulator.add_device("new", name="New bike", email=EMAIL)
    garage.simulator.report_no_fix("new")
    await garage.async_minutes(1)
    target = {"device_id": garage.device("new")}
    await async_listen(garage, target=target)
    no_fix = garage.simulator.report_no_fix("new")
    no_fix.attributes["alarm"] = "sos"
    await garage.async_minutes(1)

    [run] = garage.runs
    assert run.variables["time"] is None
    assert dt_util.parse_datetime(run.variables["since"]) is not None


async def test_what_was_there_before(hass: HomeAssistant, garage: Garage) -> None:
    """Alarms before the automation, and those a new tracker comes with, are not told."""
    area = ar.async_get(hass).async_create("Garage")
    alarm(garage, "sos")
    await garage.async_minutes(2)
    garage.put(RED, area_id=area.id)
    await async_listen(garage, target={"area_id": area.id})
    garage.simulator.add_device("new", email=EMAIL)
    alarm(garage, "sos", "new")
    await garage.async_minutes(2)
    garage.put("new", area_id=area.id)
    await garage.async_minutes(2)
    assert garage.runs == []

    alarm(garage, "tow", "new")
    await garage.async_minutes(2)
    assert fired(garage) == [("tow", "tow")]
