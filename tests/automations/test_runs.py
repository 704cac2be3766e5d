"""What a run of an automation is given: each occurrence is fired, once."""

from datetime import timedelta
import logging
from typing import Any
from unittest.mock import patch

from homeassistant.helpers.translation import async_load_integrations
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN
from tests.conftest import EMAIL, RED
from tests.riding import go
from tests.tools.simulator.world import DEFAULT_LONGITUDE

from .garage import TRIGGERS, WAITING, Garage

SENTENCES = {
    **{trigger: f"Red bike {trigger.replace('_', ' ')}" for trigger in TRIGGERS},
    "became_silent": "Red bike has not reported since 2026-11-19 ",
    "ride_started": "Red bike started a ride",
    "ride_ended": "Red bike ended a ride: 0.6 km in ",
    "alarm_raised": "Red bike: Bike fell over",
    "guard_triggered": "1.1 km from where it stood, ",
}
GUARD = "alarm_control_panel.red_bike_guard"
ON_STATE = {
    "id": "State",
    "alias": "State",
    "mode": "queued",
    "triggers": {
        "trigger": "alarm_control_panel.triggered",
        "target": {"entity_id": GUARD},
    },
    "actions": {"event": "fired", "event_data": {"description": "state"}},
}
LOOK_UP = "custom_components.bike_tracker.automations.triggers.is_in_target"
WRITE = "custom_components.bike_tracker.alarm_control_panel.BikeTrackerGuard.async_write_ha_state"


@pytest.mark.parametrize("trigger", SENTENCES)
async def test_fires_at_once(garage: Garage, trigger: str) -> None:
    """With the poll that brings it, once, and what it is about."""
    await garage.async_tell(f"of {trigger}, prepare, listen, wait 5 = 0")
    became = garage.now
    await garage.async_tell("become at_once, wait 5 = 1")

    [run] = garage.runs
    assert run.at - became <= timedelta(minutes=2)
    assert run.variables["description"].startswith(SENTENCES[trigger])
    since = {
        "became_silent": became - timedelta(days=1, minutes=-1),
        "alarm_raised": became,
        "guard_triggered": became,
    }.get(trigger, run.at)
    if "ride" in trigger:
        # A ride ended when the bike was seen where it arrived.
        since = became.replace(minute=became.minute - 6 * (trigger == "ride_ended"))
    names = ("device_id", "entity_id", "name")
    assert {name: run.variables[name] for name in names} | {"since": run.time()} == {
        "device_id": garage.device(RED),
        "entity_id": garage.entity(RED),
        "name": "Red bike",
        "since": since,
    }
    has_opposite = trigger in TRIGGERS and trigger != "became_silent"
    assert (run.variables["before"] is None) is not has_opposite


@pytest.mark.parametrize("trigger", WAITING)
async def test_fires_after_a_wait(
    garage: Garage, entry: MockConfigEntry, trigger: str
) -> None:
    """It is fired with the first poll after the wait is over, once.

    Its time is one of the zone of the house, to the second.
    """
    await garage.hass.config.async_set_time_zone("Asia/Tokyo")
    await garage.async_tell(f"of {trigger}, prepare")
    wait: dict[str, Any] = {"for": "00:10:10"}
    automation = garage.automation(trigger, **wait)
    # What it does has its trigger look at the bike at once.
    arm = "alarm_control_panel.alarm_arm_away"
    automation["actions"].insert(0, {"action": arm, "target": {"entity_id": "all"}})
    await garage.async_save(automation)
    await garage.async_seconds(0.25)
    await garage.async_tell("become")
    polls = set()
    for _ in range(20):
        await garage.async_minutes(1)
        polls.add(entry.runtime_data.coordinator.service.asked_at)

    [run] = garage.runs
    assert run.at in polls
    late = run.at - run.time() - timedelta(seconds=610)
    assert timedelta() <= late < timedelta(minutes=1)
    assert run.variables["since"].endswith("+09:00")
    time = f"{run.time():%H:%M}"
    said = {
        "went_offline": f"Red bike has been offline since {time}",
        "became_silent": f"Red bike has not reported since {time}",
    }.get(trigger, f"{SENTENCES[trigger]} ({time})")
    assert run.variables["description"] == said


