"""Backups: keep the database files complete and unchanged while Home Assistant copies them."""

import asyncio
from typing import Final

from homeassistant.core import HomeAssistant

from .const import DOMAIN, LOGGER
from .database import Database
from .entity import BikeTrackerConfigEntry

# Maximum time that a backup waits until an account has written to a slow disk.
BACKUP_TIMEOUT_SECONDS: Final = 30


def databases_in(hass: HomeAssistant) -> list[Database]:
    """Return the databases of all accounts that are loaded."""
    entries: list[BikeTrackerConfigEntry]
    entries = hass.config_entries.async_loaded_entries(DOMAIN)
    return [entry.runtime_data.coordinator.database for entry in entries]


async def _async_hold(database: Database) -> None:
    try:
        async with asyncio.timeout(BACKUP_TIMEOUT_SECONDS):
            await database.async_hold()
    except TimeoutError:
        LOGGER.warning("%s: The backup may miss the last minutes", database.title)


async def async_pre_backup(hass: HomeAssistant) -> None:
    """Write all changes into the files, and postpone later writes until the backup is over."""
    await asyncio.gather(*map(_async_hold, databases_in(hass)))


async def async_post_backup(hass: HomeAssistant) -> None:
    """Allow writes again, and schedule the postponed writes."""
    for database in databases_in(hass):
        database.async_release()
