"""What this integration is meant to cost, held against what it costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .candidates import CANDIDATES
from .plan import BEYOND_THE_LIMIT, LARGE, OURS, SMALL
from .results import Results
from .scenarios import (
    ALL_REPORTED,
    SAME_BODY,
    SET_UP,
    SHUFFLED,
    SOME_REPORTED,
    TITLES,
    Scenario,
)

FLOOR: Final = "floor"
USUAL: Final = "usual_way"
PEERS: Final = tuple(CANDIDATES.keys() - {OURS, FLOOR, USUAL})

_LONGEST_BLOCK: Final = 0.05


@dataclass(frozen=True, slots=True)
class Goal:
    """One thing that is promised."""

    trackers: int
    work: str
    promise: str
    found: str
    reached: bool


def goals(results: Results) -> list[Goal]:
    """Return all goals, in the order of fleets."""
    found: list[Goal] = []
    for trackers in LARGE:
        found += _counts(results, trackers)
        found += _ratios(results, trackers)
        found.append(_memory(results, trackers))
    found.append(_limit(results))
    found.append(_blocks(results))
    return found


def _counts(results: Results, trackers: int) -> Iterator[Goal]:
    counts = results.counts[trackers, OURS]
    for idle in (SAME_BODY, SHUFFLED):
        made = counts[idle.key]
        yield Goal(
            trackers,
            idle.title,
            "1 request, 0 states written, 0 rows",
            f"{made.requests} request, {made.written} states written, {made.rows} rows",
            (made.requests, made.written, made.rows) == (1, 0, 0),
        )
    # A tracker that reports has another place, status and last update.
    changed = 3 * SOME_REPORTED.struck(trackers)
    written = counts[SOME_REPORTED.key].written
    yield Goal(
        trackers,
        SOME_REPORTED.title,
        f"{changed} states written, as many as values changed",
        f"{written} states written",
        written == changed,
    )


def _ratios(results: Results, trackers: int) -> Iterator[Goal]:
    def ratio(work: Scenario | str, other: str, most: float, words: str) -> Goal:
        key = work.key if isinstance(work, Scenario) else work
        ours = results.cpu(trackers, OURS, key)
        theirs = results.cpu(trackers, other, key)
        return Goal(
            trackers,
            TITLES[key],
            f"CPU {words} {NAMES[other]}",
            f"{ours / theirs:.2f} × ({ours * 1000:.2f} ms, {theirs * 1000:.2f} ms)",
            ours <= most * theirs,
        )

    yield ratio(SAME_BODY, FLOOR, 1 / 3, "below 1/3 of")
    yield ratio(SHUFFLED, FLOOR, 1, "at most that of")
    yield ratio(SOME_REPORTED, FLOOR, 1.5, "at most 1.5 ×")
    for other in (USUAL, *sorted(PEERS)):
        yield ratio(SOME_REPORTED, other, 1 / 10, "at most 1/10 of")
    yield ratio(ALL_REPORTED, FLOOR, 2.5, "at most 2.5 ×")
    yield ratio(ALL_REPORTED, USUAL, 1, "below")
    yield ratio(SET_UP, USUAL, 1, "at most that of")


def _memory(results: Results, trackers: int) -> Goal:
    ours = results.memory_per_tracker(trackers, OURS)
    theirs = results.memory_per_tracker(trackers, USUAL)
    return Goal(
        trackers,
        "memory per tracker",
        f"at most that of {NAMES[USUAL]}",
        f"{ours / theirs:.2f} × ({ours / 1024:.1f} KiB, {theirs / 1024:.1f} KiB)",
        ours <= theirs,
    )


def _limit(results: Results) -> Goal:
    limit = results.limits[BEYOND_THE_LIMIT]
    return Goal(
        BEYOND_THE_LIMIT,
        "set-up and polls",
        "whole trackers up to Home Assistant's limit of 10,000 entities, a repair issue tells of the rest, polls work",
        f"{limit.shown:,} trackers shown, {limit.left_out:,} in the repair issue,"
        f" {limit.changed:,} states changed when all reported",
        limit.shown * 4 <= BEYOND_THE_LIMIT < (limit.shown + 1) * 4
        and limit.shown + limit.left_out == BEYOND_THE_LIMIT
        and limit.changed == 3 * limit.shown,
    )


def _blocks(results: Results) -> Goal:
    busy, trackers, work = max(
        (results.busy(trackers, OURS, work), trackers, work)
        for trackers in (*SMALL, *LARGE, BEYOND_THE_LIMIT)
        for work in TITLES
    )
    return Goal(
        trackers,
        TITLES[work],
        "the event loop never computes for more than 50 ms in one go",
        f"{busy * 1000:.0f} ms, the longest of all fleets and kinds of work",
        busy <= _LONGEST_BLOCK,
    )


NAMES: Final = {
    OURS: "Bike Tracker",
    FLOOR: "the floor",
    USUAL: "the usual way",
} | {peer: f"`{peer}`" for peer in PEERS}
"""Of all candidates, as people read them."""
