"""Writes docs/benchmarks.md."""

from collections.abc import Iterable, Iterator
from importlib.metadata import version
import os
from pathlib import Path
import platform
import sqlite3
from textwrap import fill
from typing import Final

from .candidates import CANDIDATES
from .goals import NAMES, goals
from .plan import BEYOND_THE_LIMIT, LARGE, OURS, SMALL
from .results import Results
from .scenarios import TITLES

REPORT: Final = Path(__file__).parents[2] / "docs" / "benchmarks.md"

_LIBRARIES: Final = ("autoskope_client", "pajgps-api", "pyscorpiontrack")

_INTRODUCTION: Final = """\
# What a poll costs

Home Assistant runs on small machines, and rental fleets have thousands of bikes. So the cost of a poll follows what
changed: where nothing did, nothing is read, compared or written.

`scripts/benchmark` measured all of this in one run and wrote this page. It takes about an hour, on a machine that does
nothing else; `scripts/benchmark --quick` only counts requests, states and rows, and is part of every change.

## What is measured

A Home Assistant with the recorder on SQLite, as it starts on its own, asks a simulated service in another process over
real sockets. Every candidate gets the same fleet, each fleet a process of its own, and candidates take turns.

| Candidate | What it is | Entities per tracker |
| --- | --- | --- |
| Bike Tracker | this integration | 4, and 2 that are disabled |
| the floor | two requests, two JSON lists, one object and one comparison per tracker, and the states of changed values; no \
entities, no registries, no errors: the least that anybody does | 4 states |
| the usual way | the same entities as most integrations are written: a coordinator and entities with Home Assistant's \
defaults | 4, and 2 that are disabled |
| `autoskope` | ships with Home Assistant, through its own library | 1 |
| `paj_gps` | ships with Home Assistant, through its own library | 3 |
| `scorpiontrack` | ships with Home Assistant, through its own library | 4 |

| Work | What happened before |
| --- | --- |
| set-up | The account was added. |
| idle poll, the same body | Nothing; the trackers come in the order they had. |
| idle poll, the order shuffled | Nothing; the trackers come in another order. |
| 1 % changed | One tracker of a hundred, at least one, has another place, status and last update. |
| all changed | All trackers have. |
| only `lastUpdate` new, for all | All trackers have another last update and nothing else. |

CPU is that of the event loop's thread, wall the time on the clock; both are the median of all repeats. A block is the
longest time in which the event loop did one thing and nothing else. The recorder's thread wants the same interpreter
and lengthens it; busy is for how long the event loop itself computed meanwhile, the most of all repeats. Full garbage
collections strike at random: they are in none of these, but in a column of their own, as the mean of all repeats.

Memory is what is held after set-up and one poll in which everything changed, for each tracker beyond the first.
Times move by up to a third from run to run: only ratios within one run count.
"""


def report(results: Results, repeats: int) -> str:
    """Return the page."""
    parts = [
        _INTRODUCTION,
        _paragraph(_machine(repeats)),
        "## Goals\n",
        _goals(results),
        "## CPU\n",
        "Milliseconds of the event loop's thread, and how many times that of Bike Tracker it is.\n",
    ]
    for work, title in TITLES.items():
        parts += [f"### {title[0].upper()}{title[1:]}\n", _cpu(results, work)]
    parts += [
        "## Memory\n",
        "KiB per tracker, and how many times that of Bike Tracker it is.\n",
        _memory(results),
        f"## {BEYOND_THE_LIMIT:,} trackers in one account\n",
        _limit(results),
        "## All figures\n",
    ]
    for trackers in (*SMALL, *LARGE):
        parts += [f"### {_trackers(trackers)}\n", _figures(results, trackers)]
    return "\n".join(parts)


