"""What strikes, where and for how long: without Home Assistant, which pytest has to load first."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, override

from tests.tools.simulator import LIVE_FAULTS
from tests.tools.simulator.render import Endpoint
from tests.tools.simulator.server import ENDPOINTS

from .trouble import TROUBLES

__all__ = ["CASES", "PATHS", "Case", "Lasted", "Path"]

type Path = Endpoint | Literal["live"]

PATHS: tuple[Path, ...] = (*ENDPOINTS, "live")


class Lasted(IntEnum):
    """How long a trouble lasted, in seconds."""

    MINUTE = 60
    HOUR = 60 * 60
    DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Case:
    """A trouble of the whole service, or of a part of it alone, for so long.

    The parts are the call for positions and the live connection.
    """

    path: Path
    trouble: str
    lasted: Lasted

    @override
    def __str__(self) -> str:
        """Return a name for the case."""
        return f"{self.path}-{self.trouble}-{self.lasted.name.lower()}"


CASES = [
    Case(path, name, lasted)
    for path in ENDPOINTS
    for name, trouble in TROUBLES.items()
    if path == "devices" or trouble.strikes_positions
    for lasted in Lasted
]
CASES += [
    Case("live", name, lasted)
    for name in LIVE_FAULTS
    # After a day it is as after an hour: the waits grow no more.
    for lasted in (Lasted.MINUTE, Lasted.HOUR)
]
