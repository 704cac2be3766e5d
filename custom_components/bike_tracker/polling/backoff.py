"""How long to wait after failures in a row, and between requests beside polls."""

from dataclasses import dataclass
import random
from time import monotonic
from typing import Final, NamedTuple

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
MAX_WAIT: Final = 5 * MINUTE - 10
"""Seconds. A bike that comes back moves a while later: all within five minutes."""


class FailureStreak(NamedTuple):
    """Failures in a row: how many, and since when by the monotonic clock."""

    length: int = 0
    since: float = 0.0

    def another(self) -> FailureStreak:
        """Return the streak with one more failure."""
        return FailureStreak(
            self.length + 1, self.since if self.length else monotonic()
        )


NO_FAILURES: Final = FailureStreak()


@dataclass(frozen=True, slots=True)
class Backoff:
    """A table of waits, in seconds. Jitter only shortens them."""

    waits: tuple[float, ...]
    """After the first failure, the second …; the last one is repeated."""
    hourly_after: float | None = None
    """How old a streak is when the wait becomes an hour."""
    min_wait: float = MINUTE
    """Nobody is asked more often than while all is well."""

    def after(self, streak: FailureStreak, retry_after: float | None = None) -> float:
        """Return the wait after the last failure, or the one that a server asked for."""
        if retry_after is not None:
            return clamp_retry_after(retry_after)
        wait = self.waits[: streak.length][-1]
        age = monotonic() - streak.since
        if self.hourly_after is not None and age >= self.hourly_after:
            wait = HOUR
        # A tenth at most: not all accounts ask in the same second.
        return max(self.min_wait, wait * random.uniform(0.9, 1))  # noqa: S311 - no secret


NORMAL_BACKOFF: Final = Backoff((MINUTE, 2 * MINUTE, 4 * MINUTE, MAX_WAIT))
"""For what is known to work."""
UNSUPPORTED_BACKOFF: Final = Backoff((HOUR, DAY))
"""For what is not documented and never worked."""
SIGN_IN_BACKOFF: Final = Backoff((MINUTE, MAX_WAIT), hourly_after=HOUR)
"""So long that a password that is really wrong locks no account."""
MISSING_POSITION_BACKOFF: Final = Backoff(NORMAL_BACKOFF.waits, hourly_after=HOUR)
LIVE_BACKOFF: Final = Backoff(
    (5, MINUTE, 2 * MINUTE, 4 * MINUTE, 5 * MINUTE, 15 * MINUTE), min_wait=0
)
"""For a live connection that worked before."""


def clamp_retry_after(retry_after: float) -> float:
    """Return a wait that a server asked for, between a minute and an hour."""
    return min(max(retry_after, MINUTE), HOUR)


@dataclass(slots=True)
class ExtraRequests:
    """Requests beside the polls: one a minute for an account, whatever they ask for."""

    _next_at: float = 0.0

    @property
    def is_due(self) -> bool:
        """Return whether one may be made now."""
        return monotonic() >= self._next_at

    def count(self) -> None:
        """Count one that is made now."""
        # Polls, at which they are made, come up to a second early.
        self._next_at = monotonic() + MINUTE - 2