def _machine(repeats: int) -> str:
    python, home_assistant = platform.python_version(), version("homeassistant")
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    return (
        f"This run: {os.cpu_count()} cores ({_processor()}), Python {python}, Home Assistant {home_assistant},"
        f" aiohttp {version('aiohttp')}, SQLite {sqlite3.sqlite_version}; {libraries}, which are the versions the"
        f" integrations of Home Assistant name. Set-up was measured {repeats} times, each kind of poll {repeats * 10}"
        f" times with up to 100 trackers and {repeats * 5} times with more."
    )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [
        line.partition(": ")[2] for line in lines if line.startswith("model name")
    ]
    return models[0] if models else platform.machine()


def _goals(results: Results) -> str:
    return _table(
        ("Trackers", "Work", "Goal", "Found", "Reached"),
        (
            (
                f"{goal.trackers:,}",
                goal.work,
                goal.promise,
                goal.found,
                "yes" if goal.reached else "**no**",
            )
            for goal in goals(results)
        ),
    )


def _cpu(results: Results, work: str) -> str:
    fleets = (*SMALL, *LARGE)
    return _table(
        ("", *map(_trackers, fleets)),
        (
            (
                NAMES[candidate],
                *(
                    _beside(
                        results.cpu(trackers, candidate, work) * 1000,
                        results.cpu(trackers, OURS, work) * 1000,
                    )
                    for trackers in fleets
                ),
            )
            for candidate in CANDIDATES
        ),
    )


def _memory(results: Results) -> str:
    return _table(
        ("", *map(_trackers, LARGE)),
        (
            (
                NAMES[candidate],
                *(
                    _beside(
                        results.memory_per_tracker(trackers, candidate) / 1024,
                        results.memory_per_tracker(trackers, OURS) / 1024,
                    )
                    for trackers in LARGE
                ),
            )
            for candidate in CANDIDATES
        ),
    )


def _beside(value: float, ours: float) -> str:
    return f"{value:.2f} ({value / ours:.2f} ×)"


def _limit(results: Results) -> str:
    limit = results.limits[BEYOND_THE_LIMIT]
    text = _paragraph(
        f"Home Assistant adds at most 10,000 enabled entities for one account. {limit.shown:,} trackers are shown, whole"
        f" ones; a repair issue tells of the other {limit.left_out:,}. Polls go on: when all reported,"
        f" {limit.changed:,} states changed."
    )
    return f"{text}\n" + _table(
        ("Work", "CPU ms", "Wall ms", "Block ms", "Busy ms", "Full GC ms"),
        (
            (title, *_times(results, BEYOND_THE_LIMIT, OURS, work))
            for work, title in TITLES.items()
        ),
    )


def _figures(results: Results, trackers: int) -> str:
    header = (
        "Work",
        "Candidate",
        "CPU ms",
        "Wall ms",
        "Block ms",
        "Busy ms",
        "Full GC ms",
    )
    counts_header = ("Requests", "Bytes", "`state_changed`", "Written", "Rows")
    return _table(
        header + counts_header,
        (
            (
                title,
                NAMES[candidate],
                *_times(results, trackers, candidate, work),
                *_counts(results, trackers, candidate, work),
            )
            for work, title in TITLES.items()
            for candidate in CANDIDATES
        ),
    )


def _times(results: Results, trackers: int, candidate: str, work: str) -> Iterator[str]:
    for figure in (
        results.cpu,
        results.wall,
        results.block,
        results.busy,
        results.collecting,
    ):
        yield f"{figure(trackers, candidate, work) * 1000:.2f}"


def _counts(
    results: Results, trackers: int, candidate: str, work: str
) -> Iterator[str]:
    counts = results.counts[trackers, candidate][work]
    for number in (
        counts.requests,
        counts.bytes,
        counts.changed,
        counts.written,
        counts.rows,
    ):
        yield f"{number:,}"


def _trackers(number: int) -> str:
    return f"{number:,} tracker{'s' if number > 1 else ''}"


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _paragraph(text: str) -> str:
    return fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"
