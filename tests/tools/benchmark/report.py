"""Writes docs/benchmarks.md."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from textwrap import fill
from typing import Final

from .automations import FEW, MANY, TITLES as TITLES_OF_AUTOMATIONS
from .candidates import CANDIDATES, LISTENERS
from .chart import Chart, draw
from .goals import FULL_KINDS, NAMES, goals
from .plan import (
    BEYOND_THE_LIMIT,
    FULL,
    IDLERS,
    LARGE,
    MOST,
    OURS,
    PROFILED,
    SMALL,
    TOLD_OF,
    USUAL,
    in_words,
)
from .reports import TITLES as REPORT_TITLES
from .results import Results
from .scenarios import (
    ALL_REPORTED,
    FULL_TITLES,
    GUARDING,
    IDLE_POLLS,
    KEEP_ALIVE,
    ONE_TOLD,
    PING,
    POLLS,
    SHUFFLED,
    SIGNS_OF_AN_HOUR,
    SOME_REPORTED,
    TITLES,
    TOLD,
    TRIGGERED,
    UNGUARDED,
)
from .service.live import APART
from .summary import summary

REPORT: Final = Path(__file__).parents[3] / "docs" / "benchmarks.md"
PICTURE: Final = REPORT.parent / "images" / "benchmark.svg"

_HEAD: Final = """\
# What polls and messages cost

Milliseconds and microseconds of the event loop's thread, which all of Home Assistant shares:
"""

_INTRODUCTION: Final = """\
So the cost of a poll follows what changed: where nothing did, nothing is read, compared or written.

![Milliseconds of the event loop against the size of the fleet, for polls and messages](images/benchmark.svg)

Both scales go by tens. An hour has 60 polls, and as many messages as there are news.

`scripts/benchmark` measured all of this and wrote this page. It takes about an hour, on a machine that does nothing
else; with `--only` and one of `polls`, `live`, `reports`, `automations` or `guard` it measures that part alone, with `--render`
nothing. `scripts/benchmark --before REVISION` measures an earlier version beside this one, in turns.
`scripts/benchmark --quick` only counts requests, states and rows, and is part of every change.

## What is measured

A Home Assistant with the recorder on SQLite, as it starts on its own, asks a simulated service in another process over
real sockets. Every candidate gets the same fleet, each fleet a process of its own, and candidates take turns.

