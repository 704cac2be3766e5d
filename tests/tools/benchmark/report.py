"""Writes docs/benchmarks.md, its picture and its tables, docs/data/benchmark-*.csv."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tests.tools.tables import DATA, DOCS, as_csv, as_markdown

from .automations import FEW, MANY, TITLES as TITLES_OF_AUTOMATIONS
from .candidates import CANDIDATES, LISTENERS
from .chart import Chart, draw
from .goals import FULL_KINDS, NAMES, Goal, goals
from .plan import IDLERS, LARGE, LIVE_FLEETS, MOST, OURS, SMALL, USUAL, in_words
from .results import Results
from .scenarios import (
    ALL_AT_ONCE,
    ALL_REPORTED,
    BURSTS,
    FULL_TITLES,
    GUARDING,
    ONE_MESSAGE,
    SHUFFLED,
    SOME_REPORTED,
    TITLES,
    TRIGGERED,
    UNGUARDED,
)
from .summary import summary

REPORT: Final = DOCS / "benchmarks.md"
PICTURE: Final = DOCS / "images" / "benchmark.svg"

_HEAD: Final = """\
# What polls and messages cost

Milliseconds and microseconds of the event loop's thread, which all of Home Assistant shares:
"""

_INTRODUCTION: Final = """\
So the cost of a poll follows what changed: where nothing did, nothing is read, compared or written.

![Milliseconds of the event loop against the size of the fleet, for polls and messages](images/benchmark.svg)

Both scales go by tens.

`scripts/benchmark` measured all of this and wrote this page and its tables: all [goals](data/benchmark-goals.csv), all figures of
[polls](data/benchmark-polls.csv) and of [live messages](data/benchmark-live.csv), trackers that report
[everything](data/benchmark-everything.csv), and [where the time goes](data/benchmark-profile.csv) when all changed. It takes about an
hour, on a machine that does nothing else. `scripts/benchmark --quick` only counts requests, states and rows, and is part of every
change. Times move by up to a third from run to run: only ratios within one run count.

## What is measured

A Home Assistant with the recorder on SQLite asks a simulated service in another process over real sockets. Every candidate gets the
same fleet, and they take turns:

- **Bike Tracker**: this integration, 5 entities of each tracker, and 2 that are disabled.
- **The floor**: two requests, two JSON lists, one object and one comparison per tracker, and 4 states; no entities, no registries, no
  errors: the least that anybody does.
