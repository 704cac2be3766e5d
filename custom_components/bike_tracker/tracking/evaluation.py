"""The time up to which the waits of triggers were evaluated, also if a clock is set back."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Self

# Maximum time from applying an update to its evaluation.
_LATEST: Final = timedelta(seconds=1)


class Reached(NamedTuple):
    """A time that was reached before the clock was set back."""

    at: datetime
    asked_at: datetime
    since: datetime
    """When that was noticed, by the clock that was set back."""
    later: tuple[datetime, ...]
    """Starts of waits that were later than that."""

    def includes(self, start: datetime) -> bool:
        """Return whether a wait began before the clock was set back."""
        return start < self.since or start in self.later

    def set_back(self, new: Reached) -> Self:
        """Return this time after the clock is set back once more."""
        later = {*self.later, *filter(self.includes, new.later)}
        return self._replace(
            since=min(self.since, new.since), later=tuple(sorted(later))
        )


class Evaluation(NamedTuple):
    """The time up to which waits were evaluated, in UTC."""

    at: datetime
    """By the clock."""
    asked_at: datetime
    """By the start of the newest request that was answered."""
    ahead: tuple[Reached, ...] = ()
    """Later times that were reached before the clock was set back."""

    def next(
        self, at: datetime, asked_at: datetime, starts: Iterable[datetime]
    ) -> Self:
        """Return the next evaluation. `starts` are the known starts of waits.

        Waits from before the clock was set back stay evaluated. Later waits count by the
        new clock.
        """
        ahead = self.ahead
        if at < self.at or asked_at < self.asked_at:
            later = tuple(start for start in starts if start > at)
            since = min(asked_at, at - _LATEST)
            new = Reached(self.at, self.asked_at, since, later)
            ahead = (*(it.set_back(new) for it in ahead), new)
        still = tuple(it for it in ahead if it.at > at or it.asked_at > asked_at)
        return self._replace(at=at, asked_at=asked_at, ahead=still)

    def of_wait(self, start: datetime) -> Self:
        """Return the time up to which a wait with this start was evaluated."""
        reached = [it for it in self.ahead if it.includes(start)]
        if not reached:
            return self
        at = max(self.at, *(it.at for it in reached))
        asked_at = max(self.asked_at, *(it.asked_at for it in reached))
        return self._replace(at=at, asked_at=asked_at)
