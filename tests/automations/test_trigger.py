"""Triggers in automations: fired once, at the right time, whatever comes in between."""

from datetime import datetime, timedelta
from itertools import permutations, product
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from homeassistant.helpers.target import TargetSelection
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN
from tests.conftest import BLUE, EMAIL, RED
from tests.long import some

from .garage import INTERRUPTIONS, Garage

TRIGGERS = (
    "went_offline",
    "came_online",
    "became_silent",
    "started_moving",
    "stopped_moving",
)
WAITING = tuple(trigger for trigger in TRIGGERS if trigger != "came_online")

MINUTES = {"minutes": 30}


def options_of(trigger: str) -> dict[str, Any]:
    """Return what a trigger needs to tell at once what became of a bike."""
    return {"for": {"days": 1}} if trigger == "became_silent" else {}


@pytest.mark.parametrize("trigger", TRIGGERS)
async def test_fires_at_once(garage: Garage, trigger: str) -> None:
    """It is fired with the poll that brings it, and what it is about."""
    await garage.async_prepare(trigger)
    await garage.async_listen(trigger, **options_of(trigger))
    await garage.async_minutes(2)
    assert garage.runs == []

    garage.become(trigger, at_once=True)
    became = garage.now
    await garage.async_minutes(5)

    [run] = garage.runs
    assert run.at - became <= timedelta(minutes=2)
    assert run.variables["device_id"] == garage.device(RED)
    assert run.variables["entity_id"] == garage.entity(RED)
    assert run.variables["name"] == "Red bike"
    said = f"Red bike {trigger.replace('_', ' ')}"
    reported = became - timedelta(days=1, minutes=-1)
    if trigger == "became_silent":
        said = f"Red bike has not reported since {dt_util.as_local(reported):%Y-%m-%d %H:%M}"
    assert run.variables["description"] == said
    since = dt_util.parse_datetime(run.variables["since"])
    assert since == (reported if trigger == "became_silent" else run.at)


@pytest.mark.parametrize("trigger", WAITING)
async def test_fires_after_a_wait(
    garage: Garage, entry: MockConfigEntry, trigger: str
) -> None:
    """It is fired with the first poll after the wait is over, once."""
    await garage.async_prepare(trigger)
    wait: dict[str, Any] = {"for": "00:10:10"}
    automation = garage.automation(trigger, **wait)
    # What it does has its trigger look at the bike at once.
    arm = "alarm_control_panel.alarm_arm_away"
    automation["actions"].insert(0, {"action": arm, "target": {"entity_id": "all"}})
    await garage.async_save(automation)
    garage.become(trigger)
    polls = set[datetime]()
    for _ in range(20):
        await garage.async_minutes(1)
        polls.add(entry.runtime_data.coordinator.service.asked_at)

    [run] = garage.runs
    since = datetime.fromisoformat(run.variables["since"])
    assert timedelta() <= run.at - since - timedelta(seconds=610) < timedelta(minutes=1)
    assert run.at in polls
    time = f"{dt_util.as_local(since):%H:%M}"
    said = {
        "went_offline": f"Red bike has been offline since {time}",
        "became_silent": f"Red bike has not reported since {time}",
    }.get(trigger, f"Red bike {trigger.replace('_', ' ')} ({time})")
    assert run.variables["description"] == said


async def test_times_are_those_of_the_house(
    hass: HomeAssistant, garage: Garage, freezer: FrozenDateTimeFactory
) -> None:
    """They are times, in the zone of the house and to the second."""
    await hass.config.async_set_time_zone("Asia/Tokyo")
    await garage.async_prepare("went_offline")
    await garage.async_listen("went_offline")
    freezer.tick(timedelta(milliseconds=250))
    garage.become("went_offline")
    await garage.async_minutes(2)

    [run] = garage.runs
    text = run.variables["since"]
    since = datetime.fromisoformat(text)
    assert text.endswith("+09:00")
    assert since.microsecond == 0
    assert timedelta() <= run.at - since < timedelta(minutes=1)


@pytest.mark.parametrize("trigger", WAITING)
async def test_over_before_the_wait(garage: Garage, trigger: str) -> None:
    """What ends in time is not fired."""
    opposite = {
        "went_offline": "came_online",
        "started_moving": "stopped_moving",
        "stopped_moving": "started_moving",
    }.get(trigger, trigger)
    await garage.async_prepare(trigger)
    await garage.async_listen(trigger, **{"for": MINUTES})
    for _ in range(3):
        garage.become(trigger)
        await garage.async_minutes(20)
        garage.become(opposite)
        await garage.async_minutes(2)

    assert garage.runs == []


