"""The first word about a tracker is no change."""

import pytest

from tests.conftest import EMAIL

from .home import Home
from .riding import async_ride, async_stand
from .told import automation

NEW = "another"
TRIGGERS = ("started_moving", "stopped_moving", "came_online", "went_offline")


def runs(home: Home) -> list[str]:
    """Return what triggers told of the new bike."""
    return [told.what for told in home.listener.triggers if told.tracker == NEW]


@pytest.fixture
async def new(home: Home) -> Home:
    """Return a home with a new bike that never reported, and automations on it."""
    home.automations = [automation(trigger) for trigger in TRIGGERS]
    await home.async_restart()
    home.simulator.add_device(NEW, email=EMAIL, latitude=None)
    await home.async_wait(120)
    home.label()
    await home.async_wait(120)
    return home


@pytest.mark.parametrize("moves", [False, True])
async def test_first_report(new: Home, moves: bool) -> None:
    """It never moved before, so it did not stop, and its first report starts nothing."""
    new.simulator.report(
        NEW,
        latitude=48.1,
        longitude=7.9,
        accuracy=5,
        speed=10 if moves else 0,
        attributes={"motion": moves},
    )
    await new.async_wait(5)
    assert runs(new) == []
    assert new.listener.entities == []
    await new.async_wait(120)
    assert runs(new) == []
    assert new.listener.entities == []


async def test_what_comes_then(new: Home) -> None:
    """The second word may be one."""
    new.simulator.report(NEW, latitude=48.1, longitude=7.9, motion=False, accuracy=5)
    await new.async_wait(120)
    await async_ride(new, 5, NEW)
    assert runs(new) == ["started_moving"]
    await async_stand(new, 10, NEW, every=60)
    assert runs(new) == ["started_moving", "stopped_moving"]
    assert [told.what for told in new.listener.entities] == ["started", "ended"]
