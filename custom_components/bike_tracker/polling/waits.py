"""How long to wait after failures in a row, and how often to ask at all."""

from dataclasses import dataclass
import random
from time import monotonic
from typing import Final, NamedTuple

from ..api import TrackingClient
from ..api.client import DEVICES

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
LONGEST_WAIT: Final = 5 * MINUTE - 10
"""Seconds. A bike that comes back moves a while later: all within five minutes."""
_MOST: Final = 25
# Polls come up to a second early.
_TEN_MINUTES: Final = 10 * MINUTE + 2


class Row(NamedTuple):
    """Failures in a row: how many, and since when by the monotonic clock."""

    tries: int = 0
    since: float = 0.0

    def another(self) -> Row:
        """Return the row with one more."""
        return Row(self.tries + 1, self.since if self.tries else monotonic())


NONE_FAILED: Final = Row()


@dataclass(frozen=True, slots=True)
class Waits:
    """A table of waits, in seconds. Jitter only shortens them."""

    by_tries: tuple[float, ...]
    """After the first failure, the second …; the last one is repeated."""
    by_age: tuple[tuple[float, float], ...] = ()
    """From which age of the row on it is which wait instead."""
    least: float = MINUTE
    """Nobody is asked more often than while all is well."""

    def after(self, row: Row, asked_for: float | None = None) -> float:
        """Return the wait after the last failure of a row, or what a server asked for."""
        if asked_for is not None:
            return obeyed(asked_for)
        age = monotonic() - row.since
        by_age = [wait for older_than, wait in self.by_age if age >= older_than]
        wait = max([*self.by_tries[: row.tries][-1:], *by_age])
        # A tenth at most: not all accounts ask in the same second.
        return max(self.least, wait * random.uniform(0.9, 1))  # noqa: S311 - no secret


PASSING: Final = Waits((MINUTE, 2 * MINUTE, 4 * MINUTE, LONGEST_WAIT))
"""For what is known to work."""
NEVER_OFFERED: Final = Waits(tuple(hours * HOUR for hours in (1, 2, 4, 8, 16, 24)))
"""For what nobody promised."""
REFUSED_SIGN_IN: Final = Waits(
    (MINUTE, LONGEST_WAIT), ((HOUR, 15 * MINUTE), (24 * HOUR, HOUR))
)
"""So long that a password that is really wrong locks no account."""
MISSING_POSITION: Final = Waits(PASSING.by_tries, ((HOUR, HOUR),))
LIVE: Final = Waits(
    # A try is two requests: with five minutes between them they would be too many.
    (5, MINUTE, 2 * MINUTE, 4 * MINUTE, 5 * MINUTE, 15 * MINUTE),
    least=0,
)
"""For a live connection that worked before."""


def obeyed(asked_for: float | None, at_least: float = MINUTE) -> float:
    """Return a wait that a server asked for: an hour at most, and not too short."""
    return min(max(asked_for or 0, at_least), HOUR)


def spare_requests(client: TrackingClient) -> int:
    """Return how many may be made now: never more than 25 in any ten minutes.

    The list and positions, once a minute each, come first: they are never left out. What
    else there is to ask for has what they leave.
    """
    now = monotonic()
    listed_at = max((at for at, path in client.asked if path == DEVICES), default=0.0)
    next_at = max(now, listed_at + MINUTE)
    # Ten minutes end now, and with each of the polls to come.
    ends = [now, *(next_at + polls * MINUTE for polls in range(10))]
    return max(0, min(_left(client, end, polls) for polls, end in enumerate(ends)))


def _left(client: TrackingClient, end: float, polls: int) -> int:
    """Return what ten minutes leave, in which there are some more polls."""
    return _MOST - 2 * polls - sum(at > end - _TEN_MINUTES for at, _ in client.asked)