- **The usual way**: the same entities as most integrations are written, a coordinator and entities with Home Assistant's defaults.
- **`scorpiontrack`** and **`traccar_server`**, which ship with Home Assistant: 4 entities, and 1 with 8 that are disabled. The latter
  does not poll, so it is in [Live](#live) alone.

In the data, *CPU* is of the event loop's thread and *wall* on the clock, medians; *block* is the longest time in which the loop
did one thing and nothing else, *busy* the longest in which it computed in one go; *different* are
the entities that show something else than before.
"""

_COUNTS: Final = (
    "Requests",
    "Bytes",
    "state_changed",
    "Written",
    "Different",
    "Rows",
)
_TIMES: Final = ("CPU ms", "Wall ms", "Block ms", "Busy ms", "Full GC ms")

_LIVE: Final = """\
## Live

Servers like Traccar also push what is new. Home Assistant's own integration for them, `traccar_server`, lives of that alone; this
one polls as well. Both get the same messages in the same run. A tracker that reports is two messages: its device and its position.
*Shown after* is the median time from the first message until the last tracker is at its new place. `traccar_server` writes its one
entity twice for each report; this integration has three to change: the place, whether it is online, and the last update.
"""

_AUTOMATIONS: Final = """\
## What automations cost

Milliseconds for all triggers together, of each kind as many, beside what the same poll or message costs without them. Each trigger
watches an area with all trackers.
"""


_GUARDS: Final = """\
## What guards cost

*Triggered after* is the median time from the first live message of a guarded bike that begins to move until Home Assistant shows the
guard triggered. A report is what each costs where all report and none is guarded; *its guard* is what the guard takes of that.
"""


def write(results: Results, runs: dict[str, str]) -> None:
    """Write the page, its picture and its tables; `runs` tells what each part was measured on."""
    REPORT.write_text(report(results, runs))
    PICTURE.write_text(_picture(results))
    DATA.mkdir(exist_ok=True)
    for name, text in tables(results).items():
        (DATA / f"benchmark-{name}.csv").write_text(text)


def _picture(results: Results) -> str:
    def polls(work: str) -> dict[str, dict[int, float]]:
        return {
            candidate: {
                trackers: results.cpu(trackers, candidate, work) * 1000
                for trackers in (*SMALL, *LARGE)
            }
            for candidate in CANDIDATES
        }

    messages = {
        candidate: {
            trackers: results.live.per_message(trackers, candidate, ONE_MESSAGE.key)
            * 1000
            for trackers in LIVE_FLEETS
        }
        for candidate in LISTENERS
    }
    return draw(
        [
            Chart("An idle poll", polls(SHUFFLED.key)),
            Chart("A poll, 1 % changed", polls(SOME_REPORTED.key)),
            Chart("A poll, all changed", polls(ALL_REPORTED.key)),
            Chart("A live message", messages),
        ],
        NAMES,
    )


def report(results: Results, runs: dict[str, str]) -> str:
    """Return the page."""
    return "\n".join(
        [
            _HEAD,
            "".join(f"- {line}\n" for line in summary(results)),
            _INTRODUCTION,
            "## Goals\n",
            _goals_missed(results),
            f"## {in_words(LARGE[0])}\n",
            "Milliseconds of the event loop's thread, and how many times that of Bike Tracker it is; KiB for memory.\n",
            _side_by_side(results),
            _LIVE,
            _bursts(results),
            _AUTOMATIONS,
            _automations(results),
            _GUARDS,
            _guards(results),
            "## What it was measured on\n",
            _measured_on(runs),
        ]
    )


def _measured_on(runs: dict[str, str]) -> str:
    """Return what all parts were measured on, each machine once."""
    parts: dict[str, list[str]] = {}
    for part, run in runs.items():
        machine, _, rest = run.partition(", and for the others")
        commit = rest.partition("`")[2].partition("`")[0]
        parts.setdefault(machine, []).append(
            f"{part} at commit `{commit}`" if commit else part
        )
    return "".join(
        f"- {', '.join(names)}: {machine}\n" for machine, names in parts.items()
    )


def tables(results: Results) -> dict[str, str]:
    """Return all figures as CSV, by the names of their files."""
    return {
        "goals": as_csv(
            ("Trackers", "Work", "Goal", "Found", "Reached"),
            (
                (goal.trackers, goal.work, goal.promise, goal.found, goal.verdict)
                for goal in goals(results)
            ),
        ),
        "polls": as_csv(
            ("Trackers", "Work", "Candidate", *_TIMES, *_COUNTS, "KiB per tracker"),
            _figures(results),
        ),
        "live": as_csv(
            (
                "Trackers",
                "News",
                "Candidate",
                "Shown after ms",
                "CPU µs per message",
                "CPU µs per state_changed",
                "Block ms",
                "Busy ms",
                "Messages",
                "state_changed",
            ),
            _messages(results),
        ),
        "everything": as_csv(
            ("Work", "Recorder", NAMES[OURS], NAMES[USUAL], "Ratio"),
            _full(results),
        ),
        "profile": as_csv(
            ("Part", f"{NAMES[OURS]} ms", f"{NAMES[USUAL]} ms"), _profile(results)
        ),
    }


def _goals_missed(results: Results) -> str:
    missed: dict[tuple[str, str, str], list[Goal]] = {}
    for goal in goals(results):
        if not goal.reached:
            key = goal.work, goal.promise, goal.accepted
            missed.setdefault(key, []).append(goal)
    if not missed:
        return "All are reached.\n"
    reasons = dict.fromkeys(reason for *_, reason in missed if reason)
    numbers = {reason: str(number) for number, reason in enumerate(reasons, 1)}
    table = as_markdown(
        ("Not reached", "Goal", "Found, by trackers", "Accepted"),
        (
            (
                work,
                promise,
                "; ".join(f"{goal.trackers:,}: {goal.short}" for goal in found),
                numbers.get(reason, "**no**"),
            )
            for (work, promise, reason), found in missed.items()
        ),
    )
    return f"{table}\n" + "".join(
        f"{number}. {reason[0].upper()}{reason[1:]}.\n"
        for reason, number in numbers.items()
    )


def _bursts(results: Results) -> str:
    live = results.live
    return as_markdown(
        (
            "Trackers",
            "News",
            *(f"{NAMES[name]}, shown after ms" for name in LISTENERS),
            *(f"{NAMES[name]}, µs a message" for name in LISTENERS),
        ),
        (
            (
                f"{trackers:,}",
                burst.title,
                *(
                    f"{live.seconds(trackers, name, burst.key) * 1000:.1f}"
                    for name in LISTENERS
                ),
                *(
                    f"{live.per_message(trackers, name, burst.key) * 1e6:.0f}"
                    for name in LISTENERS
                ),
            )
            for trackers in LIVE_FLEETS
            if trackers != 10
            for burst in (ONE_MESSAGE, ALL_AT_ONCE)
            if burst.struck(trackers) is not None
        ),
    )


def _messages(results: Results) -> Iterator[Sequence[object]]:
    live = results.live
    for trackers in LIVE_FLEETS:
        for burst in BURSTS:
            if burst.struck(trackers) is None:
                continue
            for candidate in LISTENERS:
                which = trackers, candidate, burst.key
                received = live.received[which][-1]
                yield (
                    trackers,
                    burst.title,
                    NAMES[candidate],
                    f"{live.seconds(*which) * 1000:.1f}",
                    f"{live.per_message(*which) * 1e6:.0f}",
                    f"{live.per_state(*which) * 1e6:.0f}",
                    f"{live.block(*which) * 1000:.1f}",
                    f"{live.busy(*which) * 1000:.1f}",
                    received.messages,
                    received.changed,
                )


def _profile(results: Results) -> Iterator[Sequence[object]]:
    names = (OURS, USUAL)
    shown = {
        part
        for name in names
        for part, ms in results.profiles[name].items()
        if ms >= 0.5
    }
    for part in sorted(shown, key=lambda part: -results.profiles[OURS].get(part, 0)):
        yield part, *(f"{results.profiles[name].get(part, 0):.1f}" for name in names)


def _full(results: Results) -> Iterator[Sequence[object]]:
    for work, title in FULL_TITLES.items():
        for kind, words in FULL_KINDS.items():
            ours = results.per_state(kind, OURS, work)
            usual = results.per_state(kind, USUAL, work)
            yield (
                title,
                words,
                f"{ours * 1e6:.1f}",
                f"{usual * 1e6:.1f}",
                f"{ours / usual:.2f}",
            )


def _automations(results: Results) -> str:
    sizes = (FEW, MANY)
    return as_markdown(
        ("", *(f"{few} triggers, {in_words(trackers)}" for few, trackers in sizes)),
        (
            (title, *(f"{results.of_triggers(size, work) * 1e3:.2f}" for size in sizes))
            for work, title in TITLES_OF_AUTOMATIONS.items()
        ),
    )


def _guards(results: Results) -> str:
    return as_markdown(
        ("Trackers", "Triggered after ms", "Report µs", "Its guard µs", "Its share"),
        (
            (
                f"{trackers:,}",
                f"{results.of_guard(trackers, TRIGGERED) * 1e3:.1f}",
                f"{results.of_guard(trackers, UNGUARDED) * 1e6:.0f}",
                f"{results.of_guard(trackers, GUARDING) * 1e6:.1f}",
                f"{results.share_of_guard(trackers) * 100:.2f} %",
            )
            for trackers in IDLERS
        ),
    )


def _side_by_side(results: Results) -> str:
    """Return a table of all candidates by work, each beside this integration."""
    trackers = LARGE[0]

    def cell(candidate: str, figure: Callable[[str], float]) -> str:
        value = figure(candidate)
        ratio = "" if candidate == OURS else f" ({value / figure(OURS):.1f} ×)"
        return f"{value:.1f}{ratio}"

    def of(work: str) -> Callable[[str], float]:
        return lambda candidate: results.cpu(trackers, candidate, work) * 1000

    def memory(candidate: str) -> float:
        return results.memory_per_tracker(trackers, candidate) / 1024

    rows = {title: of(work) for work, title in TITLES.items()} | {
        "memory per tracker": memory
    }
    return as_markdown(
        ("", *(NAMES[candidate] for candidate in CANDIDATES)),
        (
            (title, *(cell(candidate, figure) for candidate in CANDIDATES))
            for title, figure in rows.items()
        ),
    )


def _figures(results: Results) -> Iterator[Sequence[object]]:
    for trackers in (*SMALL, *LARGE):
        for work, title in TITLES.items():
            for candidate in CANDIDATES:
                yield (
                    trackers,
                    title,
                    NAMES[candidate],
                    *_times(results, trackers, candidate, work),
                    *_counts(results, trackers, candidate, work),
                    f"{results.memory_per_tracker(trackers, candidate) / 1024:.2f}"
                    if trackers in LARGE
                    else "",
                )
    # Of the largest account nothing is counted.
    for work, title in TITLES.items():
        yield MOST, title, NAMES[OURS], *_times(results, MOST, OURS, work)


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
        counts.different,
        counts.rows,
    ):
        yield str(number)
