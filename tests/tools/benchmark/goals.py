"""What this integration is meant to cost, held against what it costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .automations import FEW, ONE, TITLES as TITLES_OF_AUTOMATIONS
from .plan import (
    BEYOND_THE_LIMIT,
    FULL,
    IDLERS,
    LARGE,
    LIVE_FLEETS,
    MOST,
    OURS,
    PROFILED,
    RECORDED,
    SMALL,
    UNRECORDED,
    USUAL,
)
from .reports import READ_ALL, READ_SOME, TITLES as REPORT_TITLES
from .results import Results
from .scenarios import (
    ALL_AT_ONCE,
    ALL_REPORTED,
    BURSTS,
    FULL_TITLES,
    IDLE_POLLS,
    KEEP_ALIVE,
    ONE_MESSAGE,
    POLLS,
    SAME_BODY,
    SET_UP,
    SHUFFLED,
    SOME_REPORTED,
    TITLES,
    TRIGGERED,
)

FLOOR: Final = "floor"
PEERS: Final = ("scorpiontrack",)
LIVE_PEER: Final = "traccar_server"

_LONGEST_BLOCK: Final = 0.05
_NO_LONG_BLOCK: Final = "the event loop never computes for more than 50 ms in one go"
_SOON: Final = 0.01
_LITTLE: Final = 0.01
_STORM: Final = 100
"""Trackers that report at once, as after a server's restart."""
_MORE_IS_KNOWN: Final = "each field is checked, and rides, alarms and the guard follow each report; a fleet never reports all at once"
_MORE_ENTITIES: Final = "three entities change and not one, and rides, alarms and the guard follow each report; both are below a millisecond"
_ACCEPTED: Final = {(ALL_REPORTED.key, USUAL): _MORE_IS_KNOWN}
_ALL_TRIGGERS: Final = 0.0003


@dataclass(frozen=True, slots=True)
class Goal:
    """One thing that is promised."""

    trackers: int
    work: str
    promise: str
    found: str
    reached: bool
    accepted: str = ""
    """Why it is as well if this is not reached."""

    @property
    def short(self) -> str:
        """Return what was found, without the figures that a ratio is of."""
        return self.found.partition(" (")[0]

    @property
    def verdict(self) -> str:
        """Return what the page says of it."""
        if self.reached:
            return "yes"
        return f"accepted: {self.accepted}" if self.accepted else "**no**"


def goals(results: Results) -> list[Goal]:
    """Return all goals, in the order of fleets."""
    found: list[Goal] = []
    for trackers in LARGE:
        found += _counts(results, trackers)
        found += _ratios(results, trackers)
        found.append(_memory(results, trackers))
    found += _full(results)
    found.append(_limit(results))
    found.append(_blocks(results))
    found.append(_report(results))
    found.append(_automations(results))
    for trackers in LIVE_FLEETS:
        found += _bursts(results, trackers)
    for trackers in IDLERS:
        found.append(_idle(results, trackers))
        found += _guard(results, trackers)
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
    made = counts[SOME_REPORTED.key]
    yield Goal(
        trackers,
        SOME_REPORTED.title,
        "as many states written as entities have another value",
        f"{made.written} states written, {made.different} entities have another value",
        made.written == made.different > 0,
    )


def _ratios(results: Results, trackers: int) -> Iterator[Goal]:
    def ratio(work: str, other: str, words: str, most: float) -> Goal:
        ours = results.cpu(trackers, OURS, work)
        theirs = results.cpu(trackers, other, work)
        return Goal(
            trackers,
            TITLES[work],
            f"CPU {words} {NAMES[other]}",
            f"{ours / theirs:.2f} × ({ours * 1000:.2f} ms, {theirs * 1000:.2f} ms)",
            ours < most * theirs,
            _ACCEPTED.get((work, other), ""),
        )

    for idle in (SAME_BODY, SHUFFLED):
        yield ratio(idle.key, FLOOR, "below 0.4 × that of", 0.4)
    yield ratio(SOME_REPORTED.key, FLOOR, "below 1.5 × that of", 1.5)
    for other in (USUAL, *PEERS):
        yield ratio(SOME_REPORTED.key, other, "below 1/10 of that of", 1 / 10)
    yield ratio(ALL_REPORTED.key, USUAL, "below that of", 1)
    yield ratio(SET_UP, USUAL, "below that of", 1)


def _memory(results: Results, trackers: int) -> Goal:
    ours = results.memory_per_tracker(trackers, OURS)
    theirs = results.memory_per_tracker(trackers, USUAL)
    return Goal(
        trackers,
        "memory per tracker",
        f"below that of {NAMES[USUAL]}",
        f"{ours / theirs:.2f} × ({ours / 1024:.1f} KiB, {theirs / 1024:.1f} KiB)",
        ours < theirs,
    )


def _full(results: Results) -> Iterator[Goal]:
    for kind, words in FULL_KINDS.items():
        for work, title in FULL_TITLES.items():
            ours = results.per_state(kind, OURS, work)
            theirs = results.per_state(kind, USUAL, work)
            yield Goal(
                FULL,
                f"{title}, everything reported, {words}",
                f"CPU per changed state not above that of {NAMES[USUAL]}",
                f"{ours / theirs:.2f} × ({ours * 1e6:.1f} µs, {theirs * 1e6:.1f} µs)",
                ours <= theirs,
                _MORE_IS_KNOWN if work == ALL_REPORTED.key else "",
            )


