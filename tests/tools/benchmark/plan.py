"""What is run in which order, each step in a process of its own."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
import json
import os
import subprocess
import sys
from typing import Any, Final, override

from .automations import FEW, MANY, TIMES as TIMES_OF_NEWS
from .candidates import CANDIDATES, LISTENERS
from .reports import TIMES as TIMES_OF_REPORTS

SMALL: Final = (1, 10, 100)
LARGE: Final = (1_000, 2_000)
MOST: Final = 2_500
"""As many as Home Assistant shows of one account, without optional entities."""
BEYOND_THE_LIMIT: Final = 4_000
PROFILED: Final = 1_000
FULL: Final = 1_000
OURS: Final = "bike_tracker"
USUAL: Final = "usual_way"
RECORDED: Final = "full"
UNRECORDED: Final = "full_unrecorded"
"""Kinds of runs with trackers that report all there is."""
REPORTS: Final = "reports"
AUTOMATIONS: Final = "automations"
GUARD: Final = "guard"
LIVE: Final = "live"
IDLE: Final = "idle"
LIVE_MEMORY: Final = "live_memory"
LIVE_KINDS: Final = (LIVE, IDLE, LIVE_MEMORY)
"""Kinds of runs with candidates that listen."""
LIVE_FLEETS: Final = (*SMALL, 1_000)
"""Fleets of which the service tells news."""
IDLERS: Final = (1, 1_000)
"""Fleets of which it tells nothing for an hour, or that a bike of is stolen."""

_POLLS_OF_SMALL: Final = 10
_POLLS_OF_LARGE: Final = 5
_POLLS_OF_FULL: Final = 3
_BURST: Final = 7
_HOURS: Final = 3


FOLDER: Final = "BENCHMARK_FOLDER"
"""The variable that names where another version of this integration is."""


class StepError(Exception):
    """A step failed; says how to see it alone."""


@dataclass(frozen=True, slots=True)
class Step:
    """One candidate with one fleet."""

    kind: str
    candidate: str
    trackers: int
    polls: int = 1
    folder: str | None = None
    """Where another version of this integration is."""

    @override
    def __str__(self) -> str:
        """Return what a person who waits wants to read."""
        return f"{self.kind}: {self.candidate}, {in_words(self.trackers)}"

    def run(self) -> dict[str, Any]:
        """Run it and return what it found out; raise StepError if it fails."""
        command = ["-m", "tests.tools.benchmark.run", self.kind, self.candidate]
        command += [str(self.trackers), str(self.polls)]
        process = subprocess.run(  # noqa: S603
            [sys.executable, *command],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | ({FOLDER: self.folder} if self.folder else {}),
        )
        with suppress(json.JSONDecodeError):
            if process.returncode == 0:
                found: dict[str, Any] = json.loads(process.stdout)
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
    return list(_all("count", SMALL))


def polls(repeats: int) -> list[Step]:
    """Set-ups and polls. Candidates take turns, so that a slow minute strikes all of them."""
    steps = [
        *_all("count", SMALL + LARGE),
        *_all("memory", (1, *LARGE)),
        Step("limit", OURS, BEYOND_THE_LIMIT),
        *(Step("profile", name, PROFILED, _POLLS_OF_LARGE) for name in (OURS, USUAL)),
    ]
    for _ in range(repeats):
        steps += _all("time", SMALL, _POLLS_OF_SMALL)
        steps += _all("time", LARGE, _POLLS_OF_LARGE)
        steps.append(Step("time", OURS, MOST, _POLLS_OF_LARGE))
        for kind in (RECORDED, UNRECORDED):
            for name in (OURS, USUAL):
                steps.append(Step(kind, name, FULL, _POLLS_OF_FULL))
    return steps


def live(repeats: int) -> list[Step]:
    """What the service tells by itself."""
    steps = [Step(LIVE_MEMORY, OURS, trackers) for trackers in IDLERS]
    for _ in range(repeats):
        for kind, fleets, times in (
            (LIVE, LIVE_FLEETS, _BURST),
            (IDLE, IDLERS, _HOURS),
        ):
            for trackers in fleets:
                steps += [Step(kind, name, trackers, times) for name in LISTENERS]
    return steps


def reports(repeats: int) -> list[Step]:
    """What a report costs alone."""
    return [Step(REPORTS, OURS, PROFILED)] * repeats


def automations(repeats: int) -> list[Step]:
    """What triggers cost."""
    steps = [
        Step(AUTOMATIONS, OURS, trackers, triggers)
        for triggers, trackers in (FEW, MANY)
    ]
    return steps * repeats


def guard(repeats: int) -> list[Step]:
    """What guards cost."""
    return [Step(GUARD, OURS, trackers, _BURST) for trackers in IDLERS] * repeats


def times(part: str, repeats: int) -> str:
    """Return how often each work of a part of the page is timed, as a sentence."""
    if part == REPORTS:
        return f"Each was timed {repeats * TIMES_OF_REPORTS} times."
    if part == AUTOMATIONS:
        return f"Each was timed {repeats * TIMES_OF_NEWS} times."
    if part == GUARD:
        return f"Each was timed {repeats * _BURST} times."
    if part == LIVE:
        return f"News of each kind was told {repeats * _BURST} times, and {repeats * _HOURS} hours passed without."
    return (
        f"Set-up was timed {repeats} times, each kind of poll {repeats * _POLLS_OF_SMALL} times with up to"
        f" {SMALL[-1]} trackers and {repeats * _POLLS_OF_LARGE} times with more."
    )


PARTS: Final = {
    "polls": polls,
    LIVE: live,
    REPORTS: reports,
    AUTOMATIONS: automations,
    GUARD: guard,
}
"""What the page is made of; each can be measured alone."""


def _all(kind: str, fleets: Iterable[int], polls: int = 1) -> Iterator[Step]:
    for trackers in fleets:
        for candidate in CANDIDATES:
            yield Step(kind, candidate, trackers, polls)
