"""The tables of docs/benchmarks.md."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.tools.tables import DOCS, as_markdown

from .plan import FLEETS, FLOOR, LARGEST, OURS, PEER, TRIGGERS, Results, Work

PAGE: Final = DOCS / "benchmarks.md"
_NAMES: Final = {OURS: "Bike Tracker", FLOOR: "the floor", PEER: "`traccar_server`"}
_LONGEST: Final = 0.05
_MOST_OF_TRIGGERS: Final = 0.0003
_SMALLEST: Final = FLEETS[:1]


@dataclass(frozen=True, slots=True)
class _Ratio:
    """A goal: a figure as a multiple of the same figure of another candidate."""

    work: Work
    other: str
    most: float
    fleets: tuple[int, ...] = FLEETS
    figure: str = "cpu"
    what: str = "CPU"
    per_state: bool = False

    def get(self, results: Results, candidate: str, trackers: int) -> float:
        """Return the figure of a candidate in milliseconds."""
        figure = results.get(candidate, trackers, self.work, self.figure) * 1e3
        if self.per_state:
            return figure / results.get(candidate, trackers, self.work, "states")
        return figure

    def goals(self, results: Results) -> Iterator[tuple[str, str, str, bool]]:
        """Yield work, goal, result and success for each fleet."""
        for trackers in self.fleets:
            ours, theirs = (
                self.get(results, name, trackers) for name in (OURS, self.other)
            )
            per = " per state" if self.per_state else ""
            yield (
                f"{trackers} trackers, {self.work}",
                f"{self.what}{per} at most {self.most} × that of {_NAMES[self.other]}",
                f"{ours / theirs:.2f} × ({_short(ours)} ms, {_short(theirs)} ms)",
                ours <= self.most * theirs,
            )


_RATIOS: Final = (
    _Ratio(Work.IDLE, FLOOR, 0.2, (LARGEST,)),
    _Ratio(Work.SOME, FLOOR, 2, (LARGEST,)),
    _Ratio(Work.IDLE, PEER, 1, _SMALLEST),
    _Ratio(Work.SOME, PEER, 1, _SMALLEST),
    _Ratio(Work.ALL, PEER, 1.5, per_state=True),
    _Ratio(Work.CONTACT, PEER, 0.6),
    _Ratio(Work.SET_UP, PEER, 1, per_state=True),
    _Ratio(Work.RESTART, PEER, 1, per_state=True),
    _Ratio(Work.MESSAGE, PEER, 1, per_state=True),
    _Ratio(Work.MESSAGES, PEER, 1, (100,), figure="seconds", what="Shown in"),
)


def tables(results: Results) -> list[str]:
    """Return all tables of the page."""
    return [
        as_markdown(
            ("Work", "Goal", "Found", "Reached"),
            (
                (work, goal, found, "yes" if reached else "**no**")
                for work, goal, found, reached in _goals(results)
            ),
        ),
        as_markdown(
            ("Trackers", "Work", *_NAMES.values()),
            (
                (str(trackers), work, *(_figure(results, *at, work) for at in cells))
                for trackers in FLEETS
                for cells in [[(name, trackers) for name in _NAMES]]
                for work in Work
                if work is not Work.TRIGGERS
            ),
        ),
        as_markdown(("Measured on",), [[results.run]]),
    ]


def _goals(results: Results) -> Iterator[tuple[str, str, str, bool]]:
    for ratio in _RATIOS:
        yield from ratio.goals(results)
    steps = [
        (results.get(OURS, LARGEST, work, "busy", everything=True, average=max), work)
        for work in (Work.SET_UP, Work.RESTART, Work.ALL)
    ]
    longest, work = max(steps)
    yield (
        f"{LARGEST} trackers that report everything",
        "the event loop is never blocked for more than 50 ms",
        f"{longest * 1e3:.0f} ms, {work}",
        longest <= _LONGEST,
    )
    seconds = results.get(OURS, LARGEST, Work.TRIGGERS, average=min)
    yield (
        f"{LARGEST} trackers, one reports",
        f"{TRIGGERS} automations on all of them cost at most 0.3 ms together",
        f"{seconds * 1e3:.2f} ms",
        seconds <= _MOST_OF_TRIGGERS,
    )


def _figure(results: Results, candidate: str, trackers: int, work: Work) -> str:
    """Return the milliseconds, and the microseconds for each changed state."""
    is_live = work in {Work.MESSAGE, Work.MESSAGES}
    if candidate == FLOOR and (is_live or work is Work.RESTART):
        return ""
    cpu = results.get(candidate, trackers, work)
    states = results.get(candidate, trackers, work, "states")
    per_state = f" ({cpu / states * 1e6:.0f} µs)" if states else ""
    return f"{_short(cpu * 1e3)}{per_state}"


def _short(value: float) -> str:
    """Return a figure with three digits or more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
