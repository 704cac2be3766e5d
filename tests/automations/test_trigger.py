"""Triggers in automations fire one time for each change, at the right time, with the right variables."""

from datetime import datetime, timedelta
from itertools import permutations, product
import logging
from typing import Any
from unittest.mock import call, patch

from homeassistant.helpers import device_registry as dr
from homeassistant.util import dt as dt_util
import pytest

from custom_components.bike_tracker.database import SOON, Database
from tests.blueprints.house import stories
from tests.conftest import BLUE, EMAIL, RED
from tests.long import some
from tests.test_live import BEGINS
from tests.tools.settle import settle
from tests.tools.simulator.world import DEFAULT_LONGITUDE

from .garage import INTERRUPTIONS, TRIGGERS, WAITING, Garage

WAITS = """
A state that ends before the wait is over does not fire the trigger.
prepare, listen for=30
become, wait 20, undo, wait 2
become, wait 20, undo, wait 2
become, wait 20, undo, wait 2 = 0

The automation does not run again after the clock is set back.
prepare, listen for=10, become, wait 13 = 1
clock -15, wait 33 = 1

A wait that was over does not fire again after a boot with a clock behind.
prepare, listen for=10, become, wait 13, forget
stop, clock -45, start, wait 2, clock 0, wait 30 = 0

A wait that begins after a boot with a clock behind fires once.
prepare, listen for=10, become, wait 13, undo, wait 2, forget
stop, clock -45, start, wait 2, become, wait 2, clock 0, wait 30 = 1
"""

OTHERWISE = """
The variable `before` survives an outage, and a time in which the tracker was not listed.
prepare, listen, become, wait 2, undo, wait 1, mark
begin server, end server, begin unassigned, end unassigned
become, wait 2 = 2
before
"""

OFFLINE = """
A wait that ends after a reload, while the tracker is not listed, fires later.
listen for=8, become, wait 2, begin unassigned
begin reload, end reload = 0
end unassigned = 1

The variable `before` survives a restart.
become, wait 2, undo, wait 1, mark, listen, restart, become, wait 40 = 1
before

The variable `before` survives a restart during the wait.
become, wait 2, undo, wait 1, mark, listen for=30, become, wait 5, restart, become, wait 40 = 1
before

A wait fires that begins with a clock behind, before Home Assistant has started.
prepare, listen for=10, stop, clock -45, load, wait 1, become, wait 2, start, wait 6 = 0
wait 4 = 1

A state that begins after the clock was set back fires the trigger.
listen for=10, clock -15, wait 1, become, wait 30 = 1

A state that began before the clock was set back does not fire the trigger.
become, wait 30, listen for=10, clock -15, wait 31 = 0
"""

SILENCE = """
By default, the trigger fires a day after the last report, and again after the next silence.
touch, listen, begin restart, end restart, begin restart, end restart = 0
restart 1380 = 0
wait 60 = 1
touch, wait 2, restart 1500 = 2

A bike that falls silent after a clock ahead was put right is noticed, though the clock showed that time before. So is its next silence.
clock 30, listen for=10, become, wait 3, clock 0, wait 3, forget, become, wait 8 = 0
wait 4 = 1
wait 30 = 1, become, wait 12 = 2
"""

CHANGES = "listen, begin {}, become at_once"
WAIT_ENDS = "listen for=4, become, wait 2, begin {}"
ORDERS = [
    order.format(*both)
    for both in permutations(INTERRUPTIONS, 2)
    for order in (
        "begin {0}, end {0}, begin {1}, end {1}",
        "begin {0}, begin {1}, end {0}, end {1}",
    )
]


@pytest.mark.parametrize(
    "story",
    [
        *stories(WAITS, WAITING),
        *stories(OTHERWISE, [it for it in TRIGGERS if it != "became_silent"]),
        *stories(OFFLINE, ["went_offline"]),
        *stories(SILENCE, ["became_silent"]),
    ],
)
async def test_story(garage: Garage, story: str) -> None:
    """At each `= n` in a story, the automation has run `n` times so far."""
    await garage.async_tell(story)


@pytest.mark.parametrize("simulator", ["documented"], indirect=True)
@pytest.mark.parametrize("trigger", ["went_offline", "came_online", "became_silent"])
async def test_documented_interface(garage: Garage, trigger: str) -> None:
    """If a service offers only the documented interface, triggers and conditions for *offline* and *silent* still work."""
    start = f"true is_online, of {trigger}, prepare, listen, become at_once, wait 2 = 1"
    await garage.async_tell(f"{start}, restart, wait 2 = 1")
    garage.simulator.set_status(RED, "offline")
    garage.simulator.set_last_update(RED, dt_util.utcnow() - timedelta(days=2))
    await garage.async_tell("wait 2, true is_offline is_silent")


