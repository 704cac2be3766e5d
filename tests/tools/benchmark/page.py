"""Writes the tables of docs/benchmarks.md."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.tools.tables import DOCS, as_markdown, fill

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
    in_words,
)
from .results import Results, load
from .scenarios import (
    ALL,
    ONE,
    SAME_BODY,
    SHUFFLED,
    SOME_REPORTED,
    TITLES,
    TITLES_OF_EVERYTHING,
)

PAGE: Final = DOCS / "benchmarks.md"
_NAMES: Final = {
    OURS: "Bike Tracker",
    FLOOR: "the floor",
    LIVE_PEER: "`traccar_server`",
}
_LONGEST: Final = 0.05
_MOST_OF_TRIGGERS: Final = 0.0003


@dataclass(frozen=True, slots=True)
class _Ratio:
    """A goal: a cost as a multiple of the same cost of another candidate."""

    kind: str
    trackers: int
    work: str
    title: str
    other: str
    most: float = 1
    name: str = "cpu"
    what: str = "CPU"
    unit: str = "ms"
    per: float = 1e-3

    def get(self, results: Results, candidate: str) -> float:
        """Return the figure of a candidate."""
        figure = self.kind, candidate, self.trackers, self.work, self.name
        return results.get(*figure) / self.per


_RATIOS: Final = (
    *(
        _Ratio("time", LARGE, work, TITLES[work], other, most)
        for work, other, most in (
            (SAME_BODY.key, FLOOR, 0.4),
            (SHUFFLED.key, FLOOR, 0.4),
            (SOME_REPORTED.key, FLOOR, 1.5),
        )
    ),
    *(
        _Ratio(
            "live",
            trackers,
            ONE,
            "one reports live",
            LIVE_PEER,
            what="CPU of each message",
            unit="µs",
            per=1e-6,
        )
        for trackers in LIVE_FLEETS
    ),
    _Ratio(
        "live",
        100,
        ALL,
        "all report live at once",
        LIVE_PEER,
        name="seconds",
        what="shown in",
    ),
)


@dataclass(frozen=True, slots=True)
class Goal:
    """One thing that is promised."""

    work: str
    promise: str
    found: str
    reached: bool


def write() -> None:
    """Write the tables of the last measurements; raise NotMeasuredError."""
    loaded = {part: load(part) for part in PARTS}
    results = Results([finding for _, found in loaded.values() for finding in found])
    measured_on = ((part, run) for part, (run, _) in loaded.items())
    fill(
        PAGE,
        (
            _goals(results),
            _polls(results),
            _everything(results),
            as_markdown(("Part", "Measured on"), measured_on),
        ),
    )


def goals(results: Results) -> Iterator[Goal]:
    """Yield all goals."""
    for ratio in _RATIOS:
        ours, theirs = (ratio.get(results, name) for name in (OURS, ratio.other))
        yield Goal(
            f"{in_words(ratio.trackers)}, {ratio.title}",
            f"{ratio.what} at most {ratio.most} × that of {_NAMES[ratio.other]}",
            f"{ours / theirs:.2f} × ({ours:,.1f} {ratio.unit}, {theirs:,.1f} {ratio.unit})",
            ours <= ratio.most * theirs,
        )
    busy, work = max(
        (results.get("everything", OURS, EVERYTHING, work, "busy", max), title)
        for work, title in TITLES_OF_EVERYTHING.items()
    )
    yield Goal(
        f"{in_words(EVERYTHING)} that report everything",
        "the event loop is never blocked for more than 50 ms",
        f"{busy * 1000:.0f} ms, {work}",
        busy <= _LONGEST,
    )
    seconds = results.get("automations", OURS, LARGE, ONE, average=min)
    yield Goal(
        f"{in_words(LARGE)}, one reports",
        f"{TRIGGERS} automations on all of them cost at most 0.3 ms together",
        f"{seconds * 1e3:.2f} ms",
        seconds <= _MOST_OF_TRIGGERS,
    )


def _goals(results: Results) -> str:
    return as_markdown(
        ("Work", "Goal", "Found", "Reached"),
        (
            (goal.work, goal.promise, goal.found, "yes" if goal.reached else "**no**")
            for goal in goals(results)
        ),
    )


def _polls(results: Results) -> str:
    names = OURS, FLOOR
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
    """Yield figures, each with its ratio to the first."""
    first, *others = values
    yield f"{first:.1f}"
    for value in others:
        yield f"{value:.1f} ({value / first:.1f} ×)"


def _everything(results: Results) -> str:
    def get(work: str, figure: str) -> float:
        average = {"average": max} if figure == "busy" else {}
        return results.get("everything", OURS, EVERYTHING, work, figure, **average)

    return as_markdown(
        (
            "Work",
            "Bike Tracker, ms",
            "longest block, ms",
            "each changed state, µs",
        ),
        (
            (
                title,
                f"{get(work, 'cpu') * 1e3:.0f}",
                f"{get(work, 'busy') * 1e3:.0f}",
                f"{get(work, 'per_state') * 1e6:.0f}",
            )
            for work, title in TITLES_OF_EVERYTHING.items()
        ),
    )
