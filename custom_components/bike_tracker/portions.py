"""Work that is done in portions the event loop can bear."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback

from .const import LOGGER


@dataclass(slots=True, eq=False)
class Portions[T]:
    """Does the same with many items: a portion at once, or all of them by and by.

    Setting up 1,000 trackers keeps the event loop busy for 14 milliseconds in one go, and
    for more than a second without portions.
    """

    hass: HomeAssistant
    entry: ConfigEntry
    work: Callable[[Sequence[T]], None]
    at_a_time: int
    _waiting: dict[T, None] = field(default_factory=dict)
    _task: asyncio.Task[None] | None = None
    _closed: bool = False

    def __post_init__(self) -> None:
        """Begin with nothing to do, and end when the entry is unloaded."""
        self.entry.async_on_unload(self.async_close)

    @callback
    def async_add(self, items: Iterable[T]) -> None:
        """Do it with these items too, each once, however often it is added meanwhile."""
        if self._closed:
            return
        self._waiting.update(dict.fromkeys(items))
        is_at_work = self._task is not None and not self._task.done()
        if len(self._waiting) > self.at_a_time and not is_at_work:
            # What led to so many was long work itself: hence not at once.
            self._task = self.entry.async_create_task(
                self.hass, self._async_work(), eager_start=False
            )
        elif self._waiting and not is_at_work:
            self._do_portion()

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
        portion = list(islice(self._waiting, self.at_a_time))
        for item in portion:
            del self._waiting[item]
        try:
            self.work(portion)
        except Exception:  # noqa: BLE001 - the others have their turn all the same
            LOGGER.exception("%s: Unexpected error", self.entry.title)
