"""What runs found out of which the candidate listened to the service."""

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from .scenarios import BURSTS, NOTHING


@dataclass(frozen=True, slots=True)
class Received:
    """What it took to show news that the service told by itself."""

    seconds: float
    """From its first message until the last tracker was shown at its new place."""
    cpu: float
    """Seconds of the event loop's thread."""
    block: float
    """The longest time in which the event loop ran one thing and nothing else."""
    busy: float
    """The longest time for which its thread computed meanwhile."""
    messages: int
    changed: int
    """`state_changed` events."""


@dataclass
class LiveResults:
    """By number of trackers, candidate and kind of news."""

    received: dict[tuple[int, str, str], list[Received]] = field(
        default_factory=lambda: defaultdict(list)
    )
    quiet: dict[tuple[int, str], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Seconds of the event loop's thread, in as much time without news."""
    idle: dict[tuple[int, str, str], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Seconds of the event loop's thread, by what came in an hour without news."""
    memory: dict[int, int] = field(default_factory=dict)
    """Bytes that this integration holds more once it listens."""

    def add(
        self, kind: str, candidate: str, trackers: int, found: dict[str, Any]
    ) -> None:
        """Take in what a run printed."""
        match kind:
            case "live":
                self.quiet[trackers, candidate] += found[NOTHING]
                for burst in BURSTS:
                    self.received[trackers, candidate, burst.key] += [
                        Received(**received) for received in found[burst.key]
                    ]
            case "idle":
                for work, seconds in found.items():
                    self.idle[trackers, candidate, work] += seconds
            case "live_memory":
                self.memory[trackers] = found["bytes"]

    def seconds(self, trackers: int, candidate: str, work: str) -> float:
        """Return how long it took to show news: the median of all repeats."""
        return median(
            [received.seconds for received in self.received[trackers, candidate, work]]
        )

    def per_message(self, trackers: int, candidate: str, work: str) -> float:
        """Return the seconds of the event loop's thread for each message: the median of all repeats."""
        return self._per_part(trackers, candidate, work, "messages")

    def per_state(self, trackers: int, candidate: str, work: str) -> float:
        """Return them for each state that Home Assistant takes for changed."""
        return self._per_part(trackers, candidate, work, "changed")

    def busy(self, trackers: int, candidate: str, work: str) -> float:
        """Return the seconds of computing in the longest block: the most of all repeats."""
        return max(
            received.busy for received in self.received[trackers, candidate, work]
        )

    def block(self, trackers: int, candidate: str, work: str) -> float:
        """Return the longest block of the event loop: the median of all repeats."""
        return median(
            [received.block for received in self.received[trackers, candidate, work]]
        )

    def idle_cpu(self, trackers: int, candidate: str, work: str) -> float:
        """Return the seconds of the event loop's thread that came of it: the median of all repeats."""
        nothing = median(self.idle[trackers, candidate, NOTHING])
        return median(self.idle[trackers, candidate, work]) - nothing

    def _per_part(self, trackers: int, candidate: str, work: str, part: str) -> float:
        nothing = median(self.quiet[trackers, candidate])
        shares: list[float] = [
            (received.cpu - nothing) / getattr(received, part)
            for received in self.received[trackers, candidate, work]
        ]
        return median(shares)