@pytest.mark.parametrize(
    ("trigger", "is_so"), some(product(TRIGGERS, [False, True]), every=3)
)
async def test_no_false_alarm(garage: Garage, trigger: str, is_so: bool) -> None:
    """Whatever comes in between, in every order: what stays as it is is not fired."""
    await garage.async_prepare(trigger)
    if is_so:
        garage.become(trigger, at_once=True)
        await garage.async_minutes(2)
    await garage.async_listen(trigger, **(options_of(trigger) and {"for": {"days": 9}}))

    await garage.async_interrupt()

    assert garage.runs == []


@pytest.mark.parametrize(
    ("trigger", "interruption"), some(product(TRIGGERS, INTERRUPTIONS), every=2)
)
async def test_fires_after_the_interruption(
    garage: Garage, trigger: str, interruption: str
) -> None:
    """What became so meanwhile is fired once it is known, once."""
    await garage.async_prepare(trigger)
    await garage.async_listen(trigger, **options_of(trigger))

    await garage.async_begin(interruption)
    garage.become(trigger, at_once=True)
    assert garage.runs == []
    await garage.async_end(interruption)
    assert len(garage.runs) == 1

    await garage.async_restart()
    await garage.async_minutes(5)
    assert len(garage.runs) == 1


@pytest.mark.parametrize(
    ("first", "second", "overlap", "trigger"),
    some(
        (
            (*order, overlap, trigger)
            for order, overlap, trigger in product(
                permutations(INTERRUPTIONS, 2), (False, True), WAITING
            )
        ),
        every=17,
    ),
)
async def test_wait_goes_on(
    garage: Garage, first: str, second: str, overlap: bool, trigger: str
) -> None:
    """A wait counts through whatever comes in between."""
    await garage.async_prepare(trigger)
    await garage.async_listen(trigger, **{"for": MINUTES})
    garage.become(trigger)
    await garage.async_minutes(2)

    await garage.async_begin(first)
    if overlap:
        await garage.async_begin(second)
        await garage.async_end(first)
    else:
        await garage.async_end(first)
        await garage.async_begin(second)
    await garage.async_end(second)
    assert garage.runs == []
    await garage.async_minutes(20)

    [run] = garage.runs
    since = datetime.fromisoformat(run.variables["since"])
    assert timedelta() <= run.at - since - timedelta(**MINUTES) < timedelta(minutes=2)
    await garage.async_restart()
    await garage.async_minutes(40)
    assert len(garage.runs) == 1


@pytest.mark.parametrize(
    ("trigger", "interruption"), some(product(WAITING, INTERRUPTIONS), every=3)
)
async def test_wait_ends_meanwhile(
    garage: Garage, trigger: str, interruption: str
) -> None:
    """It is fired with the first answer that still says so, once."""
    await garage.async_prepare(trigger)
    await garage.async_listen(trigger, **{"for": "00:04:00"})
    garage.become(trigger)
    await garage.async_minutes(2)

    await garage.async_begin(interruption)
    assert garage.runs == []
    await garage.async_end(interruption)
    assert len(garage.runs) == 1

    await garage.async_restart(down=600)
    await garage.async_minutes(10)
    assert len(garage.runs) == 1


@pytest.mark.parametrize("trigger", WAITING)
async def test_what_was_so_before(garage: Garage, trigger: str) -> None:
    """It does not run an automation that is made meanwhile, however long its wait."""
    await garage.async_prepare(trigger)
    garage.become(trigger, at_once=True)
    await garage.async_minutes(5)
    await garage.async_listen(trigger, **{"for": MINUTES})

    await garage.async_minutes(60)

    assert garage.runs == []


@pytest.mark.parametrize(
    ("trigger", "interruption"), some(product(WAITING, INTERRUPTIONS), every=2)
)
async def test_over_before_it_was_attached(
    garage: Garage, trigger: str, interruption: str
) -> None:
    """A wait that was over by then runs it at no restart, reload or outage either."""
    await garage.async_prepare(trigger)
    garage.become(trigger)
    await garage.async_minutes(20)
    await garage.async_listen(trigger, **{"for": {"minutes": 10}})

    await garage.async_begin(interruption)
    await garage.async_end(interruption)
    assert garage.runs == []


async def test_the_clock_of_silence(garage: Garage) -> None:
    """A day after the last report, unless told otherwise, and anew after the next."""
    garage.simulator.touch([RED])
    await garage.async_listen("became_silent")
    for _ in range(2):
        await garage.async_begin("restart")
        await garage.async_end("restart")
    assert garage.runs == []

    await garage.async_restart(down=23 * 60 * 60)
    assert garage.runs == []
    await garage.async_minutes(60)
    assert len(garage.runs) == 1

    garage.simulator.touch([RED])
    await garage.async_minutes(2)
    await garage.async_restart(down=25 * 60 * 60)
    assert len(garage.runs) == 2


