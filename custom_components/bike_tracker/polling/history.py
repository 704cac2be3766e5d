"""When to ask for the service's own history, which nobody promised either.

Servers like Traccar answer `GET /positions` with a device and a time.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Final, NamedTuple

from ..api import Position, TrackingClient, TrackingError
from ..const import LOGGER
from ..tracking import LONGEST, Gap, Past, Trackers
from .refused_positions import Offer
from .waits import MINUTE, spare_requests

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


class Question(NamedTuple):
    """What one request asks for."""

    tracker: str
    device_id: int
    start: datetime
    until: datetime
    portion: timedelta


@dataclass(slots=True, eq=False)
class History:
    """Asks what fills one gap after another, the newest first: one a minute at most."""

    client: TrackingClient
    offer: Offer = field(default_factory=Offer)
    _not_before: float = 0.0
    _rests: dict[str, _Rest] = field(default_factory=dict)
    _asked: deque[float] = field(default_factory=lambda: deque(maxlen=_MOST_A_MINUTE))

    @property
    def may_tell(self) -> bool:
        """Return whether the service may tell what was: it does, or is to be asked again."""
        return self.offer.is_made is not False or monotonic() >= self.offer.again_at

    def next_of(
        self, gaps: Mapping[str, Gap], trackers: Trackers, now: datetime
    ) -> Question | None:
        """Return what is asked for now, None if it is not time to."""
        wanted = [key for key in gaps if now - gaps[key].noticed_at < LONGEST]
        wanted.sort(key=lambda key: (gaps[key].is_of_ride, gaps[key].noticed_at))
        self._rests = {key: self._rests[key] for key in self._rests.keys() & wanted}
        # Of one without an internal ID nobody can ask.
        ids = {
            key: known.device.id
            for key in wanted[-_MOST_WAITING:]
            if (known := trackers.get(key)) and known.device.id
        }
        is_time = monotonic() >= max(self._not_before, self.offer.again_at)
        if not ids or not is_time or not spare_requests(self.client):
            return None
        # Of those that failed, the one that did so first.
        rests = {key: self._rests.get(key, _Rest(gaps[key].start)) for key in ids}
        tracker = min(reversed(ids), key=lambda key: rests[key].failed_at)
        gap, rest = gaps[tracker], rests[tracker]
        start = max(rest.start, gap.start, now - LONGEST)
        # Clocks of trackers may be ahead.
        until = min(max(now, gap.known), start + rest.portion)
        return Question(tracker, ids[tracker], start, until, rest.portion)

    async def async_ask(self, question: Question) -> Past | None:
        """Return what fills a gap, None if it is to be asked for again later."""
        tracker, device_id, start, until, portion = question
        self._not_before = monotonic() + _BETWEEN
        try:
            reports = await self.async_get(device_id, start, until)
        except TrackingError as err:
            LOGGER.debug("No history (%s)", err)
            self._rests[tracker] = self._after(err, question)
            return None
        # It would never be up to date in portions that are as short as they came.
        self._rests[tracker] = _Rest(until, min(2 * portion, LONGEST))
        return Past(reports, until)

    async def async_get(
        self, device_id: int, start: datetime, end: datetime
    ) -> list[Position]:
        """Return what a device reported in a time; raises what the client does."""
        reports = await self.client.async_get_history(device_id, start, end)
        self.offer = Offer(is_made=True)
        return reports

    def allows(self) -> bool:
        """Count a question of somebody who waits; return whether it may be asked."""
        now = monotonic()
        if len(self._asked) == _MOST_A_MINUTE and now - self._asked[0] < MINUTE:
            return False
        self._asked.append(now)
        return True

    def _after(self, err: TrackingError, question: Question) -> _Rest:
        """Return what is asked for next of a tracker after an answer that is none."""
        _, _, start, until, portion = question
        if not err.is_too_large:
            self.offer = self.offer.failed(err)
            return _Rest(start, portion, monotonic())
        half = (until - start) / 2
        # What does not fit into a minute is never told.
        return _Rest(start, half) if half >= _SHORTEST else _Rest(until, 2 * portion)
