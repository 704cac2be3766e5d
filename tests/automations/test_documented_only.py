"""What the documented interface tells is enough for all but moving."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.conftest import EMAIL, PASSWORD, RED
from tests.tools.simulator.server import Simulator

from .garage import Garage
from .test_condition import Ask, ask_fixture
from .test_trigger import options_of

__all__ = ["ask_fixture"]


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    """Return a service that has the documented call alone."""
    async with Simulator(kind="documented") as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        simulator.add_device(RED, name="Red bike", email=EMAIL)
        simulator.add_device("860000000000022", name="Blue bike", email=EMAIL)
        yield simulator


@pytest.mark.parametrize("trigger", ["went_offline", "came_online", "became_silent"])
async def test_fires(garage: Garage, trigger: str) -> None:
    """It is fired at once, once."""
    await garage.async_prepare(trigger)
    await garage.async_listen(trigger, **options_of(trigger))
    garage.become(trigger, at_once=True)
    await garage.async_minutes(2)
    await garage.async_restart()
    await garage.async_minutes(2)

    assert len(garage.runs) == 1


async def test_conditions(garage: Garage, ask: Ask) -> None:
    """Online, offline and silent are known, moving and standing are not."""
    assert await ask("is_online")
    garage.simulator.set_status(RED, "offline")
    garage.simulator.set_last_update(RED, garage.now - timedelta(days=2))
    await garage.async_minutes(2)

    assert await ask("is_offline")
    assert await ask("is_silent")
    assert not await ask("is_moving")
    assert not await ask("is_not_moving")
