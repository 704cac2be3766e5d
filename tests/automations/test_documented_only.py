"""The documented interface alone is enough for triggers and conditions but those about motion."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.conftest import BLUE, EMAIL, PASSWORD, RED
from tests.tools.simulator.server import Simulator

from .conftest import Ask
from .garage import Garage
from .test_trigger import options_of


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    """Return a service that has only the documented call."""
    async with Simulator(kind="documented") as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        for tracker, name in ((RED, "Red bike"), (BLUE, "Blue bike")):
            simulator.add_device(tracker, name=name, email=EMAIL)
        yield simulator


@pytest.mark.parametrize("trigger", ["went_offline", "came_online", "became_silent"])
async def test_fires(garage: Garage, trigger: str) -> None:
    """A trigger fires once, and not again after a restart."""
    await garage.async_prepare(trigger)
    await garage.async_listen(trigger, **options_of(trigger))
    garage.become(trigger, at_once=True)
    await garage.async_minutes(2)
    await garage.async_restart()
    await garage.async_minutes(2)

    assert len(garage.runs) == 1


async def test_conditions(garage: Garage, ask: Ask) -> None:
    """Online, offline and silent are known; moving and standing are not."""
    assert await ask("is_online")
    garage.simulator.set_status(RED, "offline")
    garage.simulator.set_last_update(RED, garage.now - timedelta(days=2))
    await garage.async_minutes(2)

    kinds = ("is_online", "is_offline", "is_silent", "is_moving", "is_not_moving")
    answers = {kind: await ask(kind) for kind in kinds}
    assert [kind for kind in kinds if answers[kind]] == ["is_offline", "is_silent"]
