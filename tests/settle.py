"""Letting what is under way come to its end, while time stands still."""

import asyncio
from typing import Any

from homeassistant.core import HomeAssistant

from custom_components.bike_tracker.const import DOMAIN

from .tools.simulator.wire import pause

# So often the event loop has its turn, which is what sockets on this machine take.
_TURNS = 25
# On a busy machine a poll or a set-up may wait for the disk, in a thread of its own.
_PATIENCE = 100
_MOMENT = 0.001


async def settle(hass: HomeAssistant | None) -> None:
    """Let what is under way come to its end, but for listening."""
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
    """Return whether it is one that Home Assistant itself does not wait for."""
    name = task.get_name()
    if name.startswith(DOMAIN):
        return name.endswith((" poll", " poll on demand", " history", " - refresh"))
    return name.startswith(f"config entry retry {DOMAIN}")
