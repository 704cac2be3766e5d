"""Tests of the blueprint: tracker offline."""

from typing import Any

from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import device_registry as dr, entity_registry as er
import pytest

from tests.conftest import BLUE, EMAIL, RED
from tests.tools.simulator.server import Simulator

from .house import House

OFFLINE = ["Red bike is offline"]
OFFLINE_AND_BACK = ["Red bike is offline", "Red bike is back online"]


@pytest.fixture
async def watched(house: House) -> House:
    """Return the house with the red bike watched for ten minutes offline."""
    await house.async_automate("tracker_offline", RED, minutes=10)
    await house.async_minutes(5)
    return house


async def test_tells_once_and_again_when_back(
    simulator: Simulator, house: House
) -> None:
    """It tells when a tracker is offline for half an hour, and when it is back.

    No more than the tracker has to be chosen for that.
    """
    await house.async_automate("tracker_offline", RED)
    await house.async_minutes(5)
    simulator.set_status(RED, "offline")
    await house.async_minutes(30)
    assert house.told == []

    await house.async_minutes(60)
    assert house.told == OFFLINE
    assert house.notifications[0]["message"] == (
        "Red bike has been offline since 2026-11-20 12:06."
    )

    simulator.set_status(RED, "online")
    await house.async_minutes(10)
    assert house.told == OFFLINE_AND_BACK
    assert house.notifications[1] == {
        "title": "Red bike is back online",
        "message": "Red bike is back online. It had been offline since 2026-11-20 12:06.",
        "notification_id": house.notifications[0]["notification_id"],
    }


async def test_tells_each_time(simulator: Simulator, watched: House) -> None:
    """It tells of the next time too."""
    for _ in range(2):
        simulator.set_status(RED, "offline")
        await watched.async_minutes(15)
        simulator.set_status(RED, "online")
        await watched.async_minutes(5)
    assert watched.told == 2 * OFFLINE_AND_BACK


async def test_short(simulator: Simulator, watched: House) -> None:
    """It says nothing of short times offline, however many there are."""
    for _ in range(4):
        simulator.set_status(RED, "offline")
        await watched.async_minutes(7)
        simulator.set_status(RED, "online")
        await watched.async_minutes(1)
    assert watched.told == []


async def test_at_once(simulator: Simulator, house: House) -> None:
    """It tells at once of each tracker when the time is zero."""
    await house.async_automate("tracker_offline", RED, BLUE, minutes=0)
    await house.async_minutes(5)
    simulator.set_status(RED, "offline")
    await house.async_minutes(1)
    assert house.told == ["Red bike is offline"]
    simulator.set_status(BLUE, "offline")
    await house.async_minutes(2)
    assert house.told == ["Red bike is offline", "Blue bike is offline"]
    simulator.set_status(BLUE, "online")
    simulator.set_status(RED, "online")
    await house.async_minutes(1)
    assert sorted(house.told[2:]) == [
        "Blue bike is back online",
        "Red bike is back online",
    ]


@pytest.mark.parametrize("apart", [0, 1, 2, 3, 10])
async def test_several_trackers(simulator: Simulator, house: House, apart: int) -> None:
    """It tells of each tracker once, whenever the other went offline."""
    await house.async_automate("tracker_offline", RED, BLUE, minutes=10)
    await house.async_minutes(5)
    simulator.set_status(RED, "offline")
    await house.async_minutes(apart)
    simulator.set_status(BLUE, "offline")
    await house.async_minutes(20)
    assert sorted(house.told) == ["Blue bike is offline", "Red bike is offline"]
    simulator.set_status(RED, "online")
    await house.async_minutes(apart + 1)
    assert house.told[2:] == ["Red bike is back online"]
    simulator.set_status(BLUE, "online")
    await house.async_minutes(5)
    assert house.told[3:] == ["Blue bike is back online"]


