"""Each alarm is fired once, oldest first, however it comes."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from threading import Event
import time
from typing import Any
from unittest.mock import patch

from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
import pytest

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.database import File
from tests.conftest import EMAIL, RED
from tests.tools.simulator.wire import pause

from .home import Home
from .riding import async_ride, async_stand


def alarm(home: Home, *words: str, tracker: str = RED, age: float = 0) -> None:
    """Have a bike report alarms, with a fix that is so many seconds old."""
    home.simulator.report(
        tracker,
        attributes={"alarm": ",".join(words)},
        fix_time=dt_util.utcnow() - timedelta(seconds=age),
    )


def alarm_entity(home: Home) -> str:
    """Return the ID of the red bike's alarms."""
    entities = er.async_get(home.hass)
    entity_id = entities.async_get_entity_id("event", DOMAIN, f"{RED}_alarm")
    assert entity_id is not None
    return entity_id


@pytest.mark.parametrize("before", [[], ["tow"]])
async def test_late_report(home: Home, before: list[str]) -> None:
    """A fix that comes behind a newer one changes no place, and its alarm is told.

    Also if it is the first alarm of the bike.
    """
    for word in before:
        alarm(home, word)
    await home.async_wait(2)
    home.simulator.report(RED, latitude=48.5)
    await home.async_wait(2)
    home.simulator.report(
        RED,
        latitude=47.5,
        attributes={"alarm": "sos"},
        fix_time=dt_util.utcnow() - timedelta(minutes=3),
        is_late=True,
    )
    await home.async_wait(2)
    assert home.listener.alarms() == [*before, "sos"]
    assert home.state("device_tracker.red_bike").attributes["latitude"] == 48.5
    await home.async_wait(120)
    assert home.listener.alarms() == [*before, "sos"]


async def test_entity_that_was_disabled(home: Home) -> None:
    """One that is enabled again tells what comes then, and nothing old."""
    alarm(home, "sos")
    await home.async_wait(70)
    entities, entity_id = er.async_get(home.hass), alarm_entity(home)
    entities.async_update_entity(entity_id, disabled_by=er.RegistryEntryDisabler.USER)
    await home.async_wait(70)
    alarm(home, "tow")
    await home.async_wait(70)
    entities.async_update_entity(entity_id, disabled_by=None)
    # Home Assistant reloads the account half a minute later.
    await home.async_wait(130)
    alarm(home, "vibration")
    await home.async_wait(70)
    assert [fired.word for fired in home.listener.entities] == ["sos", "vibration"]
    assert not home.listener.unnoticed
    assert [fired.word for fired in home.listener.triggers] == [
        "sos",
        "tow",
        "vibration",
    ]


async def _async_moments() -> None:
    for _ in range(100):
        await asyncio.sleep(0)
        time.sleep(0.001)  # noqa: ASYNC251 - others write meanwhile


async def test_while_an_account_is_unloaded(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes while entities go is told by those that come then."""
    unload = home.hass.config_entries.async_unload_platforms
    words = [f"word {number}" for number in range(20)]

    async def unload_slowly(*args: Any) -> bool:
        unloaded = await unload(*args)
        for number, word in enumerate(words):
            alarm(home, word, age=20 - number)
            await _async_moments()
        return unloaded

    monkeypatch.setattr(
        home.hass.config_entries, "async_unload_platforms", unload_slowly
    )
    await home.async_reload(EMAIL)
    monkeypatch.undo()
    await home.async_wait(130)
    assert home.listener.alarms() == words


@pytest.mark.parametrize("way", ["reload", "stop"])
async def test_alarms_while_a_slow_disk_is_written(home: Home, way: str) -> None:
    """What comes while an account is unloaded, and its file written, is fired once.

    The newest report is in the first answer, the one before it in the history alone.
    """
    disk, run = Event(), File.run

    def slow(file: File, work: Callable[..., Any], *args: Any) -> Any:
        disk.wait(10)
        return run(file, work, *args)

    alarm(home, "sos")
    await home.async_wait(2)
    with patch.object(File, "run", slow):
        leaving = asyncio.create_task(
            home.async_reload(EMAIL) if way == "reload" else home.async_stop()
        )
        await pause(0.1)
        alarm(home, "tow")
        await pause(0.1)
        alarm(home, "door")
        await pause(0.1)
        disk.set()
        await leaving
    if way == "stop":
        await home.async_start()
    await home.async_wait(200)
    assert home.listener.alarms() == ["sos", "door", "tow"]


async def test_service_that_lost_its_database(home: Home) -> None:
    """It counts reports from 1 again: alarms and rides after that are fired once."""
    for word in ("sos", "tow"):
        alarm(home, word)
        await home.async_wait(70)
    home.simulator.forget_reports()
    for word in ("door", "lock"):
        alarm(home, word)
        await home.async_wait(70)
    await home.async_restart()
    await home.async_wait(120)
    assert home.listener.alarms() == ["sos", "tow", "door", "lock"]
    await async_ride(home, 12)
    await async_stand(home, 8, every=60)
    assert home.listener.rides() == ["started", "ended"]
