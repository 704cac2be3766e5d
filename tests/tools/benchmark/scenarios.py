"""What happens to the fleet before a poll, and what the service tells of it by itself."""

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
SET_UP_AGAIN: Final = "set_up_again"

SAME_BODY: Final = Scenario(
    "same_body", "idle poll, the same body", None, same_order=True
)
SHUFFLED: Final = Scenario("shuffled", "idle poll, the order shuffled", None)
SOME_REPORTED: Final = Scenario("some_reported", "1 % changed", "report", share=100)
ALL_REPORTED: Final = Scenario("all_reported", "all changed", "report")
ALL_TOUCHED: Final = Scenario("all_touched", "only `lastUpdate` new, for all", "touch")

SCENARIOS: Final = (SAME_BODY, SHUFFLED, SOME_REPORTED, ALL_REPORTED, ALL_TOUCHED)

TITLES: Final = {SET_UP: "set-up"} | {
    scenario.key: scenario.title for scenario in SCENARIOS
}
"""Of all kinds of work."""

FULL_TITLES: Final = {
    SET_UP: TITLES[SET_UP],
    SET_UP_AGAIN: "set-up after a restart",
    ALL_REPORTED.key: ALL_REPORTED.title,
}
"""Of the kinds of work that trackers are given which report all there is."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Trackers that report, of which the service tells at once."""

    key: str
    title: str
    share: int | None
    """One of so many trackers reports; without it a single one does."""

    def struck(self, trackers: int) -> int | None:
        """Return how many report; None if with this fleet that is what another kind of news is."""
        if self.share is None:
            return 1
        struck = trackers // self.share
        return struck if struck > 1 else None


ONE_MESSAGE: Final = Burst("one", "one reports", None)
SOME_AT_ONCE: Final = Burst("some", "1 % report", 100)
ALL_AT_ONCE: Final = Burst("all", "all report", 1)

NOTHING: Final = "nothing"
"""As much time, in which the service tells nothing."""

BURSTS: Final = (ONE_MESSAGE, SOME_AT_ONCE, ALL_AT_ONCE)

KEEP_ALIVE: Final = "keep_alive"
PING: Final = "ping"
POLLS: Final = "polls"
"""What comes while there is no news."""

TRIGGERED: Final = "triggered"
"""From a report of a guarded bike until its guard is triggered."""
UNGUARDED: Final = "unguarded"
"""All that a report takes of a bike that is not guarded."""
GUARDING: Final = "guarding"
"""What its guard takes of that."""

SIGNS_OF_AN_HOUR: Final = 66
"""Traccar gives a sign of life every 55 seconds."""
IDLE_POLLS: Final = 10
"""What an hour of listening without news is held against."""
