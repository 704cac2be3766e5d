"""A function that waits until all started polls, set-ups and other tasks have ended, while the clock stays frozen."""

import asyncio
from typing import Any

from homeassistant.core import HomeAssistant

from custom_components.bike_tracker.const import DOMAIN

from .simulator.wire import pause

# The number of turns of the event loop that data needs at most to pass a local socket.
_TURNS = 25
# Check at most `_PATIENCE` times, with pauses of `_MOMENT` seconds, whether all polls
# and set-ups have ended: on a busy machine, they may wait for the disk.
_PATIENCE = 100
_MOMENT = 0.001


async def settle(hass: HomeAssistant | None) -> None:
    """Wait until all started polls, set-ups and other tasks have ended, except the live connection."""
    for _ in range(2):
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        if hass is not None:
            await hass.async_block_till_done()
        for _ in range(_PATIENCE):
            if not any(map(_asks, asyncio.all_tasks())):
                break
            await pause(_MOMENT)


def _asks(task: asyncio.Task[Any]) -> bool:
    """Return whether a task is a poll, a history request or a retried set-up: `async_block_till_done` skips these."""
    name = task.get_name()
    if name.startswith(DOMAIN):
        return name.endswith((" poll", " poll on demand", " history", " - refresh"))
    return name.startswith(f"config entry retry {DOMAIN}")
