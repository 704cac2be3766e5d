"""When to ask for the service's own history, which is not documented either."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Final, NamedTuple

from ..api.client import TrackingClient
from ..api.errors import InvalidResponseError, TrackingError
from ..api.models import Position
from ..const import LOGGER
from ..tracking.history import MAX_BACKFILL_AGE, HistoryAnswer, HistoryGap
from ..tracking.state import Tracker, Trackers
from .backoff import MINUTE, EndpointSupport, ExtraRequests

# A courier's week is 16,000 reports, which would stop the event loop for half a second.
_MAX_PORTION: Final = timedelta(days=1)
_MIN_PORTION: Final = timedelta(minutes=1)
# Of a day that is not answered: then it is left out, and the one before is asked for.
_MAX_TRIES: Final = 3
# Of what somebody asks for who waits for the answer.
_MAX_A_MINUTE: Final = 10


class HistoryRequest(NamedTuple):
    """What one request asks for."""

    tracker: str
    device_id: int
    start: datetime
    until: datetime
    is_backfill: bool = False
    """Whether that is rides from before a tracker was set up."""


@dataclass(slots=True, eq=False)
class History:
    """Asks what fills one gap after another, the newest first."""

    client: TrackingClient
    extra_requests: ExtraRequests
    support: EndpointSupport = field(default_factory=EndpointSupport)
    _failed_at: dict[str, float] = field(default_factory=dict)
    """When a gap was not answered, by the monotonic clock: others come before."""
    _portion: timedelta = _MAX_PORTION
    """How much the service can tell at once."""
    _asked: deque[float] = field(default_factory=lambda: deque(maxlen=_MAX_A_MINUTE))

    def next_request(
        self, gaps: Mapping[str, HistoryGap], trackers: Trackers, now: datetime
    ) -> HistoryRequest | None:
        """Return what is asked for now, None if it is not time to.

        Guarded bikes come first, then rides, the newest first; of those that failed, the
        one that did so first.
        """
        if not (ids := self._ids(gaps, trackers)):
            return None
        tracker = max(ids, key=lambda key: self._priority(trackers[key], gaps[key]))
        gap = gaps[tracker]
        # Clocks of trackers may be ahead.
        until = min(max(now, gap.known), gap.start + self._portion)
        return HistoryRequest(tracker, ids[tracker], gap.start, until)

    def _priority(self, tracker: Tracker, gap: HistoryGap) -> tuple[object, ...]:
        failed_at = self._failed_at.get(tracker.device.unique_id, 0.0)
        is_guarded = tracker.state.guard is not None
        return -failed_at, is_guarded, gap.is_of_ride, gap.noticed_at

    def next_backfill(
        self, untils: Mapping[str, datetime | None], trackers: Trackers, now: datetime
    ) -> HistoryRequest | None:
        """Return what is asked for now of rides from before, the newest day first."""
        wanted = {key: until for key, until in untils.items() if until}
        if not (ids := self._ids(wanted, trackers)):
            return None
        until, tracker = max((wanted[key], key) for key in ids)
        start = min(max(until - self._portion, now - MAX_BACKFILL_AGE), until)
        return HistoryRequest(tracker, ids[tracker], start, until, is_backfill=True)

    def _ids(self, keys: Iterable[str], trackers: Trackers) -> dict[str, int]:
        """Return the internal IDs of those that can be asked for now."""
        if not (self.extra_requests.is_due and self.support.failures.is_due):
            return {}
        # Of one without an internal ID nobody can ask.
        return {
            key: device_id
            for key in keys
            if (tracker := trackers.get(key)) and (device_id := tracker.device.id)
        }

    async def async_ask(self, request: HistoryRequest) -> HistoryAnswer | None:
        """Return what was reported, None if it is to be asked for again later."""
        self.extra_requests.count()
        tracker, device_id, start, until, _ = request
        try:
            reports = await self.async_get(device_id, start, until)
        except TrackingError as err:
            LOGGER.debug("No history (%s)", err)
            return HistoryAnswer([], until) if self._is_left_out(request, err) else None
        self._failed_at.pop(tracker, None)
        # It would never be up to date in short ones. An answer for a shorter time says
        # nothing of a longer one.
        self._portion = min(max(self._portion, 2 * (until - start)), _MAX_PORTION)
        return HistoryAnswer(reports, until)

    def _is_left_out(self, request: HistoryRequest, err: TrackingError) -> bool:
        """Return whether a time that is not answered is not asked for again."""
        if not request.is_backfill:
            self._failed_at[request.tracker] = monotonic()
        if err.is_too_large:
            # What does not fit into a minute is never told.
            length = request.until - request.start
            self._portion = max(length / 2, _MIN_PORTION)
            return length < 2 * _MIN_PORTION
        self.support = self.support.failed(err)
        if not request.is_backfill or self.support.is_supported is False:
            return False
        if isinstance(err, InvalidResponseError):
            # It has a history, though not of that day: others need not wait.
            self.support = EndpointSupport(is_supported=True)
            return True
        return self.support.failures.length % _MAX_TRIES == 0

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
