"""What all runs found out."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Any

from .counters import Counts
from .expected import differences
from .meter import Cost
from .scenarios import NOTHING, TOLD


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


@dataclass(frozen=True, slots=True)
class Heard:
    """What it took to show news that the service told by itself."""

    seconds: float
    """From its first message until the last tracker was shown at its new place."""
    cpu: float
    """Seconds of the event loop's thread."""
    block: float
    busy: float
    messages: int
    changed: int
    """`state_changed` events."""


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
    heard: dict[tuple[int, str, str], list[Heard]] = field(
        default_factory=lambda: defaultdict(list)
    )
    quiet: dict[tuple[int, str], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Seconds of the event loop's thread, in as much time without news."""
    idle: dict[tuple[int, str, str], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Seconds of the event loop's thread, by what of it came in an hour without news."""
    live_memory: dict[int, int] = field(default_factory=dict)
    """Bytes that this integration holds more once it listens."""

    def add(
        self, kind: str, candidate: str, trackers: int, found: dict[str, Any]
    ) -> None:
        """Take in what a run printed."""
        match kind:
            case "time":
                for work, costs in found.items():
                    self.costs[trackers, candidate, work] += [
                        Cost(**cost) for cost in costs
                    ]
            case "count":
                self.counts[trackers, candidate] = {
                    work: Counts(**counts) for work, counts in found.items()
                }
            case "memory":
                self.memory[trackers, candidate] = found["bytes"]
            case "profile":
                self.profiles[candidate] = found
            case "full" | "full_unrecorded":
                for work, costs in found.items():
                    self.full[kind, candidate, work] += [
                        FullCost(**cost) for cost in costs
                    ]
            case "limit":
                self.limits[trackers] = Limit(**found)
            case "live":
                self.quiet[trackers, candidate] += found[NOTHING]
                for told in TOLD:
                    self.heard[trackers, candidate, told.key] += [
                        Heard(**heard) for heard in found[told.key]
                    ]
            case "idle":
                for work, seconds in found.items():
                    self.idle[trackers, candidate, work] += seconds
            case "live_memory":
                self.live_memory[trackers] = found["bytes"]

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

    def seconds(self, trackers: int, candidate: str, told: str) -> float:
        """Return how long it took to show news: the median of all repeats."""
        return median([heard.seconds for heard in self.heard[trackers, candidate, told]])

    def per_message(self, trackers: int, candidate: str, told: str) -> float:
        """Return the seconds of the event loop's thread for each message: the median of all repeats."""
        return self._per_part(trackers, candidate, told, "messages")

    def per_told_state(self, trackers: int, candidate: str, told: str) -> float:
        """Return them for each state that Home Assistant takes for changed."""
        return self._per_part(trackers, candidate, told, "changed")

    def longest(self, trackers: int, candidate: str, told: str) -> float:
        """Return the seconds of computing in the longest block: the most of all repeats."""
        return max(heard.busy for heard in self.heard[trackers, candidate, told])

    def blocked(self, trackers: int, candidate: str, told: str) -> float:
        """Return the longest block of the event loop: the median of all repeats."""
        return median([heard.block for heard in self.heard[trackers, candidate, told]])

    def idle_cpu(self, trackers: int, candidate: str, work: str) -> float:
        """Return the seconds of the event loop's thread that came of it: the median of all repeats."""
        nothing = median(self.idle[trackers, candidate, NOTHING])
        return median(self.idle[trackers, candidate, work]) - nothing

    def _per_part(self, trackers: int, candidate: str, told: str, part: str) -> float:
        nothing = median(self.quiet[trackers, candidate])
        return median(
            [
                (heard.cpu - nothing) / getattr(heard, part)
                for heard in self.heard[trackers, candidate, told]
            ]
        )

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
