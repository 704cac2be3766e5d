"""What is run in which order, each step in a process of its own."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
import json
import subprocess
import sys
from typing import Final, override

from .results import Found

SMALL: Final = (1, 10, 100)
LARGE: Final = 1_000
EVERYTHING: Final = 500
"""Trackers that report all there is: as many as everything stays smooth with."""
TRIGGERS: Final = 10
LIVE_FLEETS: Final = (1, 100, LARGE)
OURS: Final = "bike_tracker"
FLOOR: Final = "floor"
LIVE_PEER: Final = "traccar_server"

_TIMES: Final = {"time": 5, "everything": 3, "live": 7, "automations": 10}
"""How often a step does each kind of work."""


class StepError(Exception):
    """A step failed; says how to see it alone."""


@dataclass(frozen=True, slots=True)
class Step:
    """One candidate with one fleet."""

    kind: str
    candidate: str
    trackers: int

    @override
    def __str__(self) -> str:
        """Return what a person who waits wants to read."""
        return f"{self.kind}: {self.candidate}, {in_words(self.trackers)}"

    def run(self) -> Found:
        """Run it and return what it found out; raise StepError if it fails."""
        command = ["-m", "tests.tools.benchmark.run", self.kind, self.candidate]
        command += [str(self.trackers), str(_TIMES.get(self.kind, 1))]
        process = subprocess.run(  # noqa: S603
            [sys.executable, *command], capture_output=True, text=True, check=False
        )
        with suppress(json.JSONDecodeError):
            if process.returncode == 0:
                found: Found = json.loads(process.stdout)
                return found
        last_lines = "\n".join(f"{process.stdout}{process.stderr}".splitlines()[-20:])
        raise StepError(
            f"{self}\n{last_lines}\nTo see it alone: python {' '.join(command)}"
        )


def in_words(trackers: int) -> str:
    """Return a number of trackers as people read it."""
    return f"{trackers:,} tracker{'s' if trackers > 1 else ''}"


def quick() -> list[Step]:
    """Count alone, with small fleets."""
    return _each("count", (OURS, FLOOR), SMALL)


def polls(repeats: int) -> list[Step]:
    """Set-ups and polls. Candidates take turns, so that a slow minute strikes all of them."""
    candidates = OURS, FLOOR
    return [
        *_each("count", candidates, (*SMALL, LARGE)),
        *_each("memory", candidates, (1, LARGE)),
        *_each("time", candidates, (*SMALL, LARGE)) * repeats,
    ]


def everything(repeats: int) -> list[Step]:
    """Set-ups, polls and unloads of trackers that report all there is."""
    return _each("everything", (OURS,), (EVERYTHING,)) * repeats


def live(repeats: int) -> list[Step]:
    """Messages of the live connection."""
    return _each("live", (OURS, LIVE_PEER), LIVE_FLEETS) * repeats


def automations(repeats: int) -> list[Step]:
    """What triggers cost."""
    return [Step("automations", OURS, LARGE)] * repeats


PARTS: Final = {
    "polls": polls,
    "everything": everything,
    "live": live,
    "automations": automations,
}
"""What the page is made of; each can be measured alone."""


def _each(kind: str, candidates: Sequence[str], fleets: Sequence[int]) -> list[Step]:
    return [
        Step(kind, candidate, trackers)
        for trackers in fleets
        for candidate in candidates
    ]
