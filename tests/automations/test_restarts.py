"""Triggers over restarts and kills."""

from datetime import datetime, timedelta

from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from tests.conftest import BLUE, RED

from .garage import Garage
from .test_trigger import MINUTES


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


async def test_over_before(garage: Garage, entry: MockConfigEntry) -> None:
    """A wait that is over between a reload and the first look at all trackers is run."""
    await garage.async_listen("went_offline", **{"for": "00:02:10"})
    garage.become("went_offline")
    await garage.async_minutes(3)
    await garage.hass.config_entries.async_reload(entry.entry_id)
    await garage.async_minutes(1)
    assert len(garage.runs) == 1


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
