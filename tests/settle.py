"""Wait until everything under way has ended, while the clock is frozen."""

import asyncio
from typing import Any

from homeassistant.core import HomeAssistant

from custom_components.bike_tracker.const import DOMAIN

from .tools.simulator.wire import pause

# Turns of the event loop that data needs to pass a socket on this machine.
_TURNS = 25
# On a busy machine, a poll or a set-up may wait for the disk in a thread.
_PATIENCE = 100
_MOMENT = 0.001


async def settle(hass: HomeAssistant | None) -> None:
    """Wait until everything under way has ended, except listening."""
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
    """Return whether Home Assistant itself does not wait for this task."""
    name = task.get_name()
    if name.startswith(DOMAIN):
        return name.endswith((" poll", " poll on demand", " history", " - refresh"))
    return name.startswith(f"config entry retry {DOMAIN}")
