"""Backups: keep the database files complete and unchanged while Home Assistant copies them."""

import asyncio
from typing import Final

from homeassistant.core import HomeAssistant

from .const import LOGGER
from .coordinator import coordinators
from .database import Database

# Maximum time that a backup waits until an account has written to a slow disk.
BACKUP_TIMEOUT_SECONDS: Final = 30


async def _async_hold(database: Database) -> None:
    try:
        async with asyncio.timeout(BACKUP_TIMEOUT_SECONDS):
            await database.async_hold()
    except TimeoutError:
        LOGGER.warning("%s: The backup may miss the last minutes", database.title)


async def async_pre_backup(hass: HomeAssistant) -> None:
    """Write all changes into the files, and postpone later writes until the backup is over."""
    await asyncio.gather(*(_async_hold(it.database) for it in coordinators(hass)))


async def async_post_backup(hass: HomeAssistant) -> None:
    """Allow writes again, and schedule the postponed writes."""
    for coordinator in coordinators(hass):
        coordinator.database.async_release()
