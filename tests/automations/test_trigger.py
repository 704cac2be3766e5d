"""Triggers in automations: fired once, at the right time, whatever comes in between."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from itertools import permutations, product
from typing import Any

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
from tests.conftest import BLUE, EMAIL, RED, Bikes
from tests.long import some
from tests.settle import settle
from tests.test_live import BEGINS

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

type NamesTold = Callable[..., Awaitable[str]]


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
    said, since = f"Red bike {trigger.replace('_', ' ')}", run.at
    if trigger == "became_silent":
        since = became - timedelta(days=1, minutes=-1)
        time = dt_util.as_local(since)
        said = f"Red bike has not reported since {time:%Y-%m-%d %H:%M}"
    assert run.about() == {
        "device_id": garage.device(RED),
        "entity_id": garage.entity(RED),
        "name": "Red bike",
        "description": said,
        "since": since,
    }


@pytest.mark.parametrize("trigger", WAITING)
async def test_fires_after_a_wait(
    garage: Garage, entry: MockConfigEntry, trigger: str
) -> None:
    """It is fired with the first poll after the wait is over, once.

    Its time is one of the zone of the house, to the second.
    """
    await garage.hass.config.async_set_time_zone("Asia/Tokyo")
    await garage.async_prepare(trigger)
    wait: dict[str, Any] = {"for": "00:10:10"}
    automation = garage.automation(trigger, **wait)
    # What it does has its trigger look at the bike at once.
    arm = "alarm_control_panel.alarm_arm_away"
    automation["actions"].insert(0, {"action": arm, "target": {"entity_id": "all"}})
    await garage.async_save(automation)
    await garage.async_seconds(0.25)
    garage.become(trigger)
    polls = set[datetime]()
    for _ in range(20):
        await garage.async_minutes(1)
        polls.add(entry.runtime_data.coordinator.service.asked_at)

    [run] = garage.runs
    assert run.at in polls
    assert run.is_over(timedelta(seconds=610), within=1)
    since = run.variables["since"]
    assert since.endswith("+09:00")
    time = f"{datetime.fromisoformat(since):%H:%M}"
    said = {
        "went_offline": f"Red bike has been offline since {time}",
        "became_silent": f"Red bike has not reported since {time}",
    }.get(trigger, f"Red bike {trigger.replace('_', ' ')} ({time})")
    assert run.variables["description"] == said


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
    ("wait", "trigger", "interruption"),
    [
        *some(product([None], TRIGGERS, INTERRUPTIONS), every=2),
        *some(product(["00:04:00"], WAITING, INTERRUPTIONS), every=3),
    ],
)
async def test_fires_after_the_interruption(
    garage: Garage, wait: str | None, trigger: str, interruption: str
) -> None:
    """What became so meanwhile, or for long enough, is fired once it is known, once."""
    await garage.async_prepare(trigger)
    await garage.async_listen(
        trigger, **({"for": wait} if wait else options_of(trigger))
    )
    if wait:
        garage.become(trigger)
        await garage.async_minutes(2)
    await garage.async_begin(interruption)
    if not wait:
        garage.become(trigger, at_once=True)
    assert garage.runs == []
    await garage.async_end(interruption)
    assert len(garage.runs) == 1

    await garage.async_restart(down=600)
    await garage.async_minutes(10)
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
    assert run.is_over(timedelta(**MINUTES), within=2)
    await garage.async_restart()
    await garage.async_minutes(40)
    assert len(garage.runs) == 1


@pytest.mark.parametrize("wait", [{"minutes": 10}, MINUTES])
@pytest.mark.parametrize(
    ("trigger", "interruption"), some(product(WAITING, INTERRUPTIONS), every=3)
)
async def test_what_was_so_before(
    garage: Garage, trigger: str, interruption: str, wait: dict[str, int]
) -> None:
    """It runs no automation that is made meanwhile, at no restart, reload or outage either.

    Neither a wait that was over by then, nor a longer one.
    """
    await garage.async_prepare(trigger)
    garage.become(trigger, at_once=True)
    await garage.async_minutes(20)
    await garage.async_listen(trigger, **{"for": wait})

    await garage.async_begin(interruption)
    await garage.async_end(interruption)
    # An automation that is there when Home Assistant starts counts as made before.
    if wait == MINUTES and interruption != "restart":
        await garage.async_minutes(40)
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


@pytest.fixture
def names_told(garage: Garage) -> NamesTold:
    """Return a function for the bikes that a trigger tells of, which both go offline."""

    async def _names_told(target: Any, change: Callable[[], None] | None = None) -> str:
        await garage.async_listen("went_offline", target=target)
        if change:
            change()
        for bike in (RED, BLUE):
            garage.simulator.set_status(bike, "offline")
        await garage.async_minutes(2)
        return ", ".join(sorted(run.variables["name"] for run in garage.runs))

    return _names_told


@pytest.mark.parametrize("is_disabled", [False, True])
@pytest.mark.parametrize(
    "kind", ["entity_id", "device_id", "area_id", "floor_id", "label_id"]
)
async def test_targets(
    hass: HomeAssistant,
    garage: Garage,
    names_told: NamesTold,
    kind: str,
    is_disabled: bool,
) -> None:
    """A tracker that is in the target is told of, another one is not.

    It counts all the same if its connectivity is switched off.
    """
    floor = fr.async_get(hass).async_create("Ground floor")
    area = ar.async_get(hass).async_create("Garage", floor_id=floor.floor_id)
    label = lr.async_get(hass).async_create("Bikes")
    garage.put(RED, area_id=area.id, labels={label.label_id})
    if is_disabled:
        er.async_get(hass).async_update_entity(
            garage.entity(RED), disabled_by=er.RegistryEntryDisabler.USER
        )
    targets = {
        "entity_id": garage.entity(RED, "disabled"),
        "device_id": garage.device(RED),
        "area_id": area.id,
        "floor_id": floor.floor_id,
        "label_id": [label.label_id],
    }
    assert await names_told({kind: targets[kind]}) == "Red bike"


@pytest.mark.parametrize("by", ["device", "area"])
async def test_disabled_device(
    hass: HomeAssistant, garage: Garage, names_told: NamesTold, by: str
) -> None:
    """A disabled device is in no target, neither of a trigger nor of an action."""
    area, devices = garage.area_of_both(), [garage.device(RED), garage.device(BLUE)]
    target = {"device_id": devices} if by == "device" else {"area_id": [area]}

    def disable() -> None:
        garage.put(RED, disabled_by=dr.DeviceEntryDisabler.USER)

    assert await names_told(target, disable) == "Blue bike"
    answer: Any = await hass.services.async_call(
        DOMAIN, "where", target, blocking=True, return_response=True
    )
    assert [bike["name"] for bike in answer["bikes"]] == ["Blue bike"]


@pytest.mark.skipif(
    not hasattr(TargetSelection({}), "exclude"), reason="new in Home Assistant 2026.11"
)
@pytest.mark.parametrize(
    ("by", "names"), [("entity", "Blue bike, Red bike"), ("device", "Blue bike")]
)
async def test_excluded(
    garage: Garage, names_told: NamesTold, by: str, names: str
) -> None:
    """An entity is left out alone, as Home Assistant does; a device with all it has."""
    exclude = {
        "entity": {"entity_id": [garage.entity(RED)]},
        "device": {"device_id": [garage.device(RED)]},
    }[by]
    target = {"area_id": garage.area_of_both(), "exclude": exclude}
    assert await names_told(target) == names


@pytest.mark.parametrize("identifier", [("another", "a", "b"), ("another",)])
@pytest.mark.parametrize("joins", ["before", "later"])
async def test_devices_of_others_in_the_target(
    garage: Garage, names_told: NamesTold, identifier: Any, joins: str
) -> None:
    """They are passed over, whatever their identifiers look like."""
    area = garage.area_of_both()

    def join() -> None:
        garage.add_device_of_another(identifier, area_id=area)

    if joins == "before":
        join()
    told = await names_told({"area_id": area}, join if joins == "later" else None)
    assert told == "Blue bike, Red bike"


async def test_first_word(hass: HomeAssistant, garage: Garage) -> None:
    """It is no change: what is received first of a tracker became nothing."""
    area = ar.async_get(hass).async_create("Garage")
    later = {"for": MINUTES}
    automations = [
        garage.automation(trigger, alias=f"{n}", target={"area_id": area.id}, **options)
        for n, (trigger, options) in enumerate(
            (
                ("went_offline", {}),
                ("went_offline", later),
                ("came_online", {}),
                ("stopped_moving", {}),
                ("stopped_moving", later),
            )
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


@pytest.mark.parametrize("waits", [False, True])
async def test_before_survives_a_restart(garage: Garage, waits: bool) -> None:
    """Since when it had been otherwise is known of what became so before it, too."""
    garage.become("went_offline")
    await garage.async_minutes(2)
    garage.become("came_online")
    await garage.async_minutes(1)
    before = garage.now
    await garage.async_listen("went_offline", **({"for": MINUTES} if waits else {}))
    if waits:
        garage.become("went_offline")
        await garage.async_minutes(5)
    await garage.async_restart()
    garage.become("went_offline")
    await garage.async_minutes(40)

    [run] = garage.runs
    fired = datetime.fromisoformat(run.variables["before"])
    assert timedelta() <= before - fired < timedelta(minutes=1)


async def test_it_had_never_been_otherwise(garage: Garage) -> None:
    """There is no opposite of silence."""
    await garage.async_listen("became_silent", **{"for": {"days": 1}})
    garage.become("became_silent", at_once=True)
    await garage.async_minutes(2)

    assert garage.runs[-1].variables["before"] is None


async def test_removed_while_another_waits(hass: HomeAssistant, garage: Garage) -> None:
    """A tracker that leaves a target takes its waits along, and no other's."""
    devices = [garage.device(RED), garage.device(BLUE)]
    await garage.async_listen(
        "went_offline", target={"device_id": devices}, **{"for": "00:10:00"}
    )
    for bike in (RED, BLUE):
        garage.simulator.set_status(bike, "offline")
    await garage.async_minutes(5)
    dr.async_get(hass).async_remove_device(garage.device(BLUE))
    await garage.async_minutes(20)

    assert [run.variables["name"] for run in garage.runs] == ["Red bike"]


async def test_over_while_not_listed(garage: Garage, entry: MockConfigEntry) -> None:
    """A wait that is over after a reload while the tracker is not listed is run."""
    await garage.async_listen("went_offline", **{"for": "00:08:00"})
    garage.become("went_offline")
    await garage.async_minutes(2)
    await garage.async_begin("unassigned")
    await garage.hass.config_entries.async_reload(entry.entry_id)
    await garage.async_minutes(8)
    await garage.async_end("unassigned")
    assert len(garage.runs) == 1


@pytest.mark.usefixtures("with_live")
async def test_message_of_another(garage: Garage, bikes: Bikes) -> None:
    """It does not tell that a bike is silent."""
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
