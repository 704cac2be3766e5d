"""What happens to the fleet before a poll."""

from dataclasses import dataclass
from typing import Final

from .service import Service


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of poll."""

    key: str
    title: str
    command: str | None
    """What the service is told before the poll."""
    share: int = 1
    """One of so many trackers is struck."""
    same_order: bool = False
    """Whether the list comes in the order it had before."""

    def struck(self, trackers: int) -> int:
        """Return how many trackers are struck."""
        return max(1, trackers // self.share) if self.command else 0

    def prepare(self, service: Service, trackers: int) -> None:
        """Change the fleet."""
        if self.command:
            service.do(self.command, self.struck(trackers))
        service.do("keep_order" if self.same_order else "shuffle")


SET_UP: Final = "set_up"

SCENARIOS: Final = (
    Scenario("same_body", "idle, same body", None, same_order=True),
    Scenario("shuffled", "idle, order shuffled", None),
    Scenario("some_reported", "1 % reported", "report", share=100),
    Scenario("all_reported", "all reported", "report"),
    Scenario("all_touched", "only `lastUpdate` new, all", "touch"),
)