async def test_only_chosen_trackers(simulator: Simulator, watched: House) -> None:
    """It says nothing of a tracker that was not chosen."""
    simulator.set_status(BLUE, "offline")
    await watched.async_minutes(20)
    assert watched.told == []


async def test_reports_mean_nothing(simulator: Simulator, watched: House) -> None:
    """It goes by the status, not by when a tracker last reported."""
    await watched.async_minutes(20)
    simulator.set_status(RED, "offline")
    await watched.async_minutes(10)
    assert watched.told == []
    await watched.async_minutes(3)
    assert watched.told == OFFLINE


async def test_outage(simulator: Simulator, watched: House) -> None:
    """It says nothing when the server cannot be reached."""
    simulator.touch()
    await watched.async_minutes(1)
    simulator.fault("status-500")
    await watched.async_minutes(30)
    simulator.fault(None)
    await watched.async_minutes(20)
    assert watched.told == []


async def test_outage_while_offline(simulator: Simulator, watched: House) -> None:
    """It counts the time of an outage when a tracker was offline before and after."""
    simulator.touch([RED])
    simulator.set_status(RED, "offline")
    await watched.async_minutes(4)
    simulator.fault("status-500")
    await watched.async_minutes(2)
    simulator.fault(None)
    await watched.async_minutes(4)
    assert watched.told == []
    await watched.async_minutes(4)
    assert watched.told == OFFLINE


async def test_offline_after_outage(simulator: Simulator, watched: House) -> None:
    """It tells of a tracker that went offline during a long outage."""
    simulator.touch([RED])
    await watched.async_minutes(1)
    simulator.fault("status-500")
    await watched.async_minutes(20)
    simulator.set_status(RED, "offline")
    simulator.fault(None)
    await watched.async_minutes(20)
    assert watched.told == OFFLINE


async def test_several_offline_after_outage(simulator: Simulator, house: House) -> None:
    """It tells of each tracker that went offline during an outage or a restart."""
    await house.async_automate("tracker_offline", RED, BLUE, minutes=10)
    await house.async_minutes(2)
    simulator.fault("status-500")
    await house.async_minutes(20)
    for tracker in (RED, BLUE):
        simulator.set_status(tracker, "offline")
    simulator.fault(None)
    await house.async_minutes(20)
    assert sorted(house.told) == ["Blue bike is offline", "Red bike is offline"]


async def test_outage_after_it_told(simulator: Simulator, watched: House) -> None:
    """It does not tell again because of an outage, and still tells of the return."""
    simulator.set_status(RED, "offline")
    await watched.async_minutes(15)
    for _ in range(3):
        simulator.fault("status-500")
        await watched.async_minutes(5)
        simulator.fault(None)
        await watched.async_minutes(20)
    assert watched.told == OFFLINE
    simulator.set_status(RED, "online")
    await watched.async_minutes(2)
    assert watched.told == OFFLINE_AND_BACK


async def test_back_during_outage(simulator: Simulator, watched: House) -> None:
    """It tells of the return when a tracker is back after an outage."""
    simulator.set_status(RED, "offline")
    await watched.async_minutes(15)
    simulator.fault("status-500")
    await watched.async_minutes(5)
    assert watched.told == OFFLINE
    simulator.set_status(RED, "online")
    simulator.fault(None)
    await watched.async_minutes(7)
    assert watched.told == OFFLINE_AND_BACK


async def test_restart(simulator: Simulator, watched: House) -> None:
    """It says nothing because of a restart."""
    await watched.async_restart()
    await watched.async_minutes(20)
    assert watched.told == []


async def test_restart_after_it_told(simulator: Simulator, watched: House) -> None:
    """It does not tell again after a restart, and still tells of the return."""
    simulator.set_status(RED, "offline")
    await watched.async_minutes(15)
    for _ in range(2):
        await watched.async_restart()
        await watched.async_minutes(20)
    assert watched.told == OFFLINE
    simulator.set_status(RED, "online")
    await watched.async_minutes(2)
    assert watched.told == OFFLINE_AND_BACK