@pytest.mark.parametrize(
    ("chosen", "types"),
    [
        ({}, "sos low_battery vibration jamming vibration tow other"),
        ({"alarm": "tow"}, "tow"),
        ({"alarm": ["tow", "sos", "tow"]}, "sos tow"),
    ],
)
async def test_alarms(garage: Garage, chosen: dict[str, Any], types: str) -> None:
    """Each word of a report as often as it is raised, oldest first, unless others are chosen."""
    await garage.async_listen("alarm_raised", fired=("alarm", "type"), **chosen)
    reports = ("sos,lowBattery,sos", "shock", "jamming", "shock,tow", "Fahrrad weg!")
    for words in reports:
        garage.simulator.report(RED, attributes={"alarm": words})
        await garage.async_minutes(1)
    await garage.async_restart()
    await garage.async_minutes(2)
    assert garage.told("type") == types.split()
    if not chosen:
        # What has no name here is called as its tracker calls it.
        assert garage.told("alarm")[-2:] == ["tow", "Fahrrad weg!"]
        assert garage.told()[-1] == "Red bike: Fahrrad weg!"


async def test_alarms_from_before(garage: Garage) -> None:
    """Alarms before the automation, and those a new tracker comes with, are not told.

    One without a fix counts as raised when it was received.
    """
    garage.simulator.report(RED, attributes={"alarm": "sos"})
    await garage.async_minutes(2)
    await garage.async_listen("alarm_raised", target=garage.area(RED), fired=("time",))
    garage.simulator.add_device("new", email=EMAIL)
    garage.simulator.report_no_fix("new").attributes["alarm"] = "sos"
    await garage.async_minutes(2)
    garage.area("new")
    await garage.async_tell("wait 2 = 0")
    garage.simulator.report_no_fix("new").attributes["alarm"] = "tow"
    await garage.async_tell("wait 2 = 1")
    assert garage.told("time") == [None]
    assert dt_util.parse_datetime(garage.told("since")[0])


async def test_ride(garage: Garage) -> None:
    """The attributes of the ride are variables of the run."""
    variables = ("started_at", "ended_at", "distance", "duration", "maximum_speed")
    kinds = ("ride_started", "ride_ended")
    await garage.async_save(
        *(garage.automation(it, alias=it, fired=variables) for it in kinds)
    )
    for meters, speed in ((300, 9.0), (300, 9.0), *[(0, 0.0)] * 6):
        go(garage.simulator, meters, speed=speed, motion=bool(meters))
        await garage.async_minutes(1)

    started, ended = garage.runs
    assert started.variables["ended_at"] is None
    assert float(started.variables["distance"]) == pytest.approx(0.3, abs=0.01)
    assert float(started.variables["maximum_speed"]) == pytest.approx(16.7)
    assert float(ended.variables["distance"]) == pytest.approx(0.6, abs=0.01)
    duration = float(ended.variables["duration"])
    lasted = ended.time("ended_at") - ended.time("started_at")
    assert lasted.total_seconds() == pytest.approx(duration, abs=1)


@pytest.mark.parametrize(
    ("language", "said"),
    [("de", "Red bike hat eine Fahrt beendet: 0,6 km in "), ("tlh", "Red bike: ride")],
)
async def test_sentence_of_another_language(
    garage: Garage, language: str, said: str
) -> None:
    """A message needs nothing but what a trigger tells, in the language of the house.

    One that is not loaded yet keeps nothing from being told.
    """
    garage.hass.config.language = language
    if language == "de":
        await async_load_integrations(garage.hass, {DOMAIN})
    await garage.async_tell("of ride_ended, prepare, listen, wait 5, become, wait 5")
    [description] = garage.told()
    assert description.startswith(said)


@pytest.mark.parametrize(
    ("fails", "left"), [(None, "pl"), (LOOK_UP, "l"), (WRITE, "p")]
)
async def test_guard(
    garage: Garage, caplog: pytest.LogCaptureFixture, fails: str | None, left: str
) -> None:
    """The trigger and the state fire; an error costs one, and the log says no place."""
    variables = ("cause", "distance", "place")
    on_guard = garage.automation("guard_triggered", fired=variables)
    await garage.async_save(on_guard, ON_STATE)
    await garage.async_tell("of guard_triggered, prepare")
    with patch(fails or "os.getcwd", side_effect=fails and ValueError):
        await garage.async_tell("become, wait 2")
    places = [run.variables for run in garage.runs if "cause" in run.variables]
    assert [(it["cause"], it["distance"]) for it in places] == [("place", 1112)] * (
        "p" in left
    )
    assert garage.told().count("state") == left.count("l")
    errors = [it.getMessage() for it in caplog.records if it.levelno >= logging.ERROR]
    assert bool(errors) is bool(fails)
    assert str(DEFAULT_LONGITUDE) not in str(errors)
    caplog.clear()
