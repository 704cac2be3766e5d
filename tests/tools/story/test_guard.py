"""A guard is triggered once, whatever becomes of Home Assistant meanwhile."""

import pytest

from tests.conftest import RED
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .home import Home
from .listener import FIRED, automation

GUARD = "alarm_control_panel.red_bike_guard"
NIGHT = 8 * 3600
AWAY = DEFAULT_LATITUDE + 0.01

"""Lets something come in between, in the middle of which something else happens."""


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
    """Have the red bike guarded in a home with automations."""
    home.automations = [automation("guard_triggered"), ON_STATE]
    home.simulator.report(RED, motion=False)
    await home.async_restart()
    await home.async_wait(130)
    await async_call(home, "arm_away")
    await home.async_wait(30)
    return home


async def async_call(home: Home, action: str) -> None:
    """Arm or disarm."""
    await home.hass.services.async_call(
        "alarm_control_panel", f"alarm_{action}", {"entity_id": GUARD}, blocking=True
    )
    await home.async_settle()


def steal(home: Home) -> None:
    """Let the red bike be ridden away."""
    home.simulator.report(RED, latitude=AWAY, motion=True)


def bring_back(home: Home) -> None:
    """Let it stand where it was."""
    home.simulator.report(RED, latitude=DEFAULT_LATITUDE, motion=False, attributes={})


def tow(home: Home) -> None:
    """Let the red bike raise an alarm, and stand."""
    home.simulator.report(RED, motion=False, attributes={"alarm": "tow"})


def fired(home: Home) -> list[str]:
    """Return what automations were told."""
    return sorted(fired.what for fired in home.listener.triggers)


def state(home: Home) -> str:
    """Return the state of the guard."""
    guard = home.hass.states.get(GUARD)
    assert guard is not None
    return guard.state


async def test_brought_back_meanwhile(guarded: Home) -> None:
    """It is fired of a ride that only the service's history knows."""
    home = guarded
    await home.async_stop()
    await home.async_wait(NIGHT / 2)
    steal(home)
    await home.async_wait(60)
    home.simulator.report(RED, latitude=DEFAULT_LATITUDE, motion=False)
    await home.async_wait(NIGHT / 2)
    await home.async_start()
    await home.async_wait(400)
    assert fired(home) == ["guard_triggered", "state"]
    assert state(home) == "triggered"


async def test_carried_off_meanwhile(guarded: Home) -> None:
    """Of a bike that is said to stand one report proves little: the history has another."""
    home = guarded
    await home.async_stop()
    await home.async_wait(NIGHT / 2)
    for _ in range(3):
        home.simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.002, motion=False)
        await home.async_wait(NIGHT / 8)
    await home.async_start()
    await home.async_wait(130)
    assert fired(home) == ["guard_triggered", "state"]
    assert state(home) == "triggered"


async def test_alarm_of_the_night(guarded: Home) -> None:
    """It is too old to be told by itself, but not to be kept from whoever guards the bike."""
    home = guarded
    await home.async_stop()
    await home.async_wait(NIGHT / 2)
    tow(home)
    await home.async_wait(60)
    bring_back(home)
    await home.async_wait(NIGHT / 2)
    await home.async_start()
    await home.async_wait(130)
    assert fired(home) == ["guard_triggered", "state"]
    guard = home.hass.states.get(GUARD)
    assert guard is not None
    assert guard.attributes["cause"] == "alarm"