@pytest.mark.parametrize(
    ("trigger", "before"), some(product(TRIGGERS, ["", "become at_once, "]), every=3)
)
async def test_no_false_alarm(garage: Garage, trigger: str, before: str) -> None:
    """If a state does not change, interruptions in any order do not fire the trigger."""
    listen = f"listen for={9 * 24 * 60}" if trigger == "became_silent" else "listen"
    await garage.async_tell(f"of {trigger}, prepare, {before}wait 2, {listen}")
    await garage.async_tell("interrupt = 0")


@pytest.mark.parametrize(
    ("begins", "trigger", "interruption"),
    [
        *some(product([CHANGES], TRIGGERS, INTERRUPTIONS), every=2),
        *some(product([WAIT_ENDS], WAITING, INTERRUPTIONS), every=3),
    ],
)
async def test_fires_after_the_interruption(
    garage: Garage, begins: str, trigger: str, interruption: str
) -> None:
    """If a state changes or a wait ends during an interruption, the trigger fires one time, soon after the interruption."""
    await garage.async_tell(f"of {trigger}, prepare, {begins.format(interruption)} = 0")
    await garage.async_tell(f"end {interruption} = 1, restart 10, wait 10 = 1")


@pytest.mark.parametrize(("order", "trigger"), some(product(ORDERS, WAITING), every=17))
async def test_wait_goes_on(garage: Garage, order: str, trigger: str) -> None:
    """Interruptions do not restart a wait: the trigger fires one time, when the original wait is over."""
    begins = "prepare, listen for=30, become, wait 2"
    await garage.async_tell(f"of {trigger}, {begins}, {order}, wait 7 = 0, wait 3 = 1")
    await garage.async_tell("restart, wait 40 = 1")


@pytest.mark.parametrize("minutes", [10, 30])
@pytest.mark.parametrize(
    ("trigger", "interruption"), some(product(WAITING, INTERRUPTIONS), every=3)
)
async def test_what_was_so_before(
    garage: Garage, trigger: str, interruption: str, minutes: int
) -> None:
    """If a state began before an automation existed, the automation does not run, even after an interruption.

    Counted from the start of the state, the wait is already over (10 minutes) or ends
    later (30 minutes).
    """
    begins = f"prepare, become at_once, wait 20, listen for={minutes}"
    await garage.async_tell(f"of {trigger}, {begins}, begin {interruption}")
    # After a restart, the automation is not known to be newer than the state, so it may
    # run when its wait ends. Do not wait that long.
    later = 0 if interruption == "restart" else 40
    await garage.async_tell(f"end {interruption}, wait {later} = 0")


async def test_reports_that_come_just_in_time(garage: Garage) -> None:
    """If each report comes just before the wait ends, the trigger fires only after the last report. The database is soon written after the start and the run of the trigger."""
    with patch.object(Database, "async_write_within") as write:
        await garage.async_tell("of became_silent, listen for=10")
        every, start = timedelta(seconds=585), dt_util.utcnow()
        for _ in range(120):
            # Let the poll in 54 seconds return the newest report of the next 50 seconds.
            reports = (dt_util.utcnow() + timedelta(seconds=50) - start) // every
            garage.simulator.set_last_update(RED, start + reports * every)
            await garage.async_minutes(1)
        await garage.async_tell("wait 0 = 0, wait 12 = 1")
    assert write.mock_calls.count(call(SOON)) == 2


async def test_first_word(garage: Garage) -> None:
    """The first report of a tracker is not a change, so no trigger fires."""
    target, wait = garage.area(), {"for": {"minutes": 30}}
    automations = [
        garage.automation(kind, alias=f"{kind} {options}", target=target, **options)
        for kind, options in product(("went_offline", "stopped_moving"), ({}, wait))
    ]
    automations.append(garage.automation("came_online", target=target))
    await garage.async_save(*automations)
    garage.simulator.add_device("new", name="New bike", email=EMAIL, latitude=None)
    garage.simulator.override_field("new", "status", None)
    await garage.async_minutes(2)
    garage.area("new")
    await garage.async_minutes(2)
    garage.simulator.clear_overrides("new")
    garage.simulator.set_status("new", "offline")
    garage.simulator.report("new", motion=False)
    await garage.async_tell("wait 40 = 0")


