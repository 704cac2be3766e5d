"""The file of 1.1 with how far triggers were, which had the marks of all accounts."""

from datetime import datetime
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HassJob, HomeAssistant
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.storage import Store

from ..const import DOMAIN, LOGGER

# By then each account has written for certain what is its.
_REMOVE_AFTER: Final = 60


async def async_take_marks_of_1_1(hass: HomeAssistant, entry: ConfigEntry) -> list[Any]:
    """Return what the file has, as far as that is readable; it goes in a while."""
    file = Store[list[Any]](hass, 1, f"{DOMAIN}.triggers")
    try:
        stored = await file.async_load()
    except Exception as err:  # noqa: BLE001 - it costs what is remembered, no more
        name = entry.title
        LOGGER.warning("%s: How far triggers were is not readable: %s", name, err)
        stored = []
    if stored is None:
        return []

    async def async_remove(_now: datetime) -> None:
        await file.async_remove()

    remove = HassJob(async_remove, cancel_on_shutdown=True)
    async_call_later(hass, _REMOVE_AFTER, remove)
    return stored if isinstance(stored, list) else []
