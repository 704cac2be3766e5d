"""How long to wait after a failure."""

import random
from typing import Final

LONGEST_WAIT: Final = 5 * 60 - 10
"""Seconds. A bike that comes back moves a while later: all within five minutes."""
_WAITS = (60, 2 * 60, 4 * 60, LONGEST_WAIT)
_LONGEST_ASKED_FOR = 60 * 60


def shortened(seconds: float) -> float:
    """Return a wait, up to a tenth shorter: not all accounts ask in the same second.

    A minute stays a minute: nobody is asked more often than while all is well.
    """
    return max(_WAITS[0], seconds * random.uniform(0.9, 1))  # noqa: S311 - no secret


def obeyed(asked_for: float, at_least: float = _WAITS[0]) -> float:
    """Return a wait that a server asked for: an hour at most, and not too short."""
    return min(max(asked_for, at_least), _LONGEST_ASKED_FOR)


class Backoff:
    """Waits of 1, 2, 4, 5, 5 … minutes."""

    def __init__(self) -> None:
        """Begin with the shortest wait."""
        self._failures = 0

    def succeed(self) -> None:
        """Begin with the shortest wait again."""
        self._failures = 0

    def fail(self, asked_for: float | None = None) -> float:
        """Return the wait after another failure, in seconds.

        A wait that the server asked for is obeyed, between a minute and an hour.
        """
        wait = _WAITS[min(self._failures, len(_WAITS) - 1)]
        self._failures += 1
        if asked_for is not None:
            return obeyed(asked_for)
        return shortened(wait)
