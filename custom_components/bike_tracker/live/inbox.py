"""Messages that came, and when they are taken in."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback

from ..api import Message
from ..const import DOMAIN, LOGGER

_SECOND = 1
# A tracker that reports is two messages, and sometimes one more of its status.
_AT_ONCE = 4
MOST_WAITING = 5_000
"""More of a second would take up the event loop: the server has to wait."""


@dataclass(slots=True, eq=False)
class Inbox:
    """Has messages taken in: the first ones after a quiet second at once.

    Of many, what came is taken in together, once a second.
    """

    hass: HomeAssistant
    entry: ConfigEntry
    take_in: Callable[[Message], None]
    _waiting: Message = field(default_factory=lambda: Message([], []))
    _task: asyncio.Task[None] | None = None
    _times: int = 0
    """How often something was taken in since the last quiet second."""
    _taken_in_at: float = 0.0

    async def async_put(self, message: Message) -> None:
        """Have a message taken in; wait while there are too many."""
        self._waiting.devices.extend(message.devices)
        self._waiting.positions.extend(message.positions)
        if self._task is None or self._task.done():
            self._task = self.entry.async_create_background_task(
                self.hass,
                self._async_empty(),
                f"{DOMAIN} live news",
                # In a moment, when what came together with it is there as well.
                eager_start=False,
            )
        elif len(self._waiting) > MOST_WAITING:
            await asyncio.wait([self._task])

    @callback
    def async_flush(self) -> None:
        """Take in what waits."""
        if not self._waiting:
            return
        message, self._waiting = self._waiting, Message([], [])
        try:
            self.take_in(message)
        except Exception:  # noqa: BLE001 - the next message is taken in all the same
            LOGGER.exception(
                "%s: Unexpected error taking in what the service said",
                self.entry.title,
            )
        self._taken_in_at = monotonic()

    async def _async_empty(self) -> None:
        while self._waiting:
            # How many seconds to wait before what waits is taken in.
            left = self._taken_in_at + _SECOND - monotonic()
            self._times = 1 if left <= 0 else self._times + 1
            if self._times > _AT_ONCE:
                await asyncio.sleep(left)
            self.async_flush()
