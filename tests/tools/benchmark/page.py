"""The tables of docs/benchmarks.md."""

from collections import defaultdict
from collections.abc import Iterator
from statistics import median
from typing import Final

from tests.tools.tables import DOCS, as_markdown

from .plan import FLEETS, FLOOR, LARGEST, OURS, PEER, TRIGGERS, Figures, Finding, Work

PAGE: Final = DOCS / "benchmarks.md"
_NAMES: Final = {OURS: "Bike Tracker", FLOOR: "the floor", PEER: "`traccar_server`"}
_CPU, _PER_STATE, _SHOWN = "CPU", "CPU per state", "Shown in"
_RATIOS: Final = (
    (Work.IDLE, _CPU, 0.2, FLOOR, (LARGEST,)),
    (Work.SOME, _CPU, 2, FLOOR, (LARGEST,)),
    (Work.IDLE, _CPU, 1, PEER, FLEETS[:1]),
    (Work.SOME, _CPU, 1, PEER, FLEETS[:1]),
    (Work.ALL, _PER_STATE, 1.5, PEER, FLEETS),
    (Work.CONTACT, _CPU, 0.6, PEER, FLEETS),
    (Work.SET_UP, _PER_STATE, 1, PEER, FLEETS),
    (Work.RESTART, _PER_STATE, 1, PEER, FLEETS),
    (Work.MESSAGE, _PER_STATE, 1, PEER, FLEETS),
    (Work.MESSAGES, _SHOWN, 1, PEER, (100,)),
)
"""Goals: the work, the figure, its maximum as a multiple of a candidate's figure, that candidate, sizes of fleets."""
_REACHED: Final = {True: "yes", False: "**no**"}

type Results = dict[tuple[bool, str, int, str], list[Figures]]
"""The figures of all repeats. The key: whether trackers report all fields, candidate, number of trackers, work."""


def tables(machine: str, findings: list[Finding]) -> list[str]:
    """Return all tables of the page."""
    results: Results = defaultdict(list)
    for it in findings:
        step = it["kind"] == "everything", it["candidate"], it["trackers"]
        for work, figures in it["found"].items():
            results[*step, work] += figures
    measurements = (
        (
            str(trackers),
            work,
            *(_cost(results[False, it, trackers, work]) for it in _NAMES),
        )
        for trackers in FLEETS
        for work in Work
        if work is not Work.TRIGGERS
    )
    return [
        as_markdown(("Work", "Goal: at most", "Found", "Reached"), _goals(results)),
        as_markdown(("Trackers", "Work", *_NAMES.values()), measurements),
        as_markdown(("Measured on",), [[machine]]),
    ]


def _goals(results: Results) -> Iterator[tuple[str, ...]]:
    """Yield a row for each goal: the work, the goal, the result, and whether it was reached."""
    for work, what, most, other, fleets in _RATIOS:
        for trackers in fleets:
            ours, theirs = (
                _milliseconds(results[False, it, trackers, work], what)
                for it in (OURS, other)
            )
            yield (
                f"{trackers} trackers, {work}",
                f"{what}: {most} × {_NAMES[other]}",
                f"{ours / theirs:.2f} × ({_short(ours)}, {_short(theirs)} ms)",
                _REACHED[ours <= most * theirs],
            )
    longest, work = max(
        (figures["busy"], work)
        for work in (Work.SET_UP, Work.RESTART, Work.ALL)
        for figures in results[True, OURS, LARGEST, work]
    )
    yield (
        f"{LARGEST} trackers that report everything",
        "the event loop is blocked: 50 ms",
        f"{longest * 1e3:.0f} ms, {work}",
        _REACHED[longest <= 0.05],
    )
    seconds = min(it["cpu"] for it in results[False, OURS, LARGEST, Work.TRIGGERS])
    yield (
        f"{LARGEST} trackers, one reports",
        f"{TRIGGERS} automations on all of them: 0.3 ms together",
        f"{seconds * 1e3:.2f} ms",
        _REACHED[seconds <= 0.0003],
    )


def _milliseconds(repeats: list[Figures], what: str = _CPU) -> float:
    cost = median(it["seconds" if what == _SHOWN else "cpu"] for it in repeats) * 1e3
    return cost / _states(repeats) if what == _PER_STATE else cost


def _states(repeats: list[Figures]) -> float:
    return median(it["states"] for it in repeats)


def _cost(repeats: list[Figures]) -> str:
    """Return the milliseconds of a work and the microseconds for each changed state, or "" if not measured."""
    if not repeats:
        return ""
    cost = _short(_milliseconds(repeats))
    if _states(repeats):
        cost += f" ({_milliseconds(repeats, _PER_STATE) * 1e3:.0f})"
    return cost


def _short(value: float) -> str:
    """Return a figure with at most three significant digits, or as a whole number if it is 100 or more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