async def test_restart_before_it_told(simulator: Simulator, watched: House) -> None:
    """It counts the time before a restart."""
    simulator.touch([RED])
    simulator.set_status(RED, "offline")
    await watched.async_minutes(7)
    await watched.async_restart()
    await watched.async_minutes(1)
    assert watched.told == []
    await watched.async_minutes(4)
    assert watched.told == OFFLINE


async def test_due_while_down(simulator: Simulator, watched: House) -> None:
    """It tells after a restart what it could not tell while Home Assistant was down."""
    simulator.touch([RED])
    simulator.set_status(RED, "offline")
    await watched.async_minutes(5)
    await watched.async_restart(down=3600)
    assert watched.told == OFFLINE
    await watched.async_minutes(5)
    assert watched.told == OFFLINE


async def test_several_due_while_down(simulator: Simulator, house: House) -> None:
    """It tells of each of them."""
    await house.async_automate("tracker_offline", RED, BLUE, minutes=10)
    for tracker in (RED, BLUE):
        simulator.set_status(tracker, "offline")
    await house.async_minutes(5)
    await house.async_restart(down=3600)
    await house.async_minutes(5)
    assert sorted(house.told) == ["Blue bike is offline", "Red bike is offline"]


async def test_server_down_at_start(simulator: Simulator, watched: House) -> None:
    """It goes on where it was when the server is there again some time after a start."""
    simulator.set_status(RED, "offline")
    await watched.async_minutes(15)
    simulator.fault("status-500")
    await watched.async_minutes(2)
    await watched.async_restart()
    await watched.async_minutes(15)
    simulator.fault(None)
    await watched.async_minutes(10)
    assert watched.told == OFFLINE
    simulator.set_status(RED, "online")
    await watched.async_minutes(2)
    assert watched.told == OFFLINE_AND_BACK


async def test_made_while_offline(simulator: Simulator, house: House) -> None:
    """It tells at once of a tracker that was offline before there was an automation."""
    simulator.set_status(RED, "offline")
    await house.async_minutes(20)
    await house.async_automate("tracker_offline", RED, BLUE, minutes=10)
    await house.async_minutes(1)
    assert house.told == OFFLINE
    simulator.set_status(RED, "online")
    await house.async_minutes(2)
    assert house.told == OFFLINE_AND_BACK


async def test_changed_while_offline(simulator: Simulator, watched: House) -> None:
    """It does not tell again because somebody changed the automation."""
    simulator.set_status(RED, "offline")
    await watched.async_minutes(15)
    await watched.async_automate("tracker_offline", RED, BLUE, minutes=8)
    await watched.async_minutes(15)
    assert watched.told == OFFLINE
    simulator.set_status(RED, "online")
    await watched.async_minutes(2)
    assert watched.told == OFFLINE_AND_BACK


async def test_missing_tracker(simulator: Simulator, watched: House) -> None:
    """It says nothing of a tracker that the account does not list any more."""
    simulator.unassign(EMAIL, RED)
    await watched.async_minutes(20)
    assert watched.told == []


async def test_missing_while_offline(simulator: Simulator, house: House) -> None:
    """It waits for a tracker too that is missing when another one is back."""
    await house.async_automate("tracker_offline", RED, BLUE, minutes=10)
    for tracker in (RED, BLUE):
        simulator.set_status(tracker, "offline")
    await house.async_minutes(15)
    simulator.unassign(EMAIL, RED)
    await house.async_minutes(2)
    simulator.set_status(BLUE, "online")
    await house.async_minutes(2)
    assert house.told[2:] == ["Blue bike is back online"]
    simulator.set_status(RED, "online")
    simulator.assign(EMAIL, RED)
    await house.async_minutes(2)
    assert house.told[3:] == ["Red bike is back online"]


