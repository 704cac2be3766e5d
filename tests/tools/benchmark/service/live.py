"""What the service says by itself, and when."""

import asyncio
from collections.abc import Callable
from time import monotonic_ns
from typing import Final

from tests.tools.simulator import Simulator

from .fleet import Fleet

SOON: Final = 0.1
"""Seconds until it is said: whoever asks for it first has to listen."""
APART: Final = 0.02
"""Seconds between two signs of life."""


class Live:
    """Says what is new of the fleet, and gives signs of life, when told to."""

    def __init__(self, simulator: Simulator, fleet: Fleet) -> None:
        """Say it through the simulator's sockets."""
        self._live = simulator.live
        self._fleet = fleet
        self._told_at = 0

    @property
    def commands(self) -> dict[str, Callable[[int], int]]:
        """What can be asked for by name, with a number; each answers with one."""
        return {
            "sockets": lambda _: len(self._live.sockets),
            "tell": self._tell_soon,
            "told_at": lambda _: self._told_at,
            "keep_alive": lambda times: self._often(times, self._live.keep_alive),
            "ping": lambda times: self._often(times, self._ping),
        }

    def _tell_soon(self, trackers: int) -> int:
        """Have so many trackers report soon: two messages each, of the device and of its position."""
        asyncio.get_running_loop().call_later(SOON, self._tell, trackers)
        return 0

    def _tell(self, trackers: int) -> None:
        self._told_at = monotonic_ns()
        self._fleet.commands["report"](trackers)

    def _often(self, times: int, give: Callable[[], None]) -> int:
        """Do something so many times, as far apart that each is noticed by itself."""
        for number in range(times):
            asyncio.get_running_loop().call_later(SOON + number * APART, give)
        return 0

    def _ping(self) -> None:
        for socket in self._live.sockets:
            self._pinging = asyncio.create_task(socket.web.ping())
