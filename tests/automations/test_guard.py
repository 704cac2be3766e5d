"""The guard: triggered once, and automations on its state see that too."""

import logging
from typing import Any
from unittest.mock import patch

from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import Event, callback
import pytest

from tests.conftest import BLUE, RED
from tests.tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE

from .garage import Garage

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
FIRED = ["1.1 km from where it stood", "state"]


def steal(garage: Garage) -> None:
    """Let the bike be ridden away."""
    position = garage.simulator.devices[RED].position
    assert position is not None
    is_near = abs(position.latitude - DEFAULT_LATITUDE) < 0.005
    latitude = DEFAULT_LATITUDE + (0.01 if is_near else 0)
    garage.simulator.report(RED, latitude=latitude, motion=True, attributes={})


def fired(garage: Garage) -> list[str]:
    """Return what was told, but for the time."""
    said = (run.variables["description"] for run in garage.runs)
    return sorted(text.partition(", ")[0] for text in said)


async def async_listen(garage: Garage) -> None:
    """Save automations on the trigger and on the state."""
    await garage.async_save(
        garage.automation("guard_triggered", fired=("cause", "distance")), ON_STATE
    )


@pytest.mark.parametrize(("what", "left"), [(LOOK_UP, "state"), (WRITE, FIRED[0])])
async def test_errors(
    garage: Garage, caplog: pytest.LogCaptureFixture, what: str, left: str
) -> None:
    """One costs what it is of, and the log does not say where the bike is."""
    await async_listen(garage)
    await garage.async_guard("red_bike")
    with patch(what, side_effect=ValueError):
        steal(garage)
        await garage.async_minutes(2)
    assert fired(garage) == [left]
    logged = [it.getMessage() for it in caplog.records if it.levelno >= logging.ERROR]
    assert logged
    assert str(DEFAULT_LONGITUDE) not in str(logged)
    caplog.clear()


async def test_fires_at_once(garage: Garage) -> None:
    """With the poll that brings it, why, and how far away it was."""
    await async_listen(garage)
    await garage.async_guard("red_bike")
    await garage.async_minutes(3)
    assert garage.runs == []

    steal(garage)
    stolen = garage.now
    await garage.async_minutes(3)

    assert fired(garage) == FIRED
    [run] = [run for run in garage.runs if "cause" in run.variables]
    assert (run.variables["cause"], run.variables["distance"]) == ("place", 1112)
    about = run.about()
    assert about.pop("description").startswith(FIRED[0])
    assert about == {
        "device_id": garage.device(RED),
        "entity_id": garage.entity(RED),
        "name": "Red bike",
        "since": stolen,
    }


async def test_comes_back_as_it_was(garage: Garage) -> None:
    """It is there in an outage, and triggered by the first answer, once."""
    seen = list[str]()

    @callback
    def _note(event: Event[Any]) -> None:
        if event.data["entity_id"] == GUARD and event.data["new_state"]:
            seen.append(event.data["new_state"].state)

    garage.hass.bus.async_listen(EVENT_STATE_CHANGED, _note)
    await garage.async_guard("red_bike")
    await garage.async_begin("server")
    steal(garage)
    await garage.async_end("server")
    await garage.async_begin("server")
    await garage.async_end("server")
    assert seen == ["armed_away", "triggered"]


@pytest.mark.parametrize(
    ("behavior", "armed", "is_so"),
    [
        ("any", [], False),
        ("any", [RED], True),
        ("all", [RED], False),
        ("all", [RED, BLUE], True),
    ],
)
async def test_condition(
    garage: Garage, behavior: str, armed: list[str], is_so: bool
) -> None:
    """It is so while armed and while triggered, also while the service is down."""
    devices = [garage.device(bike) for bike in (RED, BLUE)]
    for bike in armed:
        await garage.async_guard("red_bike" if bike == RED else "blue_bike")
    await garage.async_save(
        {
            "id": "Ask",
            "alias": "Ask",
            "triggers": {"trigger": "event", "event_type": "ask"},
            "conditions": {
                "condition": "bike_tracker.is_guarded",
                "target": {"device_id": devices},
                "options": {"behavior": behavior},
            },
            "actions": {"event": "fired"},
        }
    )

    async def ask() -> bool:
        garage.runs.clear()
        garage.hass.bus.async_fire("ask")
        await garage.hass.async_block_till_done()
        return bool(garage.runs)

    assert await ask() is is_so
    steal(garage)
    await garage.async_minutes(1)
    assert await ask() is is_so
    await garage.async_begin("server")
    assert await ask() is is_so
