"""The time up to which triggers were evaluated. It ensures that each wait (`for`) ends only once.

This also holds if the clock of Home Assistant or of the service is set back.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Self

# Maximum time between applying an update and its evaluation.
_MAX_DELAY: Final = timedelta(seconds=1)


class Reached(NamedTuple):
    """The time up to which triggers were evaluated before the clock was set back."""

    at: datetime
    asked_at: datetime
    since: datetime
    """When the change of the clock was noticed, by the new clock."""
    later: tuple[datetime, ...]
    """When waits began. By the new clock, these times are in the future."""

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

        If the clock is set back, waits that were already evaluated are not evaluated
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
        """Return the evaluation to compare with a wait that began at `start`.

        For a wait that began before the clock was set back, its times are later.
        """
        reached = [it for it in self.ahead if it.includes(start)]
        if not reached:
            return self
        at = max(self.at, *(it.at for it in reached))
        asked_at = max(self.asked_at, *(it.asked_at for it in reached))
        return self._replace(at=at, asked_at=asked_at)