async def test_one_fails(garage: Garage, caplog: pytest.LogCaptureFixture) -> None:
    """A trigger with an error does not affect other automations, and is tried again at the next change."""
    failing = garage.automation("went_offline", alias="Failing")
    failing["triggers"][0]["variables"] = {"x": "{{ trigger.since + 1 }}"}
    await garage.async_save(failing, garage.automation("went_offline", alias="Well"))
    await garage.async_tell("of went_offline, become, wait 2, undo, wait 2")
    await garage.async_tell("become, wait 2 = 2")
    assert caplog.text.count("Unexpected error running a trigger") == 2
    caplog.clear()


async def test_removed_while_another_waits(garage: Garage) -> None:
    """If the device of a tracker is removed during a wait, the trigger fires only for the other tracker, at the right time."""
    target = garage.area(RED, BLUE)
    await garage.async_listen("went_offline", target=target, **{"for": "00:10:00"})
    await garage.async_tell("offline red, wait 4, offline blue, wait 1")
    dr.async_get(garage.hass).async_remove_device(garage.bikes.device(BLUE).id)
    await garage.async_tell("wait 7 = 1, wait 13")
    assert garage.given("name") == ["Red bike"]


@pytest.mark.usefixtures("with_live")
async def test_message_of_another(garage: Garage) -> None:
    """A push message of another tracker does not reset the wait for silence."""
    bikes = garage.bikes
    await bikes.async_wait(BEGINS)
    await bikes.async_wait(1.1)
    assert len(garage.simulator.live.sockets) == 1
    garage.simulator.report(RED)
    await garage.async_listen("became_silent", **{"for": {"seconds": 30}})
    bikes.freezer.tick(35)
    garage.simulator.report(BLUE, motion=True)
    await settle(bikes.hass)
    assert garage.runs == []
    for _ in range(2):
        await bikes.async_wait(61)
    assert len(garage.runs) == 1


SENTENCES = {
    **{trigger: f"Red bike {trigger.replace('_', ' ')}" for trigger in TRIGGERS},
    "became_silent": "Red bike has not reported since 2026-11-19 ",
    "ride_started": "Red bike started a ride",
    "ride_ended": "Red bike ended a ride: 0.6 km in ",
    "alarm_raised": "Red bike: Bike fell over",
    "guard_triggered": "Red bike: 1.1 km from where it stood, ",
}
LOOK_UP = "custom_components.bike_tracker.automations.triggers.is_in_target"
WRITE = "custom_components.bike_tracker.alarm_control_panel.BikeTrackerGuard.async_write_ha_state"


@pytest.mark.parametrize("trigger", SENTENCES)
async def test_fires_at_once(garage: Garage, trigger: str) -> None:
    """A trigger without a wait fires one time, with the poll that shows the change. Its variables describe the tracker."""
    await garage.async_tell(f"of {trigger}, prepare, listen, wait 5 = 0")
    became = dt_util.utcnow()
    await garage.async_tell("become at_once, wait 5 = 1")
    [run] = garage.runs
    assert run.time_fired - became <= timedelta(minutes=2)
    assert run.data["description"].startswith(SENTENCES[trigger])
    assert run.data["device_id"] == garage.bikes.device().id
    assert run.data["entity_id"] == "binary_sensor.red_bike_connectivity"
    assert run.data["name"] == "Red bike"
    since = {
        "became_silent": became - timedelta(days=1, minutes=-1),
        "alarm_raised": became,
        "guard_triggered": became,
        "ride_started": became,
        # For an ended ride, `since` is the time of the arrival, six minutes earlier.
        "ride_ended": became - timedelta(minutes=6),
    }.get(trigger, run.time_fired)
    assert datetime.fromisoformat(run.data["since"]) == since.replace(microsecond=0)
    times = (run.data[it] for it in ("since", "started_at", "ended_at", "time"))
    assert all(datetime.fromisoformat(it).utcoffset() for it in times if it)
    assert bool(run.data["before"]) is (trigger in {*TRIGGERS} - {"became_silent"})


