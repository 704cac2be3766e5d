"""What a piece of work costs the event loop."""

from asyncio.events import Handle
from collections.abc import Awaitable, Callable
import gc
from threading import get_ident
from time import thread_time
from typing import Any
from unittest.mock import patch

_FULL_COLLECTION = 2


class Meter:
    """Watches the event loop of the thread it is made in, for as long as the process lives."""

    def __init__(self) -> None:
        """Start watching."""
        self._thread = get_ident()
        self._handle_began = self._collected_before_handle = self._busy = 0.0
        self._collection_began = self._collecting = 0.0
        gc.callbacks.append(self._note_collection)
        self._watch_handles()

    async def measure(self, work: Callable[[], Awaitable[Any]]) -> dict[str, float]:
        """Do the work and return what it cost in seconds, full garbage collections left out.

        `cpu` is of the event loop's thread, `busy` the longest time for which it computed in one go.
        """
        self._collecting = self._busy = 0.0
        self._begin_handle()
        cpu = thread_time()
        await work()
        cpu = thread_time() - cpu
        self._end_handle()
        return {"cpu": cpu - self._collecting, "busy": self._busy}

    def _watch_handles(self) -> None:
        """Time all that the event loop runs: asyncio has a hook for that in debug mode alone."""
        run = Handle._run  # noqa: SLF001

        def timed_run(handle: Handle) -> None:
            self._begin_handle()
            run(handle)
            self._end_handle()

        patch.object(Handle, "_run", timed_run).start()

    def _begin_handle(self) -> None:
        self._collected_before_handle = self._collecting
        self._handle_began = thread_time()

    def _end_handle(self) -> None:
        collecting = self._collecting - self._collected_before_handle
        busy = thread_time() - self._handle_began - collecting
        self._busy = max(self._busy, busy)

    def _note_collection(self, phase: str, info: dict[str, int]) -> None:
        """Add up full collections in this thread."""
        if info["generation"] < _FULL_COLLECTION or get_ident() != self._thread:
            return
        if phase == "start":
            self._collection_began = thread_time()
        else:
            self._collecting += thread_time() - self._collection_began
