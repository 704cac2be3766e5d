"""A guard is triggered once, whatever becomes of Home Assistant meanwhile."""

import pytest

from tests.conftest import RED
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .home import Home
from .listener import FIRED, automation

GUARD = "alarm_control_panel.red_bike_guard"
NIGHT = 8 * 3600
ON_STATE = {
    "alias": "state",
    "triggers": {
        "trigger": "alarm_control_panel.triggered",
        "target": {"entity_id": GUARD},
    },
    "actions": {
        "event": FIRED,
        "event_data": {
            "trigger": "state",
            "device_id": "{{ device_id(trigger.entity_id) }}",
        },
    },
}


@pytest.fixture
async def guarded(home: Home) -> Home:
    """Have the red bike guarded by a home with automations, which is down by midnight."""
    home.automations = [automation("guard_triggered"), ON_STATE]
    home.simulator.report(RED, motion=False)
    await home.async_restart()
    await home.async_wait(130)
    await home.hass.services.async_call(
        "alarm_control_panel", "alarm_arm_away", {"entity_id": GUARD}, blocking=True
    )
    await home.async_wait(30)
    await home.async_stop()
    await home.async_wait(NIGHT / 2)
    return home


async def async_cause_in_the_morning(home: Home) -> str:
    """Return what triggered the guard, once the home is up again."""
    await home.async_wait(NIGHT / 2)
    await home.async_start()
    await home.async_wait(400)
    fired = sorted(fired.what for fired in home.listener.triggers)
    assert fired == ["guard_triggered", "state"]
    guard = home.state(GUARD)
    assert guard.state == "triggered"
    cause: str = guard.attributes["cause"]
    return cause


async def test_brought_back_meanwhile(guarded: Home) -> None:
    """It is fired of a ride that only the service's history knows."""
    guarded.simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.01, motion=True)
    await guarded.async_wait(60)
    guarded.simulator.report(RED, latitude=DEFAULT_LATITUDE, motion=False)
    assert await async_cause_in_the_morning(guarded) == "place"


async def test_carried_off_meanwhile(guarded: Home) -> None:
    """Of a bike that is said to stand one report proves little: the history has another."""
    for _ in range(3):
        guarded.simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.002, motion=False)
        await guarded.async_wait(NIGHT / 8)
    assert await async_cause_in_the_morning(guarded) == "place"


async def test_alarm_of_the_night(guarded: Home) -> None:
    """It is too old to be told by itself, but not to be kept from whoever guards the bike."""
    guarded.simulator.report(RED, motion=False, attributes={"alarm": "tow"})
    await guarded.async_wait(60)
    guarded.simulator.report(RED, motion=False, attributes={})
    assert await async_cause_in_the_morning(guarded) == "alarm"


async def test_ridden_home_unseen(home: Home) -> None:
    """What the service received before the arming triggers nothing, when live brings it late."""
    simulator = home.simulator
    simulator.report(RED, motion=False)
    await home.async_wait(130)
    simulator.fault("status-503", path="positions")
    simulator.live_fault("session-503")
    await home.async_wait(60)
    simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.002, motion=False)
    await home.async_wait(1_200)
    assert await home.async_arm(RED)
    simulator.live_fault(None)
    await home.async_wait(1_200)
    simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.002, motion=False)
    await home.async_wait(60)
    assert home.state(GUARD).state == "armed_away"
