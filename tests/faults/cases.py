"""What strikes, where and for how long: without Home Assistant, which pytest has to load first."""

from dataclasses import dataclass
from enum import IntEnum
from typing import override

from tests.simulator.render import Endpoint
from tests.simulator.server import ENDPOINTS as PATHS

from .trouble import TROUBLES

__all__ = ["CASES", "PATHS", "Case", "Lasted"]


class Lasted(IntEnum):
    """How long a trouble lasted, in seconds."""

    MINUTE = 60
    HOUR = 60 * 60
    DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Case:
    """A trouble of the whole service, or of the call for positions alone, for so long."""

    path: Endpoint
    trouble: str
    lasted: Lasted

    @override
    def __str__(self) -> str:
        """Return a name for the case."""
        return f"{self.path}-{self.trouble}-{self.lasted.name.lower()}"


CASES = [
    Case(path, name, lasted)
    for path in PATHS
    for name, trouble in TROUBLES.items()
    if path == "devices" or trouble.strikes_positions
    for lasted in Lasted
]