@pytest.mark.parametrize("trigger", WAITING)
async def test_fires_after_a_wait(garage: Garage, trigger: str) -> None:
    """A trigger with a wait fires one time, with the first poll after the wait. Its times are in the house's time zone."""
    await garage.hass.config.async_set_time_zone("Asia/Tokyo")
    await garage.async_tell(f"of {trigger}, prepare")
    automation = garage.automation(trigger, target=None, **{"for": "00:10:10"})
    # This action changes the bike while triggers are evaluated. The trigger must still
    # fire only once, and the next action must see the armed guard.
    panel, [given] = "alarm_control_panel.red_bike_guard", automation["actions"]
    given["event_data"]["guard"] = f"{{{{ states('{panel}') }}}}"
    arm = "alarm_control_panel.alarm_arm_away"
    automation["actions"].insert(0, {"action": arm, "target": {"entity_id": panel}})
    await garage.async_save(automation)
    await garage.async_seconds(0.25)
    await garage.async_tell("become")
    polls = set()
    for _ in range(20):
        await garage.async_minutes(1)
        polls.add(garage.entry.runtime_data.coordinator.service.asked_at)
    [run] = garage.runs
    assert run.time_fired in polls
    assert run.data["guard"] == "armed_away"
    since = datetime.fromisoformat(run.data["since"])
    late = run.time_fired - since - timedelta(seconds=610)
    assert timedelta() <= late < timedelta(minutes=1)
    assert run.data["since"].endswith("+09:00")
    time = f"{since:%H:%M}"
    said = {
        "went_offline": f"Red bike has been offline since {time}",
        "became_silent": f"Red bike has not reported since {time}",
    }.get(trigger, f"{SENTENCES[trigger]} ({time})")
    assert run.data["description"] == said


@pytest.mark.parametrize(
    ("chosen", "types"),
    [
        ({}, "sos low_battery vibration jamming vibration tow other"),
        ({"alarm": "tow"}, "tow"),
        ({"alarm": ["tow", "sos", "tow"]}, "sos tow"),
    ],
)
async def test_alarms(garage: Garage, chosen: dict[str, Any], types: str) -> None:
    """The trigger fires for each raised alarm, or only for alarms of the chosen types."""
    await garage.async_listen("alarm_raised", **chosen)
    for words in ("sos,lowBattery,sos", "shock", "jamming", "shock,tow", "Weg!"):
        await garage.async_tell(f"alarm {words}, wait")
    await garage.async_tell("restart, wait 2")
    assert garage.given("type") == types.split()
    if not chosen:
        # The variable `alarm` of an unknown alarm is the name that the tracker sent.
        assert garage.given("alarm")[-2:] == ["tow", "Weg!"]
        assert garage.given()[-1] == "Red bike: Weg!"


async def test_alarms_from_before(garage: Garage) -> None:
    """The trigger fires neither for alarms from before the automation nor for those in a tracker's first report.

    For an alarm without a fix, the variable `time` is None, but `since` is a time.
    """
    await garage.async_tell("alarm sos, wait 2")
    await garage.async_listen("alarm_raised", target=garage.area(RED))
    garage.simulator.add_device("new", email=EMAIL)
    garage.simulator.report_no_fix("new").attributes["alarm"] = "sos"
    await garage.async_minutes(2)
    garage.area("new")
    await garage.async_tell("wait 2 = 0")
    garage.simulator.report_no_fix("new").attributes["alarm"] = "tow"
    await garage.async_tell("wait 2 = 1")
    assert garage.given("time") == [None]
    assert dt_util.parse_datetime(garage.given("since")[0])


async def test_ride(garage: Garage) -> None:
    """The trigger variables contain the values of the ride."""
    kinds = ("ride_started", "ride_ended")
    await garage.async_save(*(garage.automation(it, alias=it) for it in kinds))
    rides = "move 300 speed=9 motion=yes, wait"
    stands = "move 0 speed=0 motion=no, wait"
    await garage.async_tell(", ".join([rides] * 2 + [stands] * 6))
    started, ended = garage.runs
    assert started.data["ended_at"] is None
    assert started.data["distance"] == pytest.approx(0.3, abs=0.01)
    assert started.data["maximum_speed"] == pytest.approx(16.7)
    assert ended.data["distance"] == pytest.approx(0.6, abs=0.01)
    times = (ended.data["started_at"], ended.data["ended_at"])
    start, end = map(datetime.fromisoformat, times)
    lasted = (end - start).total_seconds()
    assert lasted == pytest.approx(ended.data["duration"], abs=1)


@pytest.mark.parametrize(
    ("fails", "runs", "state"), [(LOOK_UP, 0, "triggered"), (WRITE, 1, "armed_away")]
)
async def test_guard(
    garage: Garage, caplog: pytest.LogCaptureFixture, fails: str, runs: int, state: str
) -> None:
    """An error in the trigger does not affect the guard's entity, and vice versa. Errors in the log contain no place."""
    await garage.async_tell("of guard_triggered, prepare, listen")
    with patch(fails, side_effect=ValueError):
        await garage.async_tell("become, wait 2")
        assert garage.bikes.state("alarm_control_panel.red_bike_guard").state == state
    places = [(run.data["cause"], run.data["distance"]) for run in garage.runs]
    assert places == [("place", 1112)] * runs
    errors = [it.getMessage() for it in caplog.records if it.levelno >= logging.ERROR]
    assert errors
    assert str(DEFAULT_LONGITUDE) not in str(errors)
    caplog.clear()