| Candidate | What it is | Entities per tracker |
| --- | --- | --- |
| Bike Tracker | this integration | 5, and 2 that are disabled |
| the floor | two requests, two JSON lists, one object and one comparison per tracker, and the states of changed values; no \
entities, no registries, no errors: the least that anybody does | 4 states |
| the usual way | the same entities as most integrations are written: a coordinator and entities with Home Assistant's \
defaults | 5, and 2 that are disabled |
| `scorpiontrack` | ships with Home Assistant, through its own library | 4 |
| `traccar_server` | ships with Home Assistant, through its own library; does not poll, so it is in [Live](#live) alone | 1, and \
8 that are disabled |

| Work | What happened before |
| --- | --- |
| set-up | The account was added. The code of a candidate was loaded before. |
| idle poll, the same body | Nothing; the trackers come in the order they had. |
| idle poll, the order shuffled | Nothing; the trackers come in another order, but not to `scorpiontrack`, \
whose service knows none: for it that is the same as above. |
| 1 % changed | One tracker of a hundred, at least one, has another place, status and last update. |
| all changed | All trackers have. |
| only `lastUpdate` new, for all | All trackers have another last update and nothing else. |

| Figure | What it is | Of all repeats |
| --- | --- | --- |
| CPU | of the event loop's thread | median |
| Wall | time on the clock | median |
| Block | the longest time in which the event loop did one thing and nothing else; waiting for the recorder, whose thread wants the same interpreter, is in it | median |
| Busy | the longest time for which the event loop computed in one go, without that waiting | most |
| Full GC | full garbage collections, which strike at random and are in none of the others | mean |
| Written | states written, changed or not; `state_changed` are those that Home Assistant takes for changed | one poll |
| Different | entities that show something else than before, so those that have to be written | one poll |
| Rows | of states, in the recorder's database | one poll |
| Memory | what is held after set-up, one poll in which everything changed and the writing of the registries, without the recorder, per tracker beyond the first | one run |

Times move by up to a third from run to run: only ratios within one run count.
"""

_TIMES: Final = ("CPU ms", "Wall ms", "Block ms", "Busy ms", "Full GC ms")

_PROFILE: Final = f"""\
## Where the time goes when all changed

Milliseconds of a poll of {PROFILED:,} trackers, without the recorder and garbage collections, as Python's profiler sees
them: it slows down what calls many functions. This is the one kind of work where there is nothing to save: each value
has to be read and written, and most of that is Home Assistant's own. This integration checks every field of a row, which
the usual way takes as it comes, knows since when a bike is online and moves, follows it for rides and alarms, and lets
the event loop have its turn in between; the usual way writes all states, those that did not change as well.
"""

_LIVE: Final = """\
## Live

Servers like Traccar also tell by themselves what is new, over a websocket. Home Assistant's own integration for them,
`traccar_server` with its library pytraccar, lives of that alone; this one polls as well. Both get the same messages of the
same fleet through the same code of the simulated service, in the same run.

A tracker that reports is two messages, as from a real Traccar: its device, and right after it its position. *Shown after*
is the time from the first message until the last tracker is at its new place in Home Assistant, the median. CPU is of the
event loop's thread, less what passes in as much time without news, the median; *busy* and *block* are as above. What is
written is not the same: of each report `traccar_server` writes its one entity twice, which Home Assistant takes for two
changes, and this integration has three entities to change, the place, whether it is online, and the last update. Of a
storm of messages Bike Tracker shows the first at once, and the others together a second later. A single report comes after a
rest, when nothing is in the processor's caches: what it costs moves most from run to run.
"""

_IDLE: Final = f"""\
### An hour without news

Milliseconds of the event loop's thread for what comes in an hour: {SIGNS_OF_AN_HOUR} signs of life, as Traccar sends them. For
comparison, as many pings of the websocket, for servers that send those instead, and {IDLE_POLLS} polls that find nothing new.
All of them come {APART * 1000:.0f} ms apart, as what follows at once is cheaper, and each poll on a connection of its own: within a
minute Home Assistant closes the one before.
"""

_FULL: Final = f"""\
## Trackers that report everything

The trackers above report places alone, as it takes no more to compare all candidates. {FULL:,} that also report battery,
motion, speed, altitude and course have seven entities each, and others that are disabled. They do not tell the time of
their places, as this integration alone would make rides of it. Microseconds of the event loop's thread for each state
that is another one afterwards; in the poll every value changed. After a restart Home Assistant knows devices and entities
already: the account was unloaded and set up again.
"""


_REPORTS: Final = """\
## What a report costs alone

Microseconds per tracker, without a network and without Home Assistant, the least of all repeats: what a position holds
besides the place, and rides, is read and reckoned for whoever reports it.
"""


_AUTOMATIONS: Final = """\
## What automations cost

Milliseconds of the event loop's thread for all triggers together, of each kind as many, beside what the same poll or
message costs without them: the least of all repeats. Each trigger watches an area with all trackers.
"""


_GUARDS: Final = """\
## What guards cost

Bikes that report all there is, over the live connection with the recorder, after a rest: the median. One that is guarded says
that it moves, after it said that it does not; *triggered after* is the time from its first message until Home Assistant
shows the guard triggered. A report is what each costs where all report that are not guarded: CPU of the event loop's
thread, less what passes in as much time without news; *its guard* is what the guard's entity takes of that.
"""


def write(results: Results, runs: dict[str, str]) -> None:
    """Write the page and its picture; `runs` tells what each part was measured on."""
    REPORT.write_text(report(results, runs))
    PICTURE.write_text(_picture(results))


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
            trackers: results.live.per_message(trackers, candidate, ONE_TOLD.key) * 1000
            for trackers in TOLD_OF
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
    parts = [
        _HEAD,
        "".join(f"- {line}\n" for line in summary(results)),
        _INTRODUCTION,
        _paragraph(f"This run: {runs['polls']}"),
        "## Goals\n",
        _goals(results),
        _LIVE,
        _paragraph(f"This run: {runs['live']}"),
        _told(results),
        _IDLE,
        _idle(results),
        "## CPU\n",
        "Milliseconds of the event loop's thread, and how many times that of Bike Tracker it is.\n",
    ]
    for work, title in TITLES.items():
        parts += [f"### {title[0].upper()}{title[1:]}\n", _cpu(results, work)]
    parts += [
        _PROFILE,
        _profile(results),
        _FULL,
        _full(results),
        _REPORTS,
        _paragraph(f"This run: {runs['reports']}"),
        _reports(results),
        _AUTOMATIONS,
        _paragraph(f"This run: {runs['automations']}"),
        _automations(results),
        _GUARDS,
        _paragraph(f"This run: {runs['guard']}"),
        _guards(results),
        "## Memory\n",
        "KiB per tracker, and how many times that of Bike Tracker it is.\n",
        _memory(results),
        f"## {MOST:,} trackers in one account\n",
        _limit(results),
        "## All figures\n",
    ]
    for trackers in (*SMALL, *LARGE):
        parts += [f"### {in_words(trackers)}\n", _figures(results, trackers)]
    return "\n".join(parts)


def _goals(results: Results) -> str:
    return _table(
        ("Trackers", "Work", "Goal", "Found", "Reached"),
        (
            (
                f"{goal.trackers:,}",
                goal.work,
                goal.promise,
                goal.found,
                goal.verdict,
            )
            for goal in goals(results)
        ),
    )


def _told(results: Results) -> str:
    return _table(
        (
            "Trackers",
            "News",
            "Candidate",
            "Shown after ms",
            "CPU µs per message",
            "CPU µs per `state_changed`",
            "Block ms",
            "Busy ms",
            "Messages",
            "`state_changed`",
        ),
        (
            (
                f"{trackers:,}",
                told.title,
                NAMES[candidate],
                f"{results.live.seconds(trackers, candidate, told.key) * 1000:.1f}",
                f"{results.live.per_message(trackers, candidate, told.key) * 1e6:.0f}",
                f"{results.live.per_state(trackers, candidate, told.key) * 1e6:.0f}",
                f"{results.live.block(trackers, candidate, told.key) * 1000:.1f}",
                f"{results.live.busy(trackers, candidate, told.key) * 1000:.1f}",
                f"{(heard := results.live.heard[trackers, candidate, told.key][-1]).messages:,}",
                f"{heard.changed:,}",
            )
            for trackers in TOLD_OF
            for told in TOLD
            if told.struck(trackers) is not None
            for candidate in LISTENERS
        ),
    )


def _idle(results: Results) -> str:
    table = _table(
        ("Trackers", "Candidate", "Signs of life", "Pings", f"{IDLE_POLLS} idle polls"),
        (
            (
                f"{trackers:,}",
                NAMES[candidate],
                *(
                    f"{results.live.idle_cpu(trackers, candidate, work) * 1000:.1f}"
                    for work in (KEEP_ALIVE, PING, POLLS)
                ),
            )
            for trackers in IDLERS
            for candidate in LISTENERS
        ),
    )
    held = " and ".join(
        f"{results.live.memory[trackers] / 1024:.0f} KiB with {in_words(trackers)}"
        for trackers in IDLERS
    )
    return f"{table}\n" + _paragraph(
        f"Once Bike Tracker listens, and has read where all trackers are, it holds {held} more than before."
    )


def _cpu(results: Results, work: str) -> str:
    return _side_by_side(
        (*SMALL, *LARGE),
        lambda trackers, candidate: results.cpu(trackers, candidate, work) * 1000,
    )


def _profile(results: Results) -> str:
    names = (OURS, USUAL)
    shown = {
        part
        for name in names
        for part, ms in results.profiles[name].items()
        if ms >= 0.5
    }
    return _table(
        ("Part", *(NAMES[name] for name in names)),
        (
            (
                f"`{part}`" if part.endswith(".py") else part,
                *(f"{results.profiles[name].get(part, 0):.1f}" for name in names),
            )
            for part in sorted(
                shown, key=lambda part: -results.profiles[OURS].get(part, 0)
            )
        ),
    )


def _full(results: Results) -> str:
    return _table(
        ("Work", "Recorder", NAMES[OURS], NAMES[USUAL], "Ratio"),
        (
            (
                title,
                words,
                f"{(ours := results.per_state(kind, OURS, work)) * 1e6:.1f}",
                f"{(usual := results.per_state(kind, USUAL, work)) * 1e6:.1f}",
                f"{ours / usual:.2f} ×",
            )
            for work, title in FULL_TITLES.items()
            for kind, words in FULL_KINDS.items()
        ),
    )


def _reports(results: Results) -> str:
    return _table(
        ("Work", "µs"),
        (
            (title, f"{results.per_report(work) * 1e6:.1f}")
            for work, title in REPORT_TITLES.items()
        ),
    )


def _automations(results: Results) -> str:
    sizes = (FEW, MANY)
    return _table(
        ("", *(f"{few} triggers, {in_words(trackers)}" for few, trackers in sizes)),
        (
            (title, *(f"{results.of_triggers(size, work) * 1e3:.2f}" for size in sizes))
            for work, title in TITLES_OF_AUTOMATIONS.items()
        ),
    )


def _guards(results: Results) -> str:
    return _table(
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


def _memory(results: Results) -> str:
    return _side_by_side(
        LARGE,
        lambda trackers, candidate: (
            results.memory_per_tracker(trackers, candidate) / 1024
        ),
    )


def _side_by_side(fleets: Iterable[int], figure: Callable[[int, str], float]) -> str:
    """Return a table of all candidates by fleet, each beside that of this integration."""

    def cell(trackers: int, candidate: str) -> str:
        value = figure(trackers, candidate)
        return f"{value:.2f} ({value / figure(trackers, OURS):.2f} ×)"

    return _table(
        ("", *map(in_words, fleets)),
        (
            (NAMES[candidate], *(cell(trackers, candidate) for trackers in fleets))
            for candidate in CANDIDATES
        ),
    )


def _limit(results: Results) -> str:
    limit = results.limits[BEYOND_THE_LIMIT]
    text = _paragraph(
        f"Home Assistant adds at most 10,000 enabled entities for one account. Of {BEYOND_THE_LIMIT:,} trackers {limit.shown:,} are shown, whole"
        f" ones; a repair issue tells of the other {limit.left_out:,}. Polls go on: when all reported,"
        f" {limit.changed:,} states changed."
    )
    return f"{text}\n" + _table(
        ("Work", *_TIMES),
        ((title, *_times(results, MOST, OURS, work)) for work, title in TITLES.items()),
    )


def _figures(results: Results, trackers: int) -> str:
    counts = (
        "Requests",
        "Bytes",
        "`state_changed`",
        "Written",
        "Different",
        "Rows",
    )
    return _table(
        ("Work", "Candidate", *_TIMES, *counts),
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
        counts.different,
        counts.rows,
    ):
        yield f"{number:,}"


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _paragraph(text: str) -> str:
    return fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"
