"""What a piece of work costs the event loop."""

from asyncio.events import Handle
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
import gc
from threading import get_ident
from time import perf_counter, thread_time
from typing import Any
from unittest.mock import patch

_FULL_COLLECTION = 2


@dataclass(frozen=True, slots=True)
class Cost:
    """What one piece of work cost, in seconds; full garbage collections are told apart."""

    cpu: float
    """Of the event loop's thread."""
    wall: float
    block: float
    """The longest time in which the event loop ran one thing and nothing else, waiting for other threads included."""
    busy: float
    """The longest time for which its thread computed meanwhile."""
    collecting: float
    """In full garbage collections, which are in none of the above."""


class Meter:
    """Watches the event loop of the thread it is made in, for as long as the process lives."""

    def __init__(self) -> None:
        """Start watching."""
        self._thread = get_ident()
        self._handle_began = 0.0, 0.0
        self._collected_before_handle = 0.0, 0.0
        self._block = self._busy = 0.0
        self._collection_began = 0.0, 0.0
        self._collecting = 0.0
        self._collecting_cpu = 0.0
        gc.callbacks.append(self._note_collection)
        self._watch_handles()

    async def measure(self, work: Callable[[], Awaitable[Any]]) -> Cost:
        """Do the work and return what it cost."""
        self._collecting = self._collecting_cpu = self._block = self._busy = 0.0
        self._begin_handle()
        wall, cpu = perf_counter(), thread_time()
        await work()
        cpu, wall = thread_time() - cpu, perf_counter() - wall
        self._end_handle()
        return Cost(
            cpu=cpu - self._collecting_cpu,
            wall=wall - self._collecting,
            block=self._block,
            busy=self._busy,
            collecting=self._collecting,
        )

    def _watch_handles(self) -> None:
        """Time all that the event loop runs: asyncio has a hook for that in debug mode alone."""
        run = Handle._run  # noqa: SLF001

        def timed_run(handle: Handle) -> None:
            self._begin_handle()
            run(handle)
            self._end_handle()

        patch.object(Handle, "_run", timed_run).start()

    def _begin_handle(self) -> None:
        self._collected_before_handle = self._collecting, self._collecting_cpu
        self._handle_began = perf_counter(), thread_time()

    def _end_handle(self) -> None:
        wall, cpu = self._handle_began
        collecting, collecting_cpu = self._collected_before_handle
        block = perf_counter() - wall - (self._collecting - collecting)
        busy = thread_time() - cpu - (self._collecting_cpu - collecting_cpu)
        self._block, self._busy = max(self._block, block), max(self._busy, busy)

    def _note_collection(self, phase: str, info: dict[str, int]) -> None:
        """Add up full collections: whichever thread they are in, the others wait."""
        if info["generation"] < _FULL_COLLECTION:
            return
        if phase == "start":
            self._collection_began = perf_counter(), thread_time()
            return
        wall, cpu = self._collection_began
        self._collecting += perf_counter() - wall
        if get_ident() == self._thread:
            self._collecting_cpu += thread_time() - cpu
