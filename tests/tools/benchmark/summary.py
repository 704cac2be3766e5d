"""What a reader of the page wants to know, in ten lines."""

from collections.abc import Iterator

from .automations import FEW, ONE
from .goals import FLOOR, LIVE_PEER, NAMES, goals
from .plan import IDLERS, LARGE, LIVE_FLEETS, MOST, OURS, USUAL
from .results import Results
from .scenarios import (
    ALL_REPORTED,
    KEEP_ALIVE,
    ONE_MESSAGE,
    SAME_BODY,
    SET_UP,
    SOME_REPORTED,
    TITLES,
)


def summary(results: Results) -> list[str]:
    """Return the lines, with the figures of the fleet in which most people would notice."""
    return [*_polls(results), *_listening(results), *_in_all(results)]


def _polls(results: Results) -> Iterator[str]:
    trackers = LARGE[0]

    def ms(work: str, candidate: str = OURS) -> str:
        return f"{results.cpu(trackers, candidate, work) * 1000:.1f} ms"

    few = results.cpu(10, OURS, ALL_REPORTED.key)
    yield f"**A few bikes** cost nothing you could notice: a poll in which all ten of an account reported takes {few * 1000:.1f} ms a minute."
    yield (
        f"**Nothing new, {trackers:,} trackers**: one request, nothing written, {ms(SAME_BODY.key)};"
        f" {NAMES[FLOOR]} takes {ms(SAME_BODY.key, FLOOR)}, {NAMES[USUAL]} {ms(SAME_BODY.key, USUAL)}."
    )
    yield (
        f"**1 % of {trackers:,} reported**: as many states written as changed, {ms(SOME_REPORTED.key)};"
        f" {NAMES[USUAL]} takes {ms(SOME_REPORTED.key, USUAL)}."
    )
    yield (
        f"**All {trackers:,} reported at once**: {ms(ALL_REPORTED.key)};"
        f" {NAMES[USUAL]} takes {ms(ALL_REPORTED.key, USUAL)}."
    )
    yield f"**Set-up of {trackers:,}**: {ms(SET_UP)}; {NAMES[USUAL]} takes {ms(SET_UP, USUAL)}."


def _listening(results: Results) -> Iterator[str]:
    trackers = LIVE_FLEETS[-1]
    live = results.live
    yield (
        f"**Live**: with {trackers:,} trackers a report is shown after"
        f" {live.seconds(trackers, OURS, ONE_MESSAGE.key) * 1000:.1f} ms and costs"
        f" {live.per_message(trackers, OURS, ONE_MESSAGE.key) * 1e6:.0f} µs a message;"
        f" {NAMES[LIVE_PEER]} takes {live.per_message(trackers, LIVE_PEER, ONE_MESSAGE.key) * 1e6:.0f} µs."
    )
    trackers = IDLERS[-1]
    yield f"**An hour of listening without news**: {live.idle_cpu(trackers, OURS, KEEP_ALIVE) * 1000:.1f} ms."
    triggers, trackers = FEW
    yield (
        f"**{triggers} automations on {trackers:,} trackers**:"
        f" {results.of_triggers(FEW, ONE) * 1000:.2f} ms for all of them with each report."
    )


def _in_all(results: Results) -> Iterator[str]:
    longest = max(results.busy(MOST, OURS, work) for work in TITLES)
    memory = results.memory_per_tracker(LARGE[-1], OURS) / 1024
    yield (
        f"**{MOST:,} trackers**, the most that Home Assistant shows of one account: the event loop never computes for"
        f" more than {longest * 1000:.0f} ms in one go, and a tracker takes {memory:.0f} KiB."
    )
    found = goals(results)
    reached = sum(goal.reached for goal in found)
    accepted = sum(not goal.reached and bool(goal.accepted) for goal in found)
    yield (
        f"**Goals**: {reached} of {len(found)} are reached, {accepted} misses are accepted, each with its reason under"
        " [Goals](#goals)."
    )
