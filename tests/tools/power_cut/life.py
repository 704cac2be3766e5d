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

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.coordinator import BikeTrackerCoordinator
from custom_components.bike_tracker.dispatch import SIGNAL_OCCURRED
from custom_components.bike_tracker.tracking.occurrences import Occurrence
from tests.settle import settle
from tests.tools.benchmark.home import account, home

STEP: Final = timedelta(seconds=5)
ENTRY_ID: Final = "power_cut"


class News(NamedTuple):
    """An occurrence that was fired, with the total of its tracker; without one, a guard that was armed."""

    at: datetime
    tracker: str
    occurrence: Occurrence | None = None
    total: float = 0


def live(
    connection: Connection,
    folder: Path,
    data: dict[str, str],
    begin: datetime,
    instructions: int,
) -> None:
    """Live until the process is killed, or kills itself after so many instructions of SQLite; 0 for never."""
    logging.disable()
    clock.start(begin)
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

    with patch("custom_components.bike_tracker.database.file.connect", open_file):
        asyncio.run(_live(connection, folder, data))


async def _live(connection: Connection, folder: Path, data: dict[str, str]) -> None:
    news = list[News]()

    @callback
    def note(
        coordinator: BikeTrackerCoordinator, key: str, occurrence: Occurrence
    ) -> None:
        total = coordinator.data.states[key].highest_total
        news.append(News(clock.now(), key, occurrence, total))

    async with home(folder, recorder=False) as hass:
        async_dispatcher_connect(hass, SIGNAL_OCCURRED, note)
        if hass.config_entries.async_get_entry(ENTRY_ID):
            await hass.config_entries.async_setup(ENTRY_ID)
        else:
            entry = account(DOMAIN, data, entry_id=ENTRY_ID)
            await hass.config_entries.async_add(entry)
        await settle(hass)
        while True:
            connection.send((clock.now(), news.copy()))
            news.clear()
            # The parent lets trackers report up to the next step.
            while not connection.poll():
                await asyncio.sleep(0)
            to_arm = connection.recv()
            clock.move(STEP)
            await settle(hass)
            # A moving bike cannot be armed.
            with suppress(HomeAssistantError):
                if to_arm:
                    await _arm(hass, to_arm)
                    news.append(News(clock.now(), to_arm))
            await settle(hass)


async def _arm(hass: HomeAssistant, tracker: str) -> None:
    entity_id = er.async_get(hass).async_get_entity_id(
        "alarm_control_panel", DOMAIN, f"{tracker}_guard"
    )
    await hass.services.async_call(
        "alarm_control_panel", "alarm_arm_away", {"entity_id": entity_id}, blocking=True
    )
