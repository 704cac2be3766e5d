"""What outlives a restart: last known positions, and how long trackers are missing."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.storage import Store

from .account import Remembered
from .api import Position
from .api.models import timestamp
from .const import DOMAIN, LOGGER

_VERSION = 1
_SAVE_DELAY = 5 * 60


class Memory:
    """Keeps what one account's entry remembers in Home Assistant's storage folder."""

    def __init__(self, hass: HomeAssistant, entry_id: str) -> None:
        """Use the file of this entry."""
        self._hass = hass
        self._store = Store[dict[str, Any]](
            hass,
            _VERSION,
            f"{DOMAIN}.{entry_id}",
            private=True,
            atomic_writes=True,
            serialize_in_event_loop=False,
        )
        self._remembered = Remembered()
        self._unsaved = False
        self._closed = False

    async def async_load(self) -> Remembered:
        """Return what was remembered: nothing, if it is missing or not readable."""
        stored = await self._store.async_load()
        if stored:
            try:
                self._remembered = await self._hass.async_add_executor_job(
                    _from_json, stored
                )
            except KeyError, TypeError, ValueError:
                LOGGER.warning(
                    "The remembered positions are not readable; starting anew"
                )
        return self._remembered

    @callback
    def async_save_later(self) -> None:
        """Write within five minutes, or when Home Assistant stops."""
        if not self._unsaved and not self._closed:
            self._unsaved = True
            self._store.async_delay_save(self._to_save, _SAVE_DELAY)

    async def async_close(self) -> None:
        """Write now what is not written yet, and nothing after that."""
        self._closed = True
        if self._unsaved:
            data = await self._hass.async_add_executor_job(self._to_save)
            await self._store.async_save(data)

    async def async_remove(self) -> None:
        """Delete the file."""
        await self._store.async_remove()

    def _to_save(self) -> dict[str, Any]:
        self._unsaved = False
        return {
            "positions": _each(self._remembered.positions, asdict),
            "missing": dict(self._remembered.missing),
        }


def _each[T](items: Mapping[str, T], change: Callable[[T], Any]) -> dict[str, Any]:
    # Runs beside the event loop, which may add trackers meanwhile: hence the copy.
    return {key: change(item) for key, item in dict(items).items()}


def _from_json(stored: dict[str, Any]) -> Remembered:
    return Remembered(
        positions=_each(stored["positions"], _position),
        missing=_each(stored["missing"], float),
    )


def _position(values: dict[str, Any]) -> Position:
    return Position(**{**values, "fix_time": timestamp(values["fix_time"])})