async def test_unknown_status(simulator: Simulator, watched: House) -> None:
    """It takes what the service does not know to be online for offline, as a Traccar says."""
    simulator.set_status(RED, "unknown")
    await watched.async_minutes(9)
    assert watched.told == []
    await watched.async_minutes(30)
    assert watched.told == OFFLINE
    simulator.set_status(RED, "online")
    await watched.async_minutes(2)
    assert watched.told == OFFLINE_AND_BACK


async def test_unknown_status_and_outages(simulator: Simulator, watched: House) -> None:
    """An outage neither counts as offline nor tells a second time."""
    simulator.fault("status-500")
    await watched.async_minutes(30)
    simulator.fault(None)
    await watched.async_minutes(6)
    assert watched.told == []
    simulator.set_status(RED, "unknown")
    await watched.async_minutes(15)
    simulator.fault("status-500")
    await watched.async_minutes(5)
    simulator.fault(None)
    await watched.async_minutes(20)
    assert watched.told == OFFLINE


async def test_unknown_after_offline(simulator: Simulator, watched: House) -> None:
    """A tracker that is not back has not come back."""
    simulator.set_status(RED, "offline")
    await watched.async_minutes(15)
    simulator.set_status(RED, "unknown")
    await watched.async_minutes(9)
    assert watched.told == OFFLINE


async def test_removed_tracker(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """It does not wait for a tracker that was removed, and still watches the other."""
    await house.async_automate("tracker_offline", RED, BLUE, minutes=10)
    simulator.set_status(RED, "offline")
    await house.async_minutes(15)
    simulator.delete_device(RED)
    dr.async_get(hass).async_remove_device(house.device(RED))
    await house.async_minutes(5)
    automation = hass.states.get("automation.bikes")
    assert automation is not None
    assert automation.attributes["current"] == 0
    simulator.set_status(BLUE, "offline")
    await house.async_minutes(15)
    assert house.told == ["Red bike is offline", "Blue bike is offline"]


async def test_names(hass: HomeAssistant, simulator: Simulator, watched: House) -> None:
    """It finds renamed entities, and calls the bike as people do."""
    registry = er.async_get(hass)
    for entry in list(registry.entities.values()):
        if entry.unique_id.startswith(RED):
            entity_id = f"{entry.domain}.my_{entry.unique_id}"
            registry.async_update_entity(entry.entity_id, new_entity_id=entity_id)
    devices = dr.async_get(hass)
    devices.async_update_device(watched.device(RED), name_by_user="Ann's racer")
    simulator.set_status(RED, "offline")
    await watched.async_minutes(15)
    simulator.set_status(RED, "online")
    await watched.async_minutes(2)
    assert watched.told == ["Ann's racer is offline", "Ann's racer is back online"]


async def test_own_actions(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """It takes own actions, and one that fails does not keep it from others."""
    calls: list[dict[str, Any]] = []

    async def send(call: ServiceCall) -> None:
        calls.append(dict(call.data))
        raise HomeAssistantError("the phone is off")

    hass.services.async_register("notify", "phone", send)
    action = {
        "action": "notify.phone",
        "data": {"title": "{{ title }}", "message": "{{ name }}: {{ message }}"},
    }
    await house.async_automate(
        "tracker_offline",
        RED,
        BLUE,
        minutes=10,
        offline_actions=[action],
        online_actions=[action],
    )
    for status in ("offline", "online"):
        for tracker in (RED, BLUE):
            simulator.set_status(tracker, status)
        await house.async_minutes(15)
    told = [call["title"] for call in calls]
    assert sorted(told[:2]) == ["Blue bike is offline", "Red bike is offline"]
    assert sorted(told[2:]) == ["Blue bike is back online", "Red bike is back online"]
    assert {
        "title": "Blue bike is offline",
        "message": "Blue bike: Blue bike has been offline since 2026-11-20 12:01.",
    } in calls
    assert house.told == []
