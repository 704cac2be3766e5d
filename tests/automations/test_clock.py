"""Waits of triggers while the clock of the house is set back, or begins behind.

`tracking/test_evaluation.py` has any number of such clocks.
"""

from datetime import timedelta
from typing import Any

from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from .garage import Garage

WAIT: dict[str, Any] = {"for": "00:10:00"}
BACK = timedelta(minutes=15)
WAITING = ("went_offline", "stopped_moving", "became_silent")


class Clock:
    """The clock on the wall, which may differ from the time that passes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Patch the clock of Home Assistant; the service keeps its own."""
        self.behind = timedelta()
        for name in ("now", "utcnow"):
            right = getattr(dt_util, name)
            monkeypatch.setattr(
                dt_util,
                name,
                lambda *zone, right=right: right(*zone) - self.behind,
            )


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock on the wall."""
    return Clock(monkeypatch)


@pytest.fixture
async def listening(garage: Garage, trigger: str) -> Garage:
    """Return a garage with an automation that waits for ten minutes."""
    await garage.async_prepare(trigger)
    await garage.async_listen(trigger, **WAIT)
    return garage


@pytest.mark.parametrize("trigger", WAITING)
@pytest.mark.parametrize("restarts", [False, True])
async def test_set_back_after_it_ran(
    listening: Garage, wall: Clock, trigger: str, restarts: bool
) -> None:
    """It does not run again, not after a restart either."""
    listening.become(trigger)
    await listening.async_minutes(13)
    assert len(listening.runs) == 1

    wall.behind = BACK
    await listening.async_minutes(3)
    if restarts:
        await listening.async_restart()
    await listening.async_minutes(30)
    assert len(listening.runs) == 1


async def test_silence_after_a_clock_ahead_was_put_right(
    garage: Garage, wall: Clock
) -> None:
    """A bike that falls silent then is noticed, though the clock showed that time before."""
    wall.behind = -2 * BACK
    await garage.async_listen("became_silent", **WAIT)
    garage.become("became_silent")
    await garage.async_minutes(3)
    wall.behind = timedelta()
    await garage.async_minutes(3)
    garage.runs.clear()
    garage.become("became_silent")
    await garage.async_minutes(8)
    assert garage.runs == []
    await garage.async_minutes(4)
    assert len(garage.runs) == 1
    await garage.async_minutes(30)
    assert len(garage.runs) == 1


@pytest.mark.parametrize("trigger", WAITING)
@pytest.mark.parametrize("begins", [False, True])
async def test_boot_with_a_clock_behind(
    listening: Garage, wall: Clock, trigger: str, begins: bool
) -> None:
    """A wait that was over does not run again, and one that begins then does, once."""
    listening.become(trigger)
    await listening.async_minutes(13)
    if begins:
        opposite = {"went_offline": "came_online", "stopped_moving": "started_moving"}
        listening.become(opposite.get(trigger, trigger))
        await listening.async_minutes(2)
    listening.runs.clear()
    await listening.async_stop()
    wall.behind = 3 * BACK
    await listening.async_start()
    await listening.async_minutes(2)
    if begins:
        listening.become(trigger)
        await listening.async_minutes(2)
    wall.behind = timedelta()
    await listening.async_minutes(30)
    assert len(listening.runs) == int(begins)


async def test_wait_that_begins_before_automations_listen(
    garage: Garage, entry: MockConfigEntry, wall: Clock
) -> None:
    """With a clock behind, a wait counts that begins before Home Assistant has started."""
    await garage.async_prepare("went_offline")
    await garage.async_listen("went_offline", **WAIT)
    await garage.async_stop()
    wall.behind = 3 * BACK
    await garage.hass.config_entries.async_setup(entry.entry_id)
    await garage.async_minutes(1)
    garage.become("went_offline")
    await garage.async_minutes(2)
    await garage.async_start()
    await garage.async_minutes(6)
    assert garage.runs == []
    await garage.async_minutes(4)
    assert len(garage.runs) == 1


@pytest.mark.parametrize("changed", ["before", "after"])
async def test_automation_made_before_the_clock_was_set_back(
    garage: Garage, wall: Clock, changed: str
) -> None:
    """What began after it counts, what held before it does not."""
    if changed == "before":
        garage.become("went_offline")
        await garage.async_minutes(30)
    await garage.async_listen("went_offline", **WAIT)
    wall.behind = BACK
    await garage.async_minutes(1)
    if changed == "after":
        garage.become("went_offline")
    await garage.async_minutes(30)
    assert len(garage.runs) == int(changed == "after")
