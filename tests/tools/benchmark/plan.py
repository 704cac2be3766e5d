"""The kinds of work, the candidates and the fleets of the benchmark, and the file with the results."""

from collections.abc import Iterable
from enum import StrEnum
import json
from pathlib import Path
from typing import Any, Final

OURS: Final = "bike_tracker"
FLOOR: Final = "floor"
PEER: Final = "traccar_server"
FLEETS: Final = (10, 100, 500)
LARGEST: Final = FLEETS[-1]
TRIGGERS: Final = 10
_MEASURED: Final = Path(__file__).parent / "measured.json"

type Figures = dict[str, float]
type Found = dict[str, list[Figures]]
"""For each work, the figures of all repeats."""
type Finding = dict[str, Any]
"""The results of a step: its kind, candidate, number of trackers and figures."""


class Work(StrEnum):
    """The kinds of work that are measured, with their names on the page."""

    SET_UP = "set-up"
    RESTART = "set-up after a restart"
    IDLE = "idle poll"
    SOME = "1 % changed"
    CONTACT = "contact only"
    ALL = "all changed"
    MESSAGE = "one reports live"
    MESSAGES = "all report live at once"
    TRIGGERS = "triggers"

    def reporting(self, trackers: int) -> int:
        """Return how many trackers report a new place before the poll of this work."""
        if self is Work.SOME:
            return max(1, trackers // 100)
        return trackers if self is Work.ALL else 0


def save(machine: str, findings: Iterable[Finding]) -> None:
    """Save the results of a run."""
    lines = ",\n".join(map(json.dumps, findings))
    text = f'{{"run": {json.dumps(machine)}, "findings": [\n{lines}\n]}}\n'
    _MEASURED.write_text(text)


def load() -> tuple[str, list[Finding]]:
    """Return the machine and the results of the run that was saved last."""
    kept = json.loads(_MEASURED.read_text())
    return kept["run"], kept["findings"]
