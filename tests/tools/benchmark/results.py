"""What all runs found out."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Any

from .counters import Counts
from .expected import differences
from .live_results import LiveResults
from .meter import Cost
from .scenarios import GUARDING, UNGUARDED


@dataclass(frozen=True, slots=True)
class Limit:
    """What becomes of an account with more trackers than Home Assistant can show."""

    shown: int
    """Trackers with entities."""
    left_out: int
    """Trackers that the repair issue tells of."""
    changed: int
    """`state_changed` events after all trackers reported."""


@dataclass(frozen=True, slots=True)
class FullCost:
    """What something cost in which every value changed that trackers can report."""

    cpu: float
    """Seconds of the event loop's thread."""
    busy: float
    """The longest time for which it computed in one go."""
    states: int
    """States that are others than before."""


@dataclass
class Results:
    """By number of trackers, candidate and kind of work."""

    counts: dict[tuple[int, str], dict[str, Counts]] = field(default_factory=dict)
    costs: dict[tuple[int, str, str], list[Cost]] = field(
        default_factory=lambda: defaultdict(list)
    )
    memory: dict[tuple[int, str], int] = field(default_factory=dict)
    """Bytes that are held."""
    limits: dict[int, Limit] = field(default_factory=dict)
    profiles: dict[str, dict[str, float]] = field(default_factory=dict)
    """Milliseconds by part of a poll in which all changed, by candidate alone."""
    full: dict[tuple[str, str, str], list[FullCost]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Of trackers that report all there is, by kind of run, candidate and kind of work."""
    reports: list[dict[str, float]] = field(default_factory=list)
    """Seconds per tracker, by what is done with a report."""
    automations: dict[tuple[int, int], list[dict[str, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Seconds by what happens, by number of triggers and of trackers."""
    guards: dict[int, dict[str, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    """Seconds by what is done, by number of trackers."""
    live: LiveResults = field(default_factory=LiveResults)

    def add(
        self, kind: str, candidate: str, trackers: int, found: dict[str, Any]
    ) -> None:
        """Take in what a run printed."""
        match kind:
            case "time":
                self._add_costs(candidate, trackers, found)
            case "count":
                self.counts[trackers, candidate] = {
                    work: Counts(**counts) for work, counts in found.items()
                }
            case "memory":
                self.memory[trackers, candidate] = found["bytes"]
            case "profile":
                self.profiles[candidate] = found
            case "full" | "full_unrecorded":
                self._add_full(kind, candidate, found)
            case "limit":
                self.limits[trackers] = Limit(**found)
            case "reports":
                self.reports.append(found)
            case "automations":
                self.automations[found["triggers"], trackers].append(found["seconds"])
            case "guard":
                self._add_guards(trackers, found)
            case _:
                self.live.add(kind, candidate, trackers, found)

    def _add_costs(self, candidate: str, trackers: int, found: dict[str, Any]) -> None:
        for work, costs in found.items():
            self.costs[trackers, candidate, work] += [Cost(**cost) for cost in costs]

    def _add_full(self, kind: str, candidate: str, found: dict[str, Any]) -> None:
        for work, costs in found.items():
            self.full[kind, candidate, work] += [FullCost(**cost) for cost in costs]

    def _add_guards(self, trackers: int, found: dict[str, Any]) -> None:
        for work, seconds in found.items():
            self.guards[trackers][work] += seconds

    def differences(self) -> list[str]:
        """Return which counts are other than they have to be."""
        return [
            difference
            for (trackers, candidate), found in self.counts.items()
            for difference in differences(candidate, trackers, found)
        ]

    def cpu(self, trackers: int, candidate: str, work: str) -> float:
        """Return the seconds of the event loop's thread: the median of all repeats."""
        return self._cost(median, trackers, candidate, work, "cpu")

    def wall(self, trackers: int, candidate: str, work: str) -> float:
        """Return the seconds on the clock: the median of all repeats."""
        return self._cost(median, trackers, candidate, work, "wall")

    def block(self, trackers: int, candidate: str, work: str) -> float:
        """Return the longest block of the event loop: the median of all repeats."""
        return self._cost(median, trackers, candidate, work, "block")

    def busy(self, trackers: int, candidate: str, work: str) -> float:
        """Return the seconds of computing in the longest block: the most of all repeats."""
        return self._cost(max, trackers, candidate, work, "busy")

    def collecting(self, trackers: int, candidate: str, work: str) -> float:
        """Return the seconds in full garbage collections: the mean of all repeats."""
        return self._cost(mean, trackers, candidate, work, "collecting")

    def memory_per_tracker(self, trackers: int, candidate: str) -> float:
        """Return the bytes of each tracker beyond the first."""
        more = self.memory[trackers, candidate] - self.memory[1, candidate]
        return more / (trackers - 1)

    def per_state(self, kind: str, candidate: str, work: str) -> float:
        """Return the seconds of the event loop's thread for each state that changed: the median of all repeats."""
        return median(
            [cost.cpu / cost.states for cost in self.full[kind, candidate, work]]
        )

    def per_report(self, work: str) -> float:
        """Return the seconds that it takes per tracker: the least of all repeats."""
        return min(found[work] for found in self.reports)

    def of_triggers(self, watched: tuple[int, int], work: str) -> float:
        """Return the seconds that so many triggers take: the least of all repeats."""
        return min(found[work] for found in self.automations[watched])

    def of_guard(self, trackers: int, work: str) -> float:
        """Return the seconds that something takes: the median of all repeats."""
        return median(self.guards[trackers][work])

    def share_of_guard(self, trackers: int) -> float:
        """Return how much of a report of a bike that is not guarded goes to its guard."""
        return self.of_guard(trackers, GUARDING) / self.of_guard(trackers, UNGUARDED)

    def _cost(
        self,
        average: Callable[[list[float]], float],
        trackers: int,
        candidate: str,
        work: str,
        part: str,
    ) -> float:
        return average(
            [getattr(cost, part) for cost in self.costs[trackers, candidate, work]]
        )