def _limit(results: Results) -> Goal:
    limit = results.limits[BEYOND_THE_LIMIT]
    return Goal(
        BEYOND_THE_LIMIT,
        "set-up and polls",
        "whole trackers up to Home Assistant's limit of 10,000 entities, a repair issue tells of the rest, polls work",
        f"{limit.shown:,} trackers shown, {limit.left_out:,} in the repair issue,"
        f" {limit.changed:,} states changed when all reported",
        (limit.shown, limit.left_out, limit.changed)
        == (MOST, BEYOND_THE_LIMIT - MOST, 3 * MOST),
    )


def _blocks(results: Results) -> Goal:
    found = [
        (results.busy(trackers, OURS, work), trackers, title)
        for trackers in (*SMALL, *LARGE, MOST)
        for work, title in TITLES.items()
    ]
    found += [
        (cost.busy, FULL, f"{title}, everything reported")
        for kind in FULL_KINDS
        for work, title in FULL_TITLES.items()
        for cost in results.full[kind, OURS, work]
    ]
    busy, trackers, title = max(found)
    return Goal(
        trackers,
        title,
        _NO_LONG_BLOCK,
        f"{busy * 1000:.0f} ms, the longest of all fleets and kinds of work",
        busy <= _LONGEST_BLOCK,
    )


def _report(results: Results) -> Goal:
    ours, before = results.per_report(READ_ALL), results.per_report(READ_SOME)
    return Goal(
        PROFILED,
        REPORT_TITLES[READ_ALL],
        "at most 1.3 × what one costs of which only battery level and motion are read",
        f"{ours / before:.2f} × ({ours * 1e6:.1f} µs, {before * 1e6:.1f} µs)",
        ours <= 1.3 * before,
    )


def _automations(results: Results) -> Goal:
    triggers, trackers = FEW
    seconds = results.of_triggers(FEW, ONE)
    return Goal(
        trackers,
        f"{triggers} automations, {TITLES_OF_AUTOMATIONS[ONE]}",
        "at most 0.3 ms for all of them",
        f"{seconds * 1e3:.2f} ms",
        seconds <= _ALL_TRIGGERS,
    )


def _bursts(results: Results, trackers: int) -> Iterator[Goal]:
    seconds = results.live.seconds(trackers, OURS, ONE_MESSAGE.key)
    yield Goal(
        trackers,
        f"live, {ONE_MESSAGE.title}",
        "shown within 10 ms, in the median",
        f"{seconds * 1000:.1f} ms",
        seconds < _SOON,
    )
    for burst in BURSTS:
        if burst.struck(trackers) is None:
            continue
        ours = results.live.per_message(trackers, OURS, burst.key)
        theirs = results.live.per_message(trackers, LIVE_PEER, burst.key)
        yield Goal(
            trackers,
            f"live, {burst.title}",
            f"CPU per message not above that of {NAMES[LIVE_PEER]}",
            f"{ours / theirs:.2f} × ({ours * 1e6:.0f} µs, {theirs * 1e6:.0f} µs)",
            ours <= theirs,
            _MORE_ENTITIES,
        )
        if burst is ALL_AT_ONCE and trackers == _STORM:
            yield _storm(results, trackers)
        busy = results.live.busy(trackers, OURS, burst.key)
        yield Goal(
            trackers,
            f"live, {burst.title}",
            _NO_LONG_BLOCK,
            f"{busy * 1000:.1f} ms",
            busy <= _LONGEST_BLOCK,
        )


def _storm(results: Results, trackers: int) -> Goal:
    ours = results.live.seconds(trackers, OURS, ALL_AT_ONCE.key)
    theirs = results.live.seconds(trackers, LIVE_PEER, ALL_AT_ONCE.key)
    return Goal(
        trackers,
        f"live, {ALL_AT_ONCE.title}",
        f"shown within the time of {NAMES[LIVE_PEER]}",
        f"{ours * 1000:.1f} ms, {theirs * 1000:.1f} ms",
        ours <= theirs,
    )


def _idle(results: Results, trackers: int) -> Goal:
    hour = results.live.idle_cpu(trackers, OURS, KEEP_ALIVE)
    polls = results.live.idle_cpu(trackers, OURS, POLLS)
    return Goal(
        trackers,
        "live, an hour without news",
        f"CPU below that of {IDLE_POLLS} idle polls",
        f"{hour / polls:.2f} × ({hour * 1000:.1f} ms, {polls * 1000:.1f} ms)",
        hour < polls,
    )


def _guard(results: Results, trackers: int) -> Iterator[Goal]:
    seconds, share = (
        results.of_guard(trackers, TRIGGERED),
        results.share_of_guard(trackers),
    )
    yield Goal(
        trackers,
        "live, a guarded bike begins to move",
        "triggered within 10 ms, in the median",
        f"{seconds * 1000:.1f} ms",
        seconds < _SOON,
    )
    yield Goal(
        trackers,
        "live, all report, none is guarded",
        "guards take at most 1 % of the CPU, in the median",
        f"{share * 100:.2f} %",
        share <= _LITTLE,
    )


FULL_KINDS: Final = {RECORDED: "with the recorder", UNRECORDED: "without it"}
"""Of runs with trackers that report all there is, as people read them."""

NAMES: Final = {
    OURS: "Bike Tracker",
    FLOOR: "the floor",
    USUAL: "the usual way",
} | {peer: f"`{peer}`" for peer in (*PEERS, LIVE_PEER)}
"""Of all candidates, as people read them."""
