"""What is measured: this integration, and those it is held against."""

from collections.abc import Callable
from typing import Final

from tests.tools.benchmark.service.client import Addresses

from .candidate import Candidate
from .floor import Floor
from .integration import (
    Integration,
    bike_tracker,
    live_bike_tracker,
    scorpiontrack,
    traccar_server,
    usual_way,
)

CANDIDATES: Final[dict[str, Callable[[Addresses], Candidate]]] = {
    "bike_tracker": bike_tracker,
    "floor": Floor,
    "usual_way": usual_way,
    "scorpiontrack": scorpiontrack,
}
"""Candidates that poll."""

LISTENERS: Final[dict[str, Callable[[Addresses], Candidate]]] = {
    "bike_tracker": live_bike_tracker,
    "traccar_server": traccar_server,
}
"""Candidates that take in what the service says by itself."""

__all__ = ["CANDIDATES", "LISTENERS", "Candidate", "Integration"]
