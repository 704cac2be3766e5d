"""What every candidate can do."""

from typing import Protocol

from homeassistant.core import HomeAssistant

from tests.benchmark.service.client import Addresses


class Candidate(Protocol):
    """One way to show a fleet in Home Assistant."""

    async def set_up(self, hass: HomeAssistant, addresses: Addresses) -> None:
        """Show the fleet for the first time."""

    async def poll(self) -> None:
        """Ask for news, and show them before this returns."""
