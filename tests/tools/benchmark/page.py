"""Writes docs/benchmarks.md."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.tools.tables import DOCS, as_markdown

from .plan import (
    EVERYTHING,
    FLOOR,
    LARGE,
    LIVE_FLEETS,
    LIVE_PEER,
    OURS,
    PARTS,
    SMALL,
    TRIGGERS,
    USUAL,
    in_words,
)
from .results import Results, load
from .scenarios import (
    ALL,
    ALL_REPORTED,
    IDLE,
    ONE,
    SAME_BODY,
    SET_UP,
    SHUFFLED,
    SOME_REPORTED,
    STORE,
    TITLES,
    TITLES_OF_EVERYTHING,
)

PAGE: Final = DOCS / "benchmarks.md"
_NAMES: Final = {
    OURS: "Bike Tracker",
    FLOOR: "the floor",
    USUAL: "the usual way",
    LIVE_PEER: "`traccar_server`",
}
_NEWS: Final = {ONE: "one reports", ALL: "all report at once", IDLE: "an idle poll"}
_LONGEST: Final = 0.05
_MOST_OF_TRIGGERS: Final = 0.0003

_HEAD: Final = """\
# What polls and messages cost

Of the event loop's thread, which all of Home Assistant shares. The cost of a poll follows what changed: where nothing did, nothing is
read, compared or written.

`scripts/benchmark` measured all of this and wrote this page. It takes half an hour, on a machine that does nothing else.
`scripts/benchmark --quick` only counts requests, states and rows, and is part of every change. Times move by up to a third from run to
run: only ratios within one run count. What five bikes write in a week is in [week.md](week.md).

A Home Assistant with the recorder on SQLite asks a simulated service in another process over real sockets. Every candidate gets the
same fleet, with rows as long as real ones, and they take turns:

- **Bike Tracker**: this integration, 5 entities of each tracker, and 2 that are disabled.
- **The floor**: two requests, two JSON lists, one object and one comparison per tracker, and 4 states; no entities, no registries, no
  errors: the least that anybody does.
- **The usual way**: the same entities as most integrations are written, a coordinator and entities with Home Assistant's defaults.
- **`traccar_server`**, which ships with Home Assistant and lives of the live connection alone: 1 entity, and 8 that are disabled.

## Goals
"""
_POLLS: Final = """\
## Set-ups and polls

Milliseconds, and how many times that of Bike Tracker it is; KiB for memory.
"""
_EVERYTHING: Final = f"""\
## {EVERYTHING} trackers that report everything

Each has all its entities, rides, and a day of one report a minute in the service's history. *In one go* is the longest time for which
the loop computed and did nothing else.
"""
_LIVE: Final = """\
## Live

Both get the same messages in the same run. A tracker that reports is two messages: its device and its position. *Shown after* is the
median time from the first message until the last tracker is at its new place. `traccar_server` has one entity to write for each report;
this integration has three: the place, whether it is online, and the last update.
"""
_AUTOMATIONS: Final = f"""\
## What automations cost

