"""Messages that came, and when they are taken in."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant

from ..api import Message
from ..const import DOMAIN, LOGGER

_SECOND = 1
# A tracker that reports is two messages, and sometimes one more of its status.
_AT_ONCE = 4
# More of a second than this would take up the event loop: the server has to wait.
_MOST = 5_000


class Inbox:
    """Has messages taken in: the first ones after a quiet second at once.

    Of many, what came is taken in together, once a second.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        take_in: Callable[[Message], Awaitable[None]],
    ) -> None:
        """Begin empty."""
        self._hass = hass
        self._entry = entry
        self._take_in = take_in
        self._waiting = Message([], [])
        self._came = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def async_put(self, message: Message) -> None:
        """Have a message taken in; wait while there are too many."""
        self._waiting.devices.extend(message.devices)
        self._waiting.positions.extend(message.positions)
        self._came.set()
        if self._task is None or self._task.done():
            self._task = self._entry.async_create_background_task(
                self._hass, self._async_empty(), f"{DOMAIN} live news"
            )
        elif len(self._waiting) > _MOST:
            await asyncio.wait([self._task])

    async def _async_empty(self) -> None:
        told = 0
        while len(self._waiting):
            message, self._waiting = self._waiting, Message([], [])
            self._came.clear()
            try:
                await self._take_in(message)
            except Exception:  # noqa: BLE001 - the next message is taken in all the same
                LOGGER.exception("Unexpected error taking in what the service said")
            told += 1
            if told >= _AT_ONCE:
                await asyncio.sleep(_SECOND)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(_SECOND):
                    await self._came.wait()