async def test_reports_that_come_just_in_time(garage: Garage) -> None:
    """Between two polls nobody knows whether a tracker is silent."""
    await garage.async_listen("became_silent", **{"for": {"seconds": 600}})
    every, start = timedelta(seconds=585), garage.now
    for _ in range(120):
        # The poll comes in the last seconds of the minute.
        reports = (garage.now + timedelta(seconds=50) - start) // every
        garage.simulator.set_last_update(RED, start + reports * every)
        await garage.async_minutes(1)
    assert garage.runs == []

    await garage.async_minutes(12)
    assert len(garage.runs) == 1


@pytest.mark.parametrize("status", ["", 7])
async def test_unreadable_status(garage: Garage, status: Any) -> None:
    """It is no change: it starts no wait, and ends none."""
    await garage.async_listen("went_offline", **{"for": "00:10:00"})
    garage.simulator.override_field(RED, "status", status)
    await garage.async_minutes(15)
    assert garage.runs == []

    garage.simulator.clear_overrides(RED)
    garage.become("went_offline")
    await garage.async_minutes(5)
    garage.simulator.override_field(RED, "status", status)
    await garage.async_minutes(10)
    assert len(garage.runs) == 1
    garage.simulator.clear_overrides(RED)
    await garage.async_minutes(1)
    assert len(garage.runs) == 1


async def test_unknown_is_offline(garage: Garage) -> None:
    """A Traccar's third status is no longer online, and no other one than offline."""
    await garage.async_listen("went_offline")
    for status in ("unknown", "offline", "unknown"):
        garage.simulator.set_status(RED, status)
        await garage.async_minutes(2)

    assert len(garage.runs) == 1


@pytest.mark.parametrize("kind", ["entity", "device", "area", "floor", "label"])
async def test_targets(hass: HomeAssistant, garage: Garage, kind: str) -> None:
    """A tracker that is in the target is told of, another one is not."""
    floor = fr.async_get(hass).async_create("Ground floor")
    area = ar.async_get(hass).async_create("Garage", floor_id=floor.floor_id)
    label = lr.async_get(hass).async_create("Bikes")
    garage.put(RED, area_id=area.id, labels={label.label_id})
    target = {
        "entity": {"entity_id": garage.entity(RED, "disabled")},
        "device": {"device_id": garage.device(RED)},
        "area": {"area_id": area.id},
        "floor": {"floor_id": floor.floor_id},
        "label": {"label_id": [label.label_id]},
    }[kind]
    await garage.async_listen("went_offline", target=target)

    for bike in (RED, BLUE):
        garage.simulator.set_status(bike, "offline")
    await garage.async_minutes(2)

    assert [run.variables["name"] for run in garage.runs] == ["Red bike"]


@pytest.mark.parametrize("by", ["device", "area", "entity"])
async def test_connectivity_switched_off(
    hass: HomeAssistant, garage: Garage, by: str
) -> None:
    """The tracker counts all the same."""
    area = ar.async_get(hass).async_create("Garage")
    garage.put(RED, area_id=area.id)
    target = {
        "device": {"device_id": garage.device(RED)},
        "area": {"area_id": area.id},
        "entity": {"entity_id": "device_tracker.red_bike"},
    }[by]
    er.async_get(hass).async_update_entity(
        garage.entity(RED), disabled_by=er.RegistryEntryDisabler.USER
    )
    await garage.async_listen("went_offline", target=target)

    garage.become("went_offline")
    await garage.async_minutes(2)

    assert len(garage.runs) == 1


@pytest.mark.parametrize("by", ["device", "area"])
async def test_disabled_device(hass: HomeAssistant, garage: Garage, by: str) -> None:
    """A disabled device is in no target, neither of a trigger nor of an action."""
    area = ar.async_get(hass).async_create("Garage")
    for bike in (RED, BLUE):
        garage.put(bike, area_id=area.id)
    devices = [garage.device(RED), garage.device(BLUE)]
    target = {"device_id": devices} if by == "device" else {"area_id": [area.id]}
    await garage.async_listen("went_offline", target=target)
    garage.put(RED, disabled_by=dr.DeviceEntryDisabler.USER)

    for bike in (RED, BLUE):
        garage.simulator.set_status(bike, "offline")
    await garage.async_minutes(2)
    answer = await hass.services.async_call(
        DOMAIN, "where", target, blocking=True, return_response=True
    )

    assert [run.variables["name"] for run in garage.runs] == ["Blue bike"]
    bikes: Any = answer and answer["bikes"]
    assert [bike["name"] for bike in bikes] == ["Blue bike"]


