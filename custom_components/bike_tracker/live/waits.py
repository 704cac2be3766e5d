"""How long to wait before the live connection is tried again."""

from ..asking.waits import HOURS, jittered, obeyed

_MINUTE = 60
# A try is two requests: with five minutes between them they would be too many.
_WORKED = (5, _MINUTE, 2 * _MINUTE, 4 * _MINUTE, 5 * _MINUTE, 15 * _MINUTE)
_WELL_AFTER = 5 * _MINUTE


class Waits:
    """Waits of seconds and minutes where it worked, of hours where it never did."""

    def __init__(self) -> None:
        """Begin with a service of which nothing is known."""
        self._has_worked = False
        self._failures = 0

    def work(self, lasted: float = 0) -> None:
        """Take in that it works, and has for so many seconds."""
        if not self._has_worked or lasted >= _WELL_AFTER:
            self._has_worked, self._failures = True, 0

    def fail(self, lasted: float, asked_for: float | None) -> float:
        """Return the wait, in seconds, after a connection that lasted for so many.

        A wait that the server asked for is obeyed, unless it is shorter.
        """
        if lasted >= _WELL_AFTER:
            self._failures = 0
        waits = _WORKED if self._has_worked else HOURS
        wait = jittered(waits[min(self._failures, len(waits) - 1)])
        self._failures += 1
        return wait if asked_for is None else max(wait, obeyed(asked_for))
