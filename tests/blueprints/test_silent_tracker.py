"""Tests of the blueprint: silent tracker."""

from datetime import timedelta

from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.util import dt as dt_util
import pytest

from tests.conftest import BLUE, EMAIL, RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .house import House

SILENT = ["Red bike is silent"]
A_QUARTER = 0.25


@pytest.fixture
async def watched(simulator: Simulator, house: House) -> House:
    """Return the house with the red bike watched for a quarter of an hour of silence."""
    await house.async_automate("silent_tracker", RED, hours=A_QUARTER)
    await house.async_minutes(5)
    simulator.report(RED)
    return house


async def test_tells_once_until_it_reports(
    simulator: Simulator, watched: House
) -> None:
    """It tells once that a tracker is silent, and again only after it reported."""
    await watched.async_minutes(14)
    assert watched.told == []
    await watched.async_minutes(40)
    assert watched.notifications == [
        {
            "title": "Red bike is silent",
            "message": "Nothing has been heard of Red bike since 2026-11-20 12:05.",
            "notification_id": f"bike_tracker_silent_{watched.device(RED)}",
        }
    ]
    simulator.report(RED)
    await watched.async_minutes(14)
    assert watched.told == SILENT
    await watched.async_minutes(15)
    assert watched.told == 2 * SILENT


async def test_default(simulator: Simulator, house: House) -> None:
    """It waits for a day unless told otherwise, online or not."""
    simulator.report(RED, last_update=dt_util.utcnow() - timedelta(hours=23))
    simulator.set_status(BLUE, "offline")
    await house.async_minutes(1)
    await house.async_automate("silent_tracker", RED, BLUE)
    await house.async_minutes(55)
    assert house.told == []
    await house.async_minutes(10)
    assert house.told == SILENT


@pytest.mark.parametrize("every", [5, 13])
async def test_reports(simulator: Simulator, watched: House, every: int) -> None:
    """It says nothing while a tracker reports."""
    for _ in range(40 // every):
        await watched.async_minutes(every)
        simulator.touch([RED])
    assert watched.told == []


@pytest.mark.parametrize("apart", [0, 1, 2, 3, 10])
async def test_several_trackers(simulator: Simulator, house: House, apart: int) -> None:
    """It tells of each tracker once, whenever the other fell silent."""
    await house.async_automate("silent_tracker", RED, BLUE, hours=A_QUARTER)
    simulator.report(RED)
    await house.async_minutes(apart)
    simulator.report(BLUE)
    await house.async_minutes(40)
    assert sorted(house.told) == ["Blue bike is silent", "Red bike is silent"]


async def test_outage(simulator: Simulator, watched: House) -> None:
    """It says nothing during an outage, and afterwards only of those that are silent."""
    simulator.fault("status-500")
    await watched.async_minutes(40)
    assert watched.told == []
    simulator.touch([BLUE])
    simulator.fault(None)
    await watched.async_minutes(20)
    assert watched.told == SILENT


async def test_several_silent_after_outage(simulator: Simulator, house: House) -> None:
    """It tells of each tracker that fell silent during an outage."""
    await house.async_automate("silent_tracker", RED, BLUE, hours=A_QUARTER)
    await house.async_minutes(5)
    simulator.fault("status-500")
    await house.async_minutes(40)
    simulator.fault(None)
    await house.async_minutes(20)
    assert sorted(house.told) == ["Blue bike is silent", "Red bike is silent"]


async def test_reported_during_outage(simulator: Simulator, watched: House) -> None:
    """It says nothing when the tracker reported while the server was not reached."""
    simulator.fault("status-500")
    await watched.async_minutes(40)
    simulator.touch([RED])
    simulator.fault(None)
    await watched.async_minutes(14)
    assert watched.told == []


async def test_outage_and_restart_after_it_told(
    simulator: Simulator, watched: House
) -> None:
    """It does not tell again because of an outage, a restart or a change."""
    await watched.async_minutes(20)
    simulator.fault("status-500")
    await watched.async_minutes(5)
    simulator.fault(None)
    await watched.async_minutes(20)
    await watched.async_restart()
    await watched.async_minutes(20)
    simulator.touch([BLUE])
    await watched.async_automate("silent_tracker", RED, BLUE, hours=A_QUARTER)
    await watched.async_minutes(5)
    assert watched.told == SILENT


async def test_restart(watched: House) -> None:
    """It says nothing because of a restart, and counts the time before it."""
    await watched.async_minutes(9)
    await watched.async_restart()
    await watched.async_minutes(3)
    assert watched.told == []
    await watched.async_minutes(4)
    assert watched.told == SILENT


async def test_due_while_down(watched: House) -> None:
    """It tells after a restart what it could not tell while Home Assistant was down."""
    await watched.async_restart(down=7200)
    assert watched.told == SILENT
    await watched.async_minutes(5)
    assert watched.told == SILENT


async def test_made_while_silent(watched: House, house: House) -> None:
    """It tells at once of a tracker that was silent before there was an automation."""
    await house.async_save()
    await house.async_minutes(40)
    await house.async_automate("silent_tracker", RED, hours=A_QUARTER)
    assert house.told == SILENT


async def test_unknown(simulator: Simulator, house: House) -> None:
    """It says nothing of a tracker of which no report is known."""
    for tracker in (RED, BLUE):
        simulator.override_field(tracker, "lastUpdate", None)
        simulator.override_position(tracker, "fixTime", None)
        simulator.report(tracker)
    await house.async_automate("silent_tracker", RED, BLUE, hours=A_QUARTER)
    await house.async_minutes(40)
    assert house.told == []


@pytest.mark.usefixtures("all_enabled")
async def test_without_last_update(simulator: Simulator, watched: House) -> None:
    """It says nothing of a tracker that the server says it never heard of."""
    simulator.override_field(RED, "lastUpdate", None)
    await watched.async_minutes(40)
    assert watched.told == []


async def test_old_position(simulator: Simulator, watched: House) -> None:
    """It says nothing of a tracker that reports without a position."""
    for _ in range(3):
        await watched.async_minutes(9)
        simulator.touch([RED])
        await watched.async_minutes(2)
        await watched.async_restart()
    assert watched.told == []


async def test_missing_tracker(simulator: Simulator, watched: House) -> None:
    """It says nothing of a tracker that the account does not list any more."""
    simulator.unassign(EMAIL, RED)
    await watched.async_minutes(40)
    assert watched.told == []


async def test_removed_tracker(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """It still watches the others when a tracker was removed."""
    await house.async_automate("silent_tracker", RED, BLUE, hours=A_QUARTER)
    simulator.delete_device(RED)
    dr.async_get(hass).async_remove_device(house.device(RED))
    await house.async_minutes(20)
    assert house.told == ["Blue bike is silent"]


async def test_already_silent_after_a_ride(simulator: Simulator, house: House) -> None:
    """It goes by the last report, not by when the end of a ride was told."""
    simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.01, motion=True)
    await house.async_minutes(40)
    await house.async_automate("silent_tracker", RED, hours=A_QUARTER)
    await house.async_minutes(1)
    [notification] = house.notifications
    assert notification["message"].endswith("since 2026-11-20 12:00.")
