"""Measure the CPU time that some work needs in the event loop."""

import asyncio
from asyncio.events import Handle
from collections.abc import Awaitable, Callable
import gc
from time import thread_time
from typing import Any
from unittest.mock import patch

_NEVER = 1_000_000


async def cost_of(work: Callable[[], Awaitable[Any]]) -> dict[str, float]:
    """Do the work, and return its cost in seconds, without full garbage collections.

    `cpu` is the CPU time of the event loop's thread, and `busy` the CPU time of its longest
    step, the call of a handle. Asyncio itself times steps only in debug mode.
    """
    gc.collect()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _NEVER)
    run, began, busy = Handle._run, 0.0, 0.0  # noqa: SLF001

    def timed_run(handle: Handle) -> None:
        nonlocal began, busy
        began = thread_time()
        run(handle)
        busy = max(busy, thread_time() - began)

    with patch.object(Handle, "_run", timed_run):
        # The rest of this function runs in a new step, which is timed, too.
        await asyncio.sleep(0)
        before, busy = thread_time(), 0.0
        await work()
        now = thread_time()
    return {"cpu": now - before, "busy": max(busy, now - began)}
