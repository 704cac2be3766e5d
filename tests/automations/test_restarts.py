"""Triggers over restarts and kills."""

from copy import deepcopy
from datetime import timedelta
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN
from tests.conftest import BLUE, RED

from .garage import Garage
from .test_trigger import MINUTES


@pytest.fixture
def key(entry: MockConfigEntry) -> str:
    """Return the name of the file in which an account is remembered."""
    return f"{DOMAIN}.{entry.entry_id}"


async def test_killed_again_and_again(
    garage: Garage, hass_storage: dict[str, Any], key: str
) -> None:
    """Nothing is lost, and repeated is at most what was told in the last seconds."""
    await garage.async_save(
        garage.automation("alarm_raised", alias="alarm", told=["alarm"]),
        garage.automation("went_offline", alias="offline", told=["alarm"]),
    )
    words = [f"word {number}" for number in range(6)]
    for number, word in enumerate(words):
        is_written = number % 2 == 0
        garage.simulator.report(RED, attributes={"alarm": f"{word},sos"})
        garage.become("came_online" if number % 3 else "went_offline")
        # The poll comes in the last seconds of a minute.
        await garage.async_minutes(2 if is_written else 1)
        written = deepcopy(hass_storage[key])
        await garage.async_stop()
        hass_storage[key] = written
        before = len(garage.runs)
        await garage.async_start()
        await garage.async_minutes(2)
        if is_written:
            assert len(garage.runs) == before

    told = [run.variables["alarm"] for run in garage.runs]
    for number, word in enumerate(words):
        assert 1 <= told.count(word) <= (1 if number % 2 == 0 else 2)
    firsts = [word for word in dict.fromkeys(told) if word in words]
    assert firsts == words


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
    told = dt_util.parse_datetime(run.variables["before"])
    assert told is not None
    assert timedelta() <= before - told < timedelta(minutes=1)


async def test_account_that_comes_later(garage: Garage) -> None:
    """Its triggers go on where they were, though Home Assistant runs long since."""
    await garage.async_listen("went_offline")
    garage.become("went_offline")
    await garage.async_minutes(2)
    await garage.async_stop()
    garage.simulator.fault("status-503")
    await garage.async_start()
    await garage.async_minutes(10)
    garage.simulator.fault(None)
    await garage.async_minutes(10)

    assert len(garage.runs) == 1


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
