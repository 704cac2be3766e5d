"""What every candidate can do."""

from typing import Protocol

from homeassistant.core import HomeAssistant


class PollError(Exception):
    """A poll failed, so what it cost says nothing."""


class Candidate(Protocol):
    """One way to show a fleet in Home Assistant."""

    async def set_up(self, hass: HomeAssistant) -> None:
        """Show the fleet for the first time."""

    async def poll(self) -> None:
        """Ask for news, and show them before this returns; raise PollError if that fails."""