Milliseconds for {TRIGGERS} triggers together, each of which watches an area with {LARGE:,} trackers, beside what the same poll costs
without them.
"""


@dataclass(frozen=True, slots=True)
class Goal:
    """One thing that is promised."""

    work: str
    promise: str
    found: str
    reached: bool


def write() -> None:
    """Write the page of what was measured last; raise NotMeasuredError."""
    loaded = {part: load(part) for part in PARTS}
    findings = [finding for _, found in loaded.values() for finding in found]
    measured_on = [f"- {part} at {run}\n" for part, (run, _) in loaded.items()]
    results = Results(findings)
    PAGE.write_text(
        "\n".join(
            (
                *(_HEAD, _goals(results), _POLLS, _polls(results)),
                *(_EVERYTHING, _everything(results), _LIVE, _live(results)),
                *(_AUTOMATIONS, _automations(results)),
                *("## What it was measured on\n", "".join(measured_on)),
            )
        )
    )


def goals(results: Results) -> Iterator[Goal]:
    """Yield all goals."""
    yield from _goals_of_polls(results)
    busy, work = max(
        (results.get("everything", OURS, EVERYTHING, work, "busy", max), title)
        for work, title in TITLES_OF_EVERYTHING.items()
    )
    yield Goal(
        f"{in_words(EVERYTHING)} that report everything",
        "the loop never computes for more than 50 ms in one go",
        f"{busy * 1000:.0f} ms, {work}",
        busy <= _LONGEST,
    )
    for trackers in LIVE_FLEETS:
        ours, theirs = (
            results.get("live", name, trackers, ONE) for name in (OURS, LIVE_PEER)
        )
        yield _ratio(
            f"live, {in_words(trackers)}, {_NEWS[ONE]}",
            f"a message at most that of {_NAMES[LIVE_PEER]}",
            ours,
            theirs,
        )
    ours, theirs = (
        results.get("live", name, 100, ALL, "seconds") for name in (OURS, LIVE_PEER)
    )
    yield _ratio(
        f"live, {in_words(100)}, {_NEWS[ALL]}",
        f"shown within the time of {_NAMES[LIVE_PEER]}",
        ours,
        theirs,
    )
    seconds = results.get("automations", OURS, LARGE, ONE, average=min)
    yield Goal(
        f"{TRIGGERS} automations, {in_words(LARGE)}, {_NEWS[ONE]}",
        "at most 0.3 ms for all of them",
        f"{seconds * 1e3:.2f} ms",
        seconds <= _MOST_OF_TRIGGERS,
    )


def _goals_of_polls(results: Results) -> Iterator[Goal]:
    for work, other, most in (
        (SAME_BODY.key, FLOOR, 0.4),
        (SHUFFLED.key, FLOOR, 0.4),
        (SOME_REPORTED.key, FLOOR, 1.5),
        (SOME_REPORTED.key, USUAL, 0.1),
        (ALL_REPORTED.key, USUAL, 1),
        (SET_UP, USUAL, 1),
    ):
        ours, theirs = (
            results.get("time", name, LARGE, work) for name in (OURS, other)
        )
        yield _ratio(
            f"{in_words(LARGE)}, {TITLES[work]}",
            f"at most {most} × that of {_NAMES[other]}",
            ours,
            theirs,
            most,
        )
    ours, theirs = (results.per_tracker(name, LARGE) for name in (OURS, USUAL))
    yield _ratio(
        f"{in_words(LARGE)}, memory",
        f"at most that of {_NAMES[USUAL]}",
        ours,
        theirs,
    )
    for work, title in TITLES_OF_EVERYTHING.items():
        if work != STORE:
            ours, theirs = (
                results.get("everything", name, EVERYTHING, work, "per_state")
                for name in (OURS, USUAL)
            )
            yield _ratio(
                f"{in_words(EVERYTHING)} that report everything, {title}",
                f"each changed state at most that of {_NAMES[USUAL]}",
                ours,
                theirs,
            )


def _ratio(
    work: str, promise: str, ours: float, theirs: float, most: float = 1
) -> Goal:
    return Goal(work, promise, f"{ours / theirs:.2f} ×", ours <= most * theirs)


def _goals(results: Results) -> str:
    return as_markdown(
        ("Work", "Goal", "Found", "Reached"),
        (
            (goal.work, goal.promise, goal.found, "yes" if goal.reached else "**no**")
            for goal in goals(results)
        ),
    )


def _polls(results: Results) -> str:
    names = OURS, FLOOR, USUAL
    rows = [
        (
            f"{trackers:,}",
            title,
            *_beside(
                [results.get("time", name, trackers, work) * 1e3 for name in names]
            ),
        )
        for trackers in (*SMALL, LARGE)
        for work, title in TITLES.items()
    ]
    memory = [results.per_tracker(name, LARGE) / 1024 for name in names]
    rows.append((f"{LARGE:,}", "memory per tracker", *_beside(memory)))
    return as_markdown(("Trackers", "Work", *(_NAMES[name] for name in names)), rows)


def _beside(values: list[float]) -> Iterator[str]:
    """Yield figures, each beside the first."""
    first, *others = values
    yield f"{first:.1f}"
    for value in others:
        yield f"{value:.1f} ({value / first:.1f} ×)"


def _everything(results: Results) -> str:
    def get(name: str, work: str, figure: str) -> float:
        average = {"average": max} if figure == "busy" else {}
        return results.get("everything", name, EVERYTHING, work, figure, **average)

    return as_markdown(
        (
            "Work",
            "Bike Tracker, ms",
            "in one go, ms",
            "each changed state, µs",
            "the usual way, µs",
        ),
        (
            (
                title,
                f"{get(OURS, work, 'cpu') * 1e3:.0f}",
                f"{get(OURS, work, 'busy') * 1e3:.0f}",
                *(
                    "" if work == STORE else f"{get(name, work, 'per_state') * 1e6:.0f}"
                    for name in (OURS, USUAL)
                ),
            )
            for work, title in TITLES_OF_EVERYTHING.items()
        ),
    )


def _live(results: Results) -> str:
    names = OURS, LIVE_PEER
    return as_markdown(
        (
            "Trackers",
            "News",
            *(f"{_NAMES[name]}, shown after ms" for name in names),
            *(f"{_NAMES[name]}, µs a message" for name in names),
        ),
        (
            (
                f"{trackers:,}",
                _NEWS[work],
                *(
                    f"{results.get('live', name, trackers, work, 'seconds') * 1e3:.1f}"
                    for name in names
                ),
                *(
                    f"{results.get('live', name, trackers, work) * 1e6:.0f}"
                    for name in names
                ),
            )
            for trackers in LIVE_FLEETS
            for work in (ONE, ALL)
            if trackers > 1 or work == ONE
        ),
    )


def _automations(results: Results) -> str:
    return as_markdown(
        ("Poll", "ms"),
        (
            (
                _NEWS[work],
                f"{results.get('automations', OURS, LARGE, work, average=min) * 1e3:.2f}",
            )
            for work in (ONE, IDLE, ALL)
        ),
    )
