"""A file of one account's entry in Home Assistant's storage folder, written late."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
import os
from typing import Any, ClassVar

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.storage import Store

from ..const import DOMAIN, LOGGER

_VERSION = 1


class LateFile(Store[dict[str, Any]], ABC):
    """Is written as a whole, so many seconds after the first change since it was."""

    title: ClassVar[str]
    """What the log calls it."""
    suffix: ClassVar[str] = ""
    delay: ClassVar[int]
    """Seconds. Home Assistant writes it as well when it stops."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Use the file of this entry."""
        super().__init__(
            hass,
            _VERSION,
            f"{DOMAIN}.{entry.entry_id}{self.suffix}",
            private=True,
            atomic_writes=True,
            serialize_in_event_loop=False,
        )
        self._entry = entry
        self._unsaved = False
        self._closed = False
        entry.async_on_unload(self.async_close)

    async def async_read[T](self, convert: Callable[[Any], T]) -> T | None:
        """Return what is made of what it holds, beside the event loop.

        A file that is not readable costs what it holds, and is kept aside.
        """
        try:
            stored = await self.async_load()
            return await self.hass.async_add_executor_job(convert, stored)
        except Exception as err:  # noqa: BLE001 - it costs what it holds, no more
            aside = f"{self.path}.unreadable"
            with suppress(OSError):
                await self.hass.async_add_executor_job(os.replace, self.path, aside)
            LOGGER.warning(
                "%s: The %s is not readable (%s), a new one begins; it is kept as %s",
                self._entry.title,
                self.title,
                type(err).__name__,
                aside,
            )
            return None

    @callback
    def async_save_later(self) -> None:
        """Write within the delay, or when Home Assistant stops."""
        if not self._unsaved and not self._closed:
            self._unsaved = True
            self.async_delay_save(self._to_save, self.delay)

    async def async_save_now(self) -> None:
        """Write now, and later what comes meanwhile."""
        await self.async_save(await self.hass.async_add_executor_job(self._to_save))
        if self._unsaved:
            # Home Assistant forgot about it: it wrote what it was given instead.
            self.async_delay_save(self._to_save, self.delay)

    async def async_close(self) -> None:
        """Write now what is not written yet, and nothing after that."""
        self._closed = True
        if self._unsaved:
            await self.async_save_now()

    def _to_save(self) -> dict[str, Any]:
        self._unsaved = False
        return self.content()

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return what is to be written. It is called beside the event loop."""
