"""The time up to which triggers were evaluated, so that waits (`for`) end only once.

This also holds if Home Assistant's or the service's clock is set back.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Self

# Maximum time from applying an update to its evaluation.
_MAX_DELAY: Final = timedelta(seconds=1)


class Reached(NamedTuple):
    """The time up to which triggers were evaluated before the clock was set back."""

    at: datetime
    asked_at: datetime
    since: datetime
    """When the change of the clock was noticed, by the new clock."""
    later: tuple[datetime, ...]
    """Starts of waits that are in the future by the new clock."""

    def includes(self, start: datetime) -> bool:
        """Return whether a wait began before the clock was set back."""
        return start < self.since or start in self.later

    def set_back(self, new: Reached) -> Self:
        """Return this time, adjusted after the clock is set back once more."""
        later = {*self.later, *filter(self.includes, new.later)}
        return self._replace(
            since=min(self.since, new.since), later=tuple(sorted(later))
        )


class Evaluation(NamedTuple):
    """The time up to which waits were evaluated, in UTC."""

    at: datetime
    """By Home Assistant's clock."""
    asked_at: datetime
    """Start of the newest request that the service answered."""
    ahead: tuple[Reached, ...] = ()
    """Later times up to which waits were evaluated before the clock was set back."""

    def next(
        self, at: datetime, asked_at: datetime, starts: Iterable[datetime]
    ) -> Self:
        """Return the evaluation at a new time. `starts` are the known starts of waits.

        After the clock is set back, waits that were already evaluated are not evaluated
        again. Waits that begin later follow the new clock.
        """
        ahead = self.ahead
        if at < self.at or asked_at < self.asked_at:
            later = tuple(start for start in starts if start > at)
            since = min(asked_at, at - _MAX_DELAY)
            new = Reached(self.at, self.asked_at, since, later)
            ahead = (*(it.set_back(new) for it in ahead), new)
        still = tuple(it for it in ahead if it.at > at or it.asked_at > asked_at)
        return self._replace(at=at, asked_at=asked_at, ahead=still)

    def of_wait(self, start: datetime) -> Self:
        """Return the evaluation that counts for a wait that began at `start`.

        Its times are later if the wait began before the clock was set back.
        """
        reached = [it for it in self.ahead if it.includes(start)]
        if not reached:
            return self
        at = max(self.at, *(it.at for it in reached))
        asked_at = max(self.asked_at, *(it.asked_at for it in reached))
        return self._replace(at=at, asked_at=asked_at)
