"""Work that is done in portions the event loop can bear."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from time import thread_time

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback

from .const import LOGGER
from .identity import name_of

# The event loop must never compute for more than 50 milliseconds in one go, on slow
# machines too. Small portions cost more than large ones: 300 trackers with nine entities
# take 175 microseconds each in portions of 15 ms when all changed, and 192 in portions of
# 4 ms; each entity takes 155 at set-up in portions of 16 ms, 172 in those of 8 ms, and 148
# in a single one, which would be 400 ms.
_LONG_PORTION = 0.02


class Backlog[T]:
    """Does the same with many items: some at once, the others by and by."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        name: str,
        work: Callable[[Sequence[T]], None],
        at_a_time: int,
    ) -> None:
        """Begin with nothing to do; do so many at a time, or fewer if that takes long."""
        self._hass = hass
        self._entry = entry
        self._name = name
        self._work = work
        self._at_a_time = self._most_at_a_time = at_a_time
        self._waiting: dict[T, None] = {}
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        entry.async_on_unload(self.async_close)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing waits to be done."""
        return not self._waiting

    @callback
    def async_add(self, items: Iterable[T]) -> None:
        """Do it with these items too, each once, however often it is added meanwhile.

        What is no more than a portion is done at once, without a task.
        """
        if self._closed:
            return
        self._waiting.update(dict.fromkeys(items))
        is_at_work = self._task is not None and not self._task.done()
        if not self._waiting or is_at_work:
            return
        if len(self._waiting) <= self._at_a_time:
            self._do_portion()
            return
        self._task = self._entry.async_create_task(
            self._hass,
            self._async_work(),
            self._name,
            # What led to so many was long work itself.
            eager_start=False,
        )

    @callback
    def async_close(self) -> None:
        """Do nothing more: neither what waits nor what would come."""
        self._closed = True
        self._waiting.clear()

    async def async_finish(self) -> None:
        """Wait until there is nothing left to do."""
        if self._task is not None:
            await self._task

    async def _async_work(self) -> None:
        while self._waiting:
            self._do_portion()
            if self._waiting:
                await asyncio.sleep(0)

    def _do_portion(self) -> None:
        portion = list(islice(self._waiting, self._at_a_time))
        for item in portion:
            del self._waiting[item]
        began = thread_time()
        try:
            self._work(portion)
        except Exception:  # noqa: BLE001 - the others have their turn all the same
            account = name_of(self._entry)
            LOGGER.exception("%s: Unexpected error: %s", account, self._name)
        self._adapt(thread_time() - began)

    def _adapt(self, seconds: float) -> None:
        if seconds > _LONG_PORTION:
            self._at_a_time = max(1, self._at_a_time // 2)
        elif seconds < _LONG_PORTION / 2:
            self._at_a_time = min(2 * self._at_a_time, self._most_at_a_time)