@pytest.mark.skipif(
    not hasattr(TargetSelection({}), "exclude"), reason="new in Home Assistant 2026.11"
)
@pytest.mark.parametrize(
    ("by", "names"), [("entity", {"Red bike", "Blue bike"}), ("device", {"Blue bike"})]
)
async def test_excluded(
    hass: HomeAssistant, garage: Garage, by: str, names: set[str]
) -> None:
    """An entity is left out alone, as Home Assistant does; a device with all it has."""
    area = ar.async_get(hass).async_create("Garage")
    for bike in (RED, BLUE):
        garage.put(bike, area_id=area.id)
    exclude = {
        "entity": {"entity_id": [garage.entity(RED)]},
        "device": {"device_id": [garage.device(RED)]},
    }[by]
    target = {"area_id": [area.id], "exclude": exclude}
    await garage.async_listen("went_offline", target=target)

    for bike in (RED, BLUE):
        garage.simulator.set_status(bike, "offline")
    await garage.async_minutes(2)

    assert {run.variables["name"] for run in garage.runs} == names


@pytest.mark.parametrize("identifier", [("another", "a", "b"), ("another",)])
@pytest.mark.parametrize("joins", ["before", "later"])
async def test_devices_of_others_in_the_target(
    hass: HomeAssistant, garage: Garage, identifier: Any, joins: str
) -> None:
    """They are passed over, whatever their identifiers look like."""
    area = ar.async_get(hass).async_create("Garage")
    if joins == "before":
        garage.add_device_of_another(identifier, area_id=area.id)
    await garage.async_listen("went_offline", target={"area_id": area.id})
    if joins == "later":
        garage.add_device_of_another(identifier, area_id=area.id)
    garage.put(RED, area_id=area.id)
    await garage.async_minutes(1)

    garage.become("went_offline")
    await garage.async_minutes(1)

    assert len(garage.runs) == 1


async def test_first_word(hass: HomeAssistant, garage: Garage) -> None:
    """It is no change: what is received first of a tracker became nothing."""
    area = ar.async_get(hass).async_create("Garage")
    automations = [
        garage.automation(trigger, alias=alias, target={"area_id": area.id}, **options)
        for trigger in ("went_offline", "came_online", "stopped_moving")
        for alias, options in (
            [(trigger, {}), (f"{trigger} later", {"for": MINUTES})]
            if trigger in WAITING
            else [(trigger, {})]
        )
    ]
    await garage.async_save(*automations)
    garage.simulator.add_device("new", name="New bike", email=EMAIL, latitude=None)
    garage.simulator.override_field("new", "status", None)
    await garage.async_minutes(2)
    garage.put("new", area_id=area.id)
    await garage.async_minutes(2)

    garage.simulator.clear_overrides("new")
    garage.simulator.set_status("new", "offline")
    garage.simulator.report("new", motion=False)
    await garage.async_minutes(40)

    assert garage.runs == []


async def test_error_in_one_of_them(
    garage: Garage, caplog: pytest.LogCaptureFixture
) -> None:
    """The others run all the same, and it goes on with the next change."""
    failing = garage.automation("went_offline", alias="Failing")
    failing["triggers"][0]["variables"] = {"x": "{{ trigger.since + 1 }}"}
    await garage.async_save(failing, garage.automation("went_offline", alias="Well"))
    for trigger in ("went_offline", "came_online", "went_offline"):
        garage.become(trigger)
        await garage.async_minutes(2)

    assert len(garage.runs) == 2
    assert caplog.text.count("Unexpected error running a trigger") == 2
    caplog.clear()


@pytest.mark.parametrize(
    ("trigger", "opposite"),
    [
        ("went_offline", "came_online"),
        ("came_online", "went_offline"),
        ("started_moving", "stopped_moving"),
        ("stopped_moving", "started_moving"),
    ],
)
async def test_since_when_it_had_been_otherwise(
    garage: Garage, trigger: str, opposite: str
) -> None:
    """The trigger says so, through an outage and a tracker that was not listed."""
    await garage.async_prepare(trigger)
    await garage.async_listen(trigger)
    garage.become(trigger)
    await garage.async_minutes(2)
    garage.become(opposite)
    await garage.async_minutes(1)
    before = garage.now
    for interruption in ("server", "unassigned"):
        await garage.async_begin(interruption)
        await garage.async_end(interruption)
    garage.become(trigger)
    await garage.async_minutes(2)

    fired = datetime.fromisoformat(garage.runs[-1].variables["before"])
    assert timedelta() <= before - fired < timedelta(minutes=1)


async def test_it_had_never_been_otherwise(garage: Garage) -> None:
    """There is no opposite of silence."""
    await garage.async_listen("became_silent", **{"for": {"days": 1}})
    garage.become("became_silent", at_once=True)
    await garage.async_minutes(2)

    assert garage.runs[-1].variables["before"] is None
