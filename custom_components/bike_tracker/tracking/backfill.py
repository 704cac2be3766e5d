"""Rides from before a tracker was set up, which the service's history has."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final

from .history import HistoryAnswer, replayed
from .reports import in_order
from .ride_state import NEW_RIDE_STATE, Ride
from .rides import end_ride

MAX_BACKFILL_AGE: Final = timedelta(days=30)
"""How far back rides from before are asked for."""
# A ride that starts so soon after the first report may have begun before that.
_STANDS_AFTER: Final = timedelta(minutes=5)


class Backfill:
    """One answer of the history, replayed in parts."""

    def __init__(self, answer: HistoryAnswer, start: datetime) -> None:
        """Begin with what was reported from the start on."""
        reports = [it for it in answer.reports if start <= it.moment <= answer.until]
        self._answer = HistoryAnswer(in_order(reports), answer.until)
        self._start = start
        self._rides: dict[datetime, Ride] = {}

    def replay(self, now: datetime) -> Iterator[None]:
        """Replay the reports, in parts that are short enough for the event loop."""
        ride_state = NEW_RIDE_STATE
        for part in self._answer.parts():
            ride_state, over = replayed(ride_state, part.reports, now)
            self._rides |= over
            yield
        ride_state, _ = end_ride(ride_state)
        if ride_state.ended:
            self._rides[ride_state.ended.started_at] = ride_state.ended

    def result(self, now: datetime) -> tuple[Sequence[Ride], datetime | None]:
        """Return the rides, and up to when the others are asked for, None if all were.

        One that may have begun before the start comes with the others.
        """
        start, (reports, until) = self._start, self._answer
        rides = [ride for ride in self._rides.values() if ride.distance]
        rides.sort(key=attrgetter("started_at"))
        if start <= now - MAX_BACKFILL_AGE:
            return rides, None
        if rides and rides[0].started_at <= reports[0].moment + _STANDS_AFTER:
            rest = rides[0].moved_at + _STANDS_AFTER
            # A ride of half a day is taken as it is: the next answer goes farther back.
            if rest <= start + (until - start) / 2:
                return rides[1:], rest
        return rides, start
