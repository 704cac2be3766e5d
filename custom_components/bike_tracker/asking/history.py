"""When to ask for the service's own history: what trackers reported meanwhile.

Nobody promised it either. Servers like Traccar answer `GET /positions` with a device and a
time; whether this one does is found out by asking.
"""

from collections import deque
from collections.abc import Mapping
from datetime import datetime, timedelta
from time import monotonic
from typing import Final, NamedTuple

from ..account import LONGEST, Gap, Past, Trackers
from ..api import Position, TrackingClient, TrackingError
from ..const import LOGGER
from .refused_positions import Offer
from .waits import MINUTE, Requests

# Polls, at which it is asked for, come up to a second early.
_BETWEEN: Final = MINUTE - 2
_MOST_WAITING: Final = 500
# Of what somebody asks for who waits for the answer.
_MOST_A_MINUTE: Final = 10
_SHORTEST: Final = timedelta(minutes=1)


class _Rest(NamedTuple):
    """What is left of a gap after an answer that was none, or not the whole."""

    start: datetime
    portion: timedelta = LONGEST
    """How much the service can tell at once."""
    failed_at: float = 0.0
    """When it failed to, by the monotonic clock: others come before."""


class History:
    """Asks what fills one gap after another, the newest first: one a minute at most.

    Lists and positions come first, and an idle account has no gaps.
    """

    def __init__(self, client: TrackingClient, requests: Requests) -> None:
        """Begin with a service that was not asked yet."""
        self.offer = Offer()
        self.waiting = 0
        """How many gaps there were to ask for."""
        self._client = client
        self._requests = requests
        self._not_before = 0.0
        self._rests: dict[str, _Rest] = {}
        self._asked = deque[float](maxlen=_MOST_A_MINUTE)

    @property
    def may_tell(self) -> bool:
        """Return whether the service may tell what was: it does, or is to be asked again."""
        return self.offer.is_made is not False or monotonic() >= self.offer.again_at

    def next_of(self, gaps: Mapping[str, Gap], now: datetime) -> str | None:
        """Return the tracker that is asked about now, None if it is not time to."""
        wanted = [key for key in gaps if now - gaps[key].noticed_at < LONGEST]
        wanted = sorted(wanted, key=lambda key: gaps[key].noticed_at)[-_MOST_WAITING:]
        self.waiting = len(wanted)
        self._rests = {key: rest for key, rest in self._rests.items() if key in wanted}
        if monotonic() < max(self._not_before, self.offer.again_at):
            return None
        if not wanted or not self._requests.spare:
            return None
        # Of those that failed, the one that did so first.
        return min(reversed(wanted), key=lambda key: self._rest(key, now).failed_at)

    async def async_ask(
        self, gaps: Mapping[str, Gap], trackers: Trackers, now: datetime
    ) -> tuple[str, Past] | None:
        """Return whose gap is filled with what, None if none is for now.

        No error of this call goes further than this: it is asked for again later. What
        is too much at once is told in portions, from the beginning.
        """
        gaps = {key: gap for key, gap in gaps.items() if _id_of(trackers, key)}
        if (tracker := self.next_of(gaps, now)) is None:
            return None
        rest = self._rest(tracker, gaps[tracker].start)
        start = max(rest.start, gaps[tracker].start, now - LONGEST)
        # Clocks of trackers may be ahead.
        until = min(max(now, gaps[tracker].known), start + rest.portion)
        self._not_before = monotonic() + _BETWEEN
        try:
            reports = await self.async_get(_id_of(trackers, tracker), start, until)
        except TrackingError as err:
            LOGGER.debug("No history (%s)", err)
            self._rests[tracker] = self._after(err, rest, start, until)
            return None
        # It would never be up to date in portions that are as short as they came.
        self._rests[tracker] = _Rest(until, min(2 * rest.portion, LONGEST))
        return tracker, Past(reports, until)

    async def async_get(
        self, device_id: int, start: datetime, end: datetime
    ) -> list[Position]:
        """Return what a device reported in a time; raises what the client does."""
        self._requests.note()
        reports = await self._client.async_get_history(device_id, start, end)
        self.offer = Offer(is_made=True)
        return reports

    def allows(self) -> bool:
        """Count a question of somebody who waits; return whether it may be asked.

        That is ten times a minute, whatever else is asked for.
        """
        now = monotonic()
        if len(self._asked) == _MOST_A_MINUTE and now - self._asked[0] < MINUTE:
            return False
        self._asked.append(now)
        return True

    def _rest(self, tracker: str, start: datetime) -> _Rest:
        return self._rests.get(tracker) or _Rest(start)

    def _after(
        self, err: TrackingError, rest: _Rest, start: datetime, until: datetime
    ) -> _Rest:
        """Return what is asked for next of a tracker after an answer that is none."""
        if not err.is_too_large:
            self.offer, _ = self.offer.failed(err)
            return rest._replace(failed_at=monotonic())
        half = (until - start) / 2
        if half >= _SHORTEST:
            return _Rest(start, half)
        # What does not fit into so little time is never told.
        return _Rest(until, 2 * rest.portion)


def _id_of(trackers: Trackers, tracker: str) -> int:
    """Return the internal ID of a tracker, 0 if it is not known."""
    known = trackers.get(tracker)
    return (known and known.device.id) or 0
