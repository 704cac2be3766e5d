"""What is measured: this integration, and those it is held against."""

from collections.abc import Callable
from typing import Final

from tests.tools.benchmark.service.client import Addresses

from .floor import Floor
from .integration import Candidate, Integration, bike_tracker, traccar_server

CANDIDATES: Final[dict[str, Callable[[Addresses], Candidate]]] = {
    "bike_tracker": bike_tracker,
    "floor": Floor,
}
"""Candidates that poll."""

LISTENERS: Final[dict[str, Callable[[Addresses], Candidate]]] = {
    "bike_tracker": lambda addresses: bike_tracker(addresses, live=True),
    "traccar_server": traccar_server,
}
"""Candidates that show the messages of the live connection."""

__all__ = ["CANDIDATES", "LISTENERS", "Candidate", "Integration"]
