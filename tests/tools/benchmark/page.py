"""The tables of docs/benchmarks.md."""

from collections.abc import Iterator
from statistics import median
from typing import Final

from tests.tools.tables import DOCS, as_markdown

from .plan import FLEETS, FLOOR, LARGEST, OURS, PEER, TRIGGERS, Finding, Work

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
_MOST_BUSY: Final = 0.05
_MOST_OF_TRIGGERS: Final = 0.0003
_REACHED: Final = {True: "yes", False: "**no**"}


def tables(machine: str, findings: list[Finding]) -> list[str]:
    """Return all tables of the page."""
    works = [work for work in Work if work is not Work.TRIGGERS]
    measurements = (
        (str(trackers), work, *(_cost(findings, it, trackers, work) for it in _NAMES))
        for trackers in FLEETS
        for work in works
    )
    return [
        as_markdown(("Work", "Goal: at most", "Found", "Reached"), _goals(findings)),
        as_markdown(("Trackers", "Work", *_NAMES.values()), measurements),
        as_markdown(("Measured on",), [[machine]]),
    ]


def _goals(findings: list[Finding]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each goal: the work, the goal, the result, and whether it was reached."""
    for work, what, most, other, fleets in _RATIOS:
        for trackers in fleets:
            ours, theirs = (
                _milliseconds(findings, it, trackers, work, what)
                for it in (OURS, other)
            )
            yield (
                f"{trackers} trackers, {work}",
                f"{what}: {most} × {_NAMES[other]}",
                f"{ours / theirs:.2f} × ({_short(ours)}, {_short(theirs)} ms)",
                _REACHED[ours <= most * theirs],
            )
    longest, work = max(
        (max(_figures(findings, OURS, LARGEST, work, "busy", everything=True)), work)
        for work in (Work.SET_UP, Work.RESTART, Work.ALL)
    )
    yield (
        f"{LARGEST} trackers that report everything",
        "the event loop is blocked: 50 ms",
        f"{longest * 1e3:.0f} ms, {work}",
        _REACHED[longest <= _MOST_BUSY],
    )
    seconds = min(_figures(findings, OURS, LARGEST, Work.TRIGGERS))
    yield (
        f"{LARGEST} trackers, one reports",
        f"{TRIGGERS} automations on all of them: 0.3 ms together",
        f"{seconds * 1e3:.2f} ms",
        _REACHED[seconds <= _MOST_OF_TRIGGERS],
    )


def _figures(
    findings: list[Finding],
    candidate: str,
    trackers: int,
    work: Work,
    figure: str = "cpu",
    *,
    everything: bool = False,
) -> list[float]:
    """Return a figure from all repeats. If `everything`, trackers reported all fields, otherwise only their place."""
    step = candidate, trackers, everything
    return [
        figures[figure]
        for it in findings
        if (it["candidate"], it["trackers"], it["kind"] == "everything") == step
        for figures in it["found"].get(work, ())
    ]


def _milliseconds(
    findings: list[Finding], candidate: str, trackers: int, work: Work, what: str = _CPU
) -> float:
    def middle(figure: str) -> float:
        return median(_figures(findings, candidate, trackers, work, figure))

    figure = middle("seconds" if what == _SHOWN else "cpu") * 1e3
    return figure / middle("states") if what == _PER_STATE else figure


def _cost(findings: list[Finding], candidate: str, trackers: int, work: Work) -> str:
    """Return the milliseconds of a work, and the microseconds for each changed state. If not measured, return ""."""
    at = candidate, trackers, work
    if not _figures(findings, *at):
        return ""
    cost = _short(_milliseconds(findings, *at))
    if median(_figures(findings, *at, "states")):
        cost += f" ({_milliseconds(findings, *at, _PER_STATE) * 1e3:.0f})"
    return cost


def _short(value: float) -> str:
    """Return a figure with at most three significant digits, or as a whole number if it is 100 or more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
