"""Measure the cost of set-up, polls and messages: python -m tests.tools.benchmark."""

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
import os
from pathlib import Path
import platform
import re
import sqlite3
import sys
from typing import Final

from tests.tools.tables import current_commit, fill

from .page import PAGE, tables
from .plan import FLEETS, FLOOR, LARGEST, OURS, PEER, Finding, Work, load, save
from .run import measure

_REPEATS: Final = 5
_ENTITIES: Final = 5
"""Number of enabled entities of each tracker."""
# Number of states that a report changes: place and status. *Last update* changes only
# every five minutes.
_CHANGED: Final = 2
_REQUESTS: Final = {
    # The devices, the positions, and eleven requests for a day of a tracker's history.
    Work.SET_UP: 13,
    Work.IDLE: 1,
    Work.SOME: 2,
    Work.CONTACT: 1,
    Work.ALL: 2,
    # The devices, and eleven requests for further days of a tracker's history.
    Work.RESTART: 12,
}
"""The right number of requests for each kind of work."""


def main() -> int:
    """Run the benchmark. Return 1 if a count is wrong, otherwise 0."""
    parser = argparse.ArgumentParser(prog="scripts/benchmark", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only count")
    parser.add_argument("--render", action="store_true", help="only write the page")
    options = parser.parse_args()
    if not options.render:
        wrong = [line for trackers in (1, 10, 100) for line in _wrong_counts(trackers)]
        print("\n".join(wrong) or "All counts of requests and states are right")
        if wrong or options.quick:
            return bool(wrong)
        save(_machine(), _run_all())
    fill(PAGE, tables(*load()))
    return 0


def _run(kind: str, candidate: str, trackers: int, times: int = 1) -> Finding:
    """Run a step in another process, and return its results."""
    print(f"{kind}: {candidate}, {trackers} trackers", flush=True)
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        found = process.submit(measure, kind, candidate, trackers, times).result()
    step = {"kind": kind, "candidate": candidate, "trackers": trackers}
    return {**step, "found": found}


def _run_all() -> list[Finding]:
    """Run all steps. Candidates run in turn, so that a slow minute of the machine affects all of them."""
    findings = []
    for trackers in FLEETS:
        for _ in range(_REPEATS):
            findings += [_run("polls", it, trackers, 3) for it in (OURS, FLOOR, PEER)]
            findings += [_run("live", it, trackers, 7) for it in (OURS, PEER)]
    findings += [_run("everything", OURS, LARGEST, 3) for _ in range(_REPEATS)]
    findings += [_run("automations", OURS, LARGEST, 10) for _ in range(_REPEATS)]
    return findings


def _wrong_counts(trackers: int) -> Iterator[str]:
    """Yield a line for each kind of work whose counts are wrong."""
    found = _run("polls", OURS, trackers)["found"]
    for work, requests in _REQUESTS.items():
        states = _CHANGED * work.reporting(trackers)
        if work in {Work.SET_UP, Work.RESTART}:
            states = _ENTITIES * trackers
        right = {"requests": requests, "states": states}
        counts = {name: found[work][0][name] for name in right}
        if counts != right:
            yield f"Wrong: {trackers} trackers, {work}: {counts} instead of {right}"


def _machine() -> str:
    """Return the commit, the machine and the versions as one line."""
    model = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    processor = model[1] if model else platform.machine()
    packages = (f"{name} {version(name)}" for name in ("aiohttp", "pytraccar"))
    return (
        f"commit `{current_commit()}`: {os.cpu_count()} cores ({processor}), Python {platform.python_version()},"
        f" Home Assistant {version('homeassistant')}, {', '.join(packages)}, SQLite {sqlite3.sqlite_version}"
    )


if __name__ == "__main__":
    sys.exit(main())
