"""The steps of a run, each in a process of its own, and the file with their results."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import version
import json
import os
from pathlib import Path
import platform
import sqlite3
from statistics import median
import subprocess
import sys
from typing import Final, Self, override

from tests.tools.commit import current_commit

OURS: Final = "bike_tracker"
FLOOR: Final = "floor"
PEER: Final = "traccar_server"
FLEETS: Final = (10, 100, 500)
LARGEST: Final = FLEETS[-1]
TRIGGERS: Final = 10
_MEASURED: Final = Path(__file__).parent / "measured.json"

type Found = dict[str, list[dict[str, float]]]
"""Figures by name, for each time that a work was done."""


class Work(StrEnum):
    """What a candidate does, as the page calls it."""

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
        """Return the number of trackers that report before a poll."""
        if self is Work.SOME:
            return max(1, trackers // 100)
        return trackers if self is Work.ALL else 0


POLLS: Final = (Work.IDLE, Work.SOME, Work.CONTACT, Work.ALL)
_ENTITIES: Final = 5
"""Enabled entities of each tracker."""
_CHANGED: Final = 2
"""States that a report changes: the place and the status. The last update follows in steps of five minutes."""
_REQUESTS: Final = {
    # A set-up requests both lists, the history, and ten days of rides from before.
    Work.SET_UP: 13,
    Work.IDLE: 1,
    Work.SOME: 2,
    Work.CONTACT: 1,
    Work.ALL: 2,
    # Both lists, and the next ten days.
    Work.RESTART: 12,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One candidate with one fleet."""

    kind: str
    candidate: str
    trackers: int
    times: int = 1

    @override
    def __str__(self) -> str:
        return f"{self.kind}: {self.candidate}, {self.trackers} trackers"

    def run(self) -> Found:
        """Run the step in another process."""
        arguments = (self.kind, self.candidate, str(self.trackers), str(self.times))
        process = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "tests.tools.benchmark.run", *arguments],
            stdout=subprocess.PIPE,
            check=True,
        )
        found: Found = json.loads(process.stdout)
        return found


def counts() -> list[Step]:
    """Return the steps that count and take no times."""
    return [Step("count", OURS, trackers) for trackers in (1, 10, 100)]


def measurements(repeats: int) -> list[Step]:
    """Return all measurements. Candidates take turns, so that a slow minute affects all of them."""
    return [
        step
        for trackers in FLEETS
        for _ in range(repeats)
        for step in (
            *(Step("polls", name, trackers, 3) for name in (OURS, FLOOR, PEER)),
            *(Step("live", name, trackers, 7) for name in (OURS, PEER)),
        )
    ] + [
        *[Step("everything", OURS, LARGEST, 3)] * repeats,
        *[Step("automations", OURS, LARGEST, 10)] * repeats,
    ]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one step."""

    kind: str
    candidate: str
    trackers: int
    found: Found


def wrong_counts(findings: Iterable[Finding]) -> list[str]:
    """Return a line for each work with wrong counts."""
    return [
        f"Wrong: {finding.trackers} trackers, {work}: {found} instead of {right}"
        for finding in findings
        for work in _REQUESTS
        for right in [_right_counts(work, finding.trackers)]
        for found in finding.found[work]
        if found != right
    ]


def _right_counts(work: Work, trackers: int) -> dict[str, float]:
    if work in {Work.SET_UP, Work.RESTART}:
        changed = _ENTITIES * trackers
    else:
        changed = _CHANGED * work.reporting(trackers)
    return {"requests": _REQUESTS[work], "changed": changed}


@dataclass(frozen=True, slots=True)
class Results:
    """The results of all steps, and the machine and versions."""

    run: str
    findings: Sequence[Finding]

    @classmethod
    def load(cls) -> Self:
        """Return the results of the last run."""
        kept = json.loads(_MEASURED.read_text())
        return cls(kept["run"], [Finding(**finding) for finding in kept["findings"]])

    def save(self) -> None:
        """Keep the results."""
        findings = [json.dumps(asdict(finding)) for finding in self.findings]
        lines = ",\n".join(findings)
        _MEASURED.write_text(
            f'{{"run": {json.dumps(self.run)}, "findings": [\n{lines}\n]}}\n'
        )

    def get(
        self,
        candidate: str,
        trackers: int,
        work: Work,
        figure: str = "cpu",
        *,
        everything: bool = False,
        average: Callable[[list[float]], float] = median,
    ) -> float:
        """Return a figure over all repeats, of trackers that report their place or everything."""
        return average(
            [
                figures[figure]
                for finding in self.findings
                if (finding.candidate, finding.trackers) == (candidate, trackers)
                and (finding.kind == "everything") is everything
                for figures in finding.found.get(work, ())
            ]
        )


def machine() -> str:
    """Return the commit, the machine and the versions in one line."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(": ")[2] for line in lines if "model name" in line]
    processor = models[0] if models else platform.machine()
    packages = (f"{name} {version(name)}" for name in ("aiohttp", "pytraccar"))
    return (
        f"commit `{current_commit()}`: {os.cpu_count()} cores ({processor}), Python {platform.python_version()},"
        f" Home Assistant {version('homeassistant')}, {', '.join(packages)}, SQLite {sqlite3.sqlite_version}"
    )
