"""A simulated service with a fleet that rides and tricks to try, for the length of an `async with`."""

import asyncio
from typing import Self, override

from tests.tools.simulator import Simulator

from .fleet import Fleet
from .tricks import Tricks

EMAIL = "demo@example.com"
PASSWORD = "demo"


class SimulatedService(Simulator):
    """A simulator with the account of the demo and its trackers."""

    def __init__(
        self, *, trackers: int = 3, is_still: bool = True, port: int = 0
    ) -> None:
        """Have a fleet of so many trackers, which rest unless asked."""
        super().__init__(port=port)
        self.add_account(EMAIL, PASSWORD)
        self.fleet = Fleet(self, trackers, EMAIL)
        self.tricks = Tricks(self, self.fleet, EMAIL)
        self._is_still = is_still

    @override
    async def __aenter__(self) -> Self:
        """Start, and let the bikes ride."""
        await self.start()
        self._riding = asyncio.create_task(self.fleet.run(0 if self._is_still else 1))
        return self

    @override
    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        self._riding.cancel()
        await self.stop()

    @property
    def polls(self) -> int:
        """How often the list of trackers was asked for."""
        return self.record.counts["/api/devices"]
