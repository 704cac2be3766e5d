"""The steps of the benchmark, each in its own process, and the file with the results."""

from collections.abc import Iterable
from enum import StrEnum
import json
from pathlib import Path
import subprocess
import sys
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
        """Return how many trackers report before the poll of this work."""
        if self is Work.SOME:
            return max(1, trackers // 100)
        return trackers if self is Work.ALL else 0


def run(kind: str, candidate: str, trackers: int, times: int = 1) -> Finding:
    """Run a step in another process, and return its results."""
    print(f"{kind}: {candidate}, {trackers} trackers", flush=True)
    arguments = kind, candidate, str(trackers), str(times)
    process = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "tests.tools.benchmark.run", *arguments],
        stdout=subprocess.PIPE,
        check=True,
    )
    step = {"kind": kind, "candidate": candidate, "trackers": trackers}
    return {**step, "found": json.loads(process.stdout)}


def run_all(repeats: int) -> list[Finding]:
    """Run all steps. Candidates run in turn, so that a slow minute of the machine affects all of them."""
    findings = []
    for trackers in FLEETS:
        for _ in range(repeats):
            findings += [run("polls", it, trackers, 3) for it in (OURS, FLOOR, PEER)]
            findings += [run("live", it, trackers, 7) for it in (OURS, PEER)]
    findings += [run("everything", OURS, LARGEST, 3) for _ in range(repeats)]
    findings += [run("automations", OURS, LARGEST, 10) for _ in range(repeats)]
    return findings


def save(machine: str, findings: Iterable[Finding]) -> None:
    """Save the results of a run."""
    lines = ",\n".join(map(json.dumps, findings))
    text = f'{{"run": {json.dumps(machine)}, "findings": [\n{lines}\n]}}\n'
    _MEASURED.write_text(text)


def load() -> tuple[str, list[Finding]]:
    """Return the machine and the results of the run that was saved last."""
    kept = json.loads(_MEASURED.read_text())
    return kept["run"], kept["findings"]
