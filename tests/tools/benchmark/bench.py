"""What a run works with."""

from dataclasses import dataclass

from homeassistant.core import HomeAssistant

from .candidates import Candidate
from .service import Service


@dataclass(frozen=True, slots=True)
class Bench:
    """A Home Assistant, a service and a candidate that is not set up yet."""

    hass: HomeAssistant
    service: Service
    candidate: Candidate
    trackers: int
    times: int
    """How often each kind of work is done."""

    async def set_up(self) -> None:
        """Show the fleet for the first time."""
        await self.candidate.set_up(self.hass)
