"""Measure the CPU time that some work needs in the event loop."""

from asyncio.events import Handle
from collections.abc import Awaitable, Callable
import gc
from threading import get_ident
from time import thread_time
from typing import Any
from unittest.mock import patch

_FULL_COLLECTION = 2


class Meter:
    """Measures the event loop of this thread, until the process ends."""

    def __init__(self) -> None:
        """Patch `Handle._run` to time each step of the event loop. Asyncio itself times steps only in debug mode."""
        self._thread = get_ident()
        self._began = self._busy = self._collection_began = self._collected = 0.0
        gc.callbacks.append(self._note_collection)
        run = Handle._run  # noqa: SLF001

        def timed_run(handle: Handle) -> None:
            self._began = self._now()
            run(handle)
            self._end_handle()

        patch.object(Handle, "_run", timed_run).start()

    async def measure(self, work: Callable[[], Awaitable[Any]]) -> dict[str, float]:
        """Do the work, and return its cost in seconds. Full garbage collections are left out.

        `cpu` is the CPU time of the event loop's thread, and `busy` the time of its
        longest step.
        """
        self._busy = 0.0
        self._began = before = self._now()
        await work()
        cpu = self._now() - before
        self._end_handle()
        return {"cpu": cpu, "busy": self._busy}

    def _now(self) -> float:
        """Return the CPU time of the thread, without full garbage collections."""
        return thread_time() - self._collected

    def _end_handle(self) -> None:
        self._busy = max(self._busy, self._now() - self._began)

    def _note_collection(self, phase: str, info: dict[str, int]) -> None:
        if info["generation"] < _FULL_COLLECTION or get_ident() != self._thread:
            return
        if phase == "start":
            self._collection_began = thread_time()
        else:
            self._collected += thread_time() - self._collection_began
