"""When to ask for the service's own history, which is not documented either.

Servers like Traccar answer `GET /positions` with a device and a time.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Final, NamedTuple

from ..api import InvalidResponseError, Position, TrackingClient, TrackingError
from ..const import LOGGER
from ..tracking import MAX_AGE, MAX_BACKFILL_AGE, HistoryAnswer, HistoryGap, Trackers
from .backoff import MAX_WAIT, MINUTE, ExtraRequests, clamp_retry_after
from .positions import EndpointSupport

# A courier's week is 16,000 reports, which would stop the event loop for half a second.
_MAX_PORTION: Final = timedelta(days=1)
_MIN_PORTION: Final = timedelta(minutes=1)
# Of a day that is not answered: then it is left out, and the one before is asked for.
_MAX_TRIES: Final = 3
# Of what somebody asks for who waits for the answer.
_MAX_A_MINUTE: Final = 10


class _Rest(NamedTuple):
    """What is left of a gap after an answer that was none, or not the whole."""

    start: datetime
    portion: timedelta = _MAX_PORTION
    """How much the service can tell at once."""
    failed_at: float = 0.0
    """When it failed to, by the monotonic clock: others come before."""


class _DayBefore(NamedTuple):
    """How the next request for rides from before is made."""

    portion: timedelta = _MAX_PORTION
    failures: int = 0
    retry_at: float = 0.0
    """By the monotonic clock."""


class HistoryRequest(NamedTuple):
    """What one request asks for."""

    tracker: str
    device_id: int
    start: datetime
    until: datetime
    portion: timedelta


@dataclass(slots=True, eq=False)
class History:
    """Asks what fills one gap after another, the newest first."""

    client: TrackingClient
    extra_requests: ExtraRequests
    support: EndpointSupport = field(default_factory=EndpointSupport)
    _rests: dict[str, _Rest] = field(default_factory=dict)
    _day_before: _DayBefore = field(default_factory=_DayBefore)
    _asked: deque[float] = field(default_factory=lambda: deque(maxlen=_MAX_A_MINUTE))

    @property
    def may_tell(self) -> bool:
        """Return whether the service may have a history: it has, or is to be asked again."""
        return self.support.is_supported is not False or self.support.is_due

    def next_request(
        self, gaps: Mapping[str, HistoryGap], trackers: Trackers, now: datetime
    ) -> HistoryRequest | None:
        """Return what is asked for now, None if it is not time to.

        Guarded bikes come first, then rides, the newest first.
        """

        def priority(key: str) -> tuple[bool, bool, datetime]:
            is_guarded = trackers[key].guarded_since is not None
            return is_guarded, gaps[key].is_of_ride, gaps[key].noticed_at

        wanted = [
            key
            for key, gap in gaps.items()
            if now - gap.noticed_at < MAX_AGE and key in trackers
        ]
        wanted.sort(key=priority)
        self._rests = {key: self._rests[key] for key in self._rests.keys() & wanted}
        # Of one without an internal ID nobody can ask.
        ids = {
            key: device_id for key in wanted if (device_id := trackers[key].device.id)
        }
        is_time = self.support.is_due and self.extra_requests.is_due
        if not ids or not is_time:
            return None
        # Of those that failed, the one that did so first.
        rests = {key: self._rests.get(key, _Rest(gaps[key].start)) for key in ids}
        tracker = min(reversed(ids), key=lambda key: rests[key].failed_at)
        gap, rest = gaps[tracker], rests[tracker]
        start = max(rest.start, gap.start, now - MAX_AGE)
        # Clocks of trackers may be ahead.
        until = min(max(now, gap.known), start + rest.portion)
        return HistoryRequest(tracker, ids[tracker], start, until, rest.portion)

    async def async_ask(self, request: HistoryRequest) -> HistoryAnswer | None:
        """Return what fills a gap, None if it is to be asked for again later."""
        tracker, device_id, start, until, portion = request
        self.extra_requests.count()
        try:
            reports = await self.async_get(device_id, start, until)
        except TrackingError as err:
            LOGGER.debug("No history (%s)", err)
            self._rests[tracker] = self._after(err, request)
            return None
        # It would never be up to date in portions that are as short as they came.
        self._rests[tracker] = _Rest(until, min(2 * portion, _MAX_PORTION))
        return HistoryAnswer(reports, until)

    def next_backfill(
        self, untils: Mapping[str, datetime | None], trackers: Trackers, now: datetime
    ) -> HistoryRequest | None:
        """Return what is asked for now of rides from before, the newest day first."""
        _, _, retry_at = self._day_before
        is_time = self.extra_requests.is_due and self.support.is_due
        if not is_time or monotonic() < retry_at or self.support.is_supported is False:
            return None
        wanted = {
            unique_id: (until, device_id)
            for unique_id, until in untils.items()
            if until
            and (tracker := trackers.get(unique_id))
            and (device_id := tracker.device.id)
        }
        if not wanted:
            return None
        unique_id = max(wanted, key=wanted.__getitem__)
        until, device_id = wanted[unique_id]
        portion = self._day_before.portion
        start = min(max(until - portion, now - MAX_BACKFILL_AGE), until)
        return HistoryRequest(unique_id, device_id, start, until, portion)

    async def async_ask_backfill(self, request: HistoryRequest) -> HistoryAnswer | None:
        """Return what was reported in a time before, None if it is asked for again.

        Nothing was in one of which the service tells nothing.
        """
        self.extra_requests.count()
        try:
            reports = await self.async_get(
                request.device_id, request.start, request.until
            )
        except TrackingError as err:
            LOGGER.debug("No history (%s)", err)
            if not self._gives_up(err, request.portion):
                return None
            reports = []
        self._day_before = _DayBefore()
        return HistoryAnswer(reports, request.until)

    async def async_get(
        self, device_id: int, start: datetime, end: datetime
    ) -> list[Position]:
        """Return what a device reported in a time; raises what the client does."""
        reports = await self.client.async_get_history(device_id, start, end)
        self.support = EndpointSupport(is_supported=True)
        return reports

    def allows(self) -> bool:
        """Count a question of somebody who waits; return whether it may be asked."""
        now = monotonic()
        if len(self._asked) == _MAX_A_MINUTE and now - self._asked[0] < MINUTE:
            return False
        self._asked.append(now)
        return True

    def _gives_up(self, err: TrackingError, portion: timedelta) -> bool:
        """Return whether to go on with the day before after an error."""
        half, failures = portion / 2, self._day_before.failures + 1
        if err.is_too_large:
            self._day_before = _DayBefore(half)
            return half < _MIN_PORTION
        if not self.support.is_supported:
            self.support = self.support.failed(err)
        wait = clamp_retry_after(err.retry_after or MAX_WAIT)
        self._day_before = _DayBefore(portion, failures, monotonic() + wait)
        if self.support.is_supported is False:
            return False
        return isinstance(err, InvalidResponseError) or failures >= _MAX_TRIES

    def _after(self, err: TrackingError, request: HistoryRequest) -> _Rest:
        """Return what is asked for next of a tracker after an answer that is none."""
        _, _, start, until, portion = request
        if not err.is_too_large:
            self.support = self.support.failed(err)
            return _Rest(start, portion, monotonic())
        half = (until - start) / 2
        # What does not fit into a minute is never told.
        return _Rest(start, half) if half >= _MIN_PORTION else _Rest(until, 2 * portion)
