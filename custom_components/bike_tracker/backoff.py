"""How long to wait after a failure."""

from collections.abc import Sequence
import random
from typing import Final

LONGEST_WAIT: Final = 5 * 60 - 10
"""Seconds. A bike that comes back moves a while later: all within five minutes."""
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_MINUTES: Final = (_MINUTE, 2 * _MINUTE, 4 * _MINUTE, LONGEST_WAIT)
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
