"""The time up to which triggers were evaluated. It is stored so that no wait of a trigger (`for`) ends twice.

No wait ends twice even if the clock of Home Assistant or of the service is set back.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Self

# Maximum time between applying an update and evaluating triggers for it.
_MAX_DELAY: Final = timedelta(seconds=1)


class Reached(NamedTuple):
    """The times up to which triggers were evaluated before the clock was set back."""

    at: datetime
    asked_at: datetime
    since: datetime
    """The time by the changed clock, just before the change was noticed."""
    later: tuple[datetime, ...]
    """Starts of waits that began before the change. By the changed clock, these times are in the future."""

    def includes(self, start: datetime) -> bool:
        """Return whether the wait that began at `start` began before the clock was set back."""
        return start < self.since or start in self.later

    def set_back(self, new: Reached) -> Self:
        """Return this tuple after the clock was set back again.

        Keep `at` and `asked_at`, and use the earlier `since`. Add to `later` each wait
        in `new.later` that also began before this tuple's own change of the clock.
        """
        later = {*self.later, *filter(self.includes, new.later)}
        return self._replace(
            since=min(self.since, new.since), later=tuple(sorted(later))
        )


class Evaluation(NamedTuple):
    """The times up to which waits were evaluated, in UTC."""

    at: datetime
    """Time of the evaluation, by Home Assistant's clock."""
    asked_at: datetime
    """Start of the newest poll that succeeded. Silence is evaluated up to this time."""
    ahead: tuple[Reached, ...] = ()
    """Times, later than `at` or `asked_at`, up to which waits were evaluated before the clock was set back."""

    def next(
        self, at: datetime, asked_at: datetime, starts: Iterable[datetime]
    ) -> Self:
        """Return the evaluation after waits were evaluated up to these times. `starts` are the known starts of waits.

        If a time is earlier than before, a clock was set back: waits that ended by the
        old clock do not end again, and waits that begin later follow the new clock.
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
        """Return the evaluation to compare with the end of a wait that began at `start`.

        If the clock was set back during the wait, the result has the later times that
        the evaluation had reached by the old clock.
        """
        reached = [it for it in self.ahead if it.includes(start)]
        if not reached:
            return self
        at = max(self.at, *(it.at for it in reached))
        asked_at = max(self.asked_at, *(it.asked_at for it in reached))
        return self._replace(at=at, asked_at=asked_at)
