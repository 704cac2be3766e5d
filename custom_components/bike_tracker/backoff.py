"""How long to wait after a failure."""

import random

_FIRST = 60
_LONGEST = 15 * 60
_LONGEST_ASKED_FOR = 60 * 60
_JITTER = 0.1


class Backoff:
    """Waits of 1, 2, 4 … 15 minutes, give or take a tenth."""

    def __init__(self) -> None:
        """Begin with the shortest wait."""
        self._next: float = _FIRST

    def succeed(self) -> None:
        """Begin with the shortest wait again."""
        self._next = _FIRST

    def fail(self, asked_for: float | None = None) -> float:
        """Return the wait after another failure, in seconds.

        A wait that the server asked for is obeyed, between a minute and an hour.
        """
        wait = self._next
        self._next = min(2 * wait, _LONGEST)
        if asked_for is not None:
            return min(max(asked_for, _FIRST), _LONGEST_ASKED_FOR)
        jitter = random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - no secret
        return wait * jitter
