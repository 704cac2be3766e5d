"""What all runs found out."""

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import median

from .counters import Counts
from .meter import Cost


@dataclass
class Results:
    """By number of trackers, candidate and kind of work."""

    counts: dict[tuple[int, str], dict[str, Counts]] = field(default_factory=dict)
    costs: dict[tuple[int, str, str], list[Cost]] = field(
        default_factory=lambda: defaultdict(list)
    )
    memory: dict[tuple[int, str], int] = field(default_factory=dict)
    """Bytes that are held."""

    def cpu(self, trackers: int, candidate: str, work: str) -> float:
        """Return the seconds of the event loop's thread: the median of all repeats."""
        return median(cost.cpu for cost in self.costs[trackers, candidate, work])

    def wall(self, trackers: int, candidate: str, work: str) -> float:
        """Return the seconds on the clock: the median of all repeats."""
        return median(cost.wall for cost in self.costs[trackers, candidate, work])

    def block(self, trackers: int, candidate: str, work: str) -> float:
        """Return the longest block of the event loop: the median of all repeats."""
        return median(cost.block for cost in self.costs[trackers, candidate, work])

    def collecting(self, trackers: int, candidate: str, work: str) -> float:
        """Return the seconds in full garbage collections: the mean of all repeats."""
        costs = self.costs[trackers, candidate, work]
        return sum(cost.collecting for cost in costs) / len(costs)

    def memory_per_tracker(self, trackers: int, candidate: str) -> float:
        """Return the bytes of each tracker beyond the first."""
        more = self.memory[trackers, candidate] - self.memory[1, candidate]
        return more / (trackers - 1)
