"""How long to wait after a failure, and how often to ask at all."""

from collections import deque
from collections.abc import Sequence
import random
from time import monotonic
from typing import Final

LONGEST_WAIT: Final = 5 * 60 - 10
"""Seconds. A bike that comes back moves a while later: all within five minutes."""
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_MINUTES: Final = (_MINUTE, 2 * _MINUTE, 4 * _MINUTE, LONGEST_WAIT)
_MOST: Final = 25
# Polls come up to a second early.
_TEN_MINUTES: Final = 10 * _MINUTE + 2
HOURS: Final = tuple(hours * _HOUR for hours in (1, 2, 4, 8, 16, 24))
"""Waits for what a service never offered, in seconds."""


def jittered(seconds: float) -> float:
    """Return a wait, up to a tenth shorter: not all accounts ask in the same second."""
    return seconds * random.uniform(0.9, 1)  # noqa: S311 - no secret


def shortened(seconds: float) -> float:
    """Return a wait, up to a tenth shorter, but a minute.

    Nobody is asked more often than while all is well.
    """
    return max(_MINUTE, jittered(seconds))


def obeyed(asked_for: float, at_least: float = _MINUTE) -> float:
    """Return a wait that a server asked for: an hour at most, and not too short."""
    return min(max(asked_for, at_least), _HOUR)


class Backoff:
    """Waits of 1, 2, 4, 5, 5 … minutes, or others of which the last is repeated."""

    def __init__(self, waits: Sequence[float] = _MINUTES) -> None:
        """Begin with the first wait."""
        self._waits = waits
        self._failures = 0

    def succeed(self) -> None:
        """Begin with the first wait again."""
        self._failures = 0

    def fail(self, asked_for: float | None = None) -> float:
        """Return the wait after another failure, in seconds.

        A wait that the server asked for is obeyed, between a minute and an hour.
        """
        wait = self._waits[min(self._failures, len(self._waits) - 1)]
        self._failures += 1
        if asked_for is not None:
            return obeyed(asked_for)
        return shortened(wait)


class Requests:
    """Counts what was asked for: never more than 25 times in any ten minutes.

    The list and positions, once a minute each, come first: they are never left out. What
    else there is to ask for has what they leave.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._times: deque[float] = deque()

    def note(self) -> None:
        """Take in that something is asked for now."""
        now = monotonic()
        self._times.append(now)
        while self._times[0] < now - _TEN_MINUTES:
            self._times.popleft()

    @property
    def spare(self) -> int:
        """Return how many may be made now although list and positions are asked for on.

        In each ten minutes that begin before now and end after some polls to come.
        """
        now = monotonic()
        return max(
            0,
            min(
                _MOST
                - 2 * polls
                - sum(
                    time > now + polls * _MINUTE - _TEN_MINUTES for time in self._times
                )
                for polls in range(11)
            ),
        )
