"""What is done, and what happens to the fleet before."""

from dataclasses import dataclass
from typing import Final

from .service import Service


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of poll."""

    key: str
    title: str
    share: int | None = None
    """One of so many trackers reports; None: nobody does."""
    same_order: bool = False
    """Whether the list comes in the order it had before."""

    def reporting(self, trackers: int) -> int:
        """Return how many trackers report."""
        return max(1, trackers // self.share) if self.share else 0

    def prepare(self, service: Service, trackers: int) -> None:
        """Change the fleet."""
        if reporting := self.reporting(trackers):
            service.do("report", reporting)
        service.do("keep_order" if self.same_order else "shuffle")


SET_UP: Final = "set_up"
SET_UP_AGAIN: Final = "set_up_again"
MEMORY: Final = "memory"

SAME_BODY: Final = Scenario("same_body", "idle poll, the same body", same_order=True)
SHUFFLED: Final = Scenario("shuffled", "idle poll, the order shuffled")
SOME_REPORTED: Final = Scenario("some_reported", "1 % changed", share=100)
ALL_REPORTED: Final = Scenario("all_reported", "all changed", share=1)

SCENARIOS: Final = (SAME_BODY, SHUFFLED, SOME_REPORTED, ALL_REPORTED)

TITLES: Final = {SET_UP: "set-up"} | {
    scenario.key: scenario.title for scenario in SCENARIOS
}
"""Of all kinds of work."""

TITLES_OF_EVERYTHING: Final = {
    SET_UP: "set-up",
    SET_UP_AGAIN: "set-up after a restart",
    ALL_REPORTED.key: ALL_REPORTED.title,
}

ONE: Final = "one"
ALL: Final = "all"
"""How many trackers report, live or for automations."""
