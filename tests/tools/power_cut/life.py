"""One life of Home Assistant with the integration, up to the moment in which it is killed."""

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta
import logging
from multiprocessing.connection import Connection
import os
from pathlib import Path
import signal
import sqlite3
from typing import Any, Final, NamedTuple
from unittest.mock import patch

# Before anything that reads the time.
from .clock import clock  # isort: skip

from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect

import custom_components.bike_tracker
from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.coordinator import BikeTrackerCoordinator
from custom_components.bike_tracker.dispatch import SIGNAL_OCCURRED
from custom_components.bike_tracker.tracking.occurrences import Occurrence
from tests.tools.benchmark.home import account, home

STEP: Final = timedelta(seconds=5)
ENTRY_ID: Final = "power_cut"
PLATFORMS: Final = custom_components.bike_tracker.PLATFORMS


class Fired(NamedTuple):
    """An occurrence that was fired."""

    at: datetime
    tracker: str
    occurrence: Occurrence
    total: float


class Armed(NamedTuple):
    """A guard that was armed."""

    at: datetime
    tracker: str


class Plan(NamedTuple):
    """What a life gets from outside."""

    folder: Path
    url: str
    email: str
    password: str
    begin: datetime
    instructions: int
    """Instructions of SQLite after which the process kills itself, 0 for never."""


def live(connection: Connection, plan: Plan) -> None:
    """Live until the process is killed."""
    logging.disable()
    clock.start(plan.begin)
    with patch(
        "custom_components.bike_tracker.database.file.connect",
        _connector(plan.instructions),
    ):
        asyncio.run(_live(connection, plan))


def _connector(instructions: int) -> Any:
    """Return a function that opens files of SQLite, which kill the process."""
    connect, left = sqlite3.connect, instructions

    def die_in_time() -> None:
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    def open_file(*args: Any, **options: Any) -> sqlite3.Connection:
        opened: sqlite3.Connection = connect(*args, **options)
        if instructions:
            opened.set_progress_handler(die_in_time, 1)
        return opened

    return open_file


async def _live(connection: Connection, plan: Plan) -> None:
    news = list[Fired | Armed]()
    async with home(plan.folder, recorder=False) as hass:

        @callback
        def note(
            coordinator: BikeTrackerCoordinator, key: str, occurrence: Occurrence
        ) -> None:
            total = coordinator.data.states[key].highest_total
            news.append(Fired(clock.now(), key, occurrence, total))

        async_dispatcher_connect(hass, SIGNAL_OCCURRED, note)
        await _set_up(hass, plan)
        while True:
            connection.send((clock.now(), news.copy()))
            news.clear()
            # The parent lets trackers report up to the next step.
            while not connection.poll():
                await asyncio.sleep(0)
            to_arm = connection.recv()
            clock.move(STEP)
            await _settle(hass)
            # A moving bike cannot be armed.
            with suppress(HomeAssistantError):
                if to_arm:
                    await _arm(hass, to_arm)
                    news.append(Armed(clock.now(), to_arm))
            await _settle(hass)


async def _set_up(hass: HomeAssistant, plan: Plan) -> None:
    if hass.config_entries.async_get_entry(ENTRY_ID):
        await hass.config_entries.async_setup(ENTRY_ID)
    else:
        data = {"url": plan.url, "email": plan.email, "password": plan.password}
        entry = account(DOMAIN, data, entry_id=ENTRY_ID)
        await hass.config_entries.async_add(entry)
    await _settle(hass)


async def _settle(hass: HomeAssistant) -> None:
    """Wait for requests and writes, except those of the live connection."""
    for _ in range(5):
        await asyncio.sleep(0)
    await hass.async_block_till_done()
    while any(map(_is_request, asyncio.all_tasks())):
        await asyncio.sleep(0.0005)
    await hass.async_block_till_done()


def _is_request(task: asyncio.Task[Any]) -> bool:
    name = task.get_name()
    return name.startswith(DOMAIN) and name.endswith((" poll", " history"))


async def _arm(hass: HomeAssistant, tracker: str) -> None:
    entity_id = er.async_get(hass).async_get_entity_id(
        "alarm_control_panel", DOMAIN, f"{tracker}_guard"
    )
    await hass.services.async_call(
        "alarm_control_panel", "alarm_arm_away", {"entity_id": entity_id}, blocking=True
    )
