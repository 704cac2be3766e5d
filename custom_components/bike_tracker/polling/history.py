"""When to ask for the service's own history, which is not documented either.

Servers like Traccar answer `GET /positions` with a device and a time.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Final, NamedTuple

from ..api import Position, TrackingClient, TrackingError
from ..api.errors import InvalidResponseError
from ..const import LOGGER
from ..tracking import MAX_BACKFILL_AGE, HistoryAnswer, HistoryGap, Trackers
from .backoff import MINUTE, EndpointSupport, ExtraRequests

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
    failed_at: float = 0.0
    """When it failed to, by the monotonic clock: others come before."""


class HistoryRequest(NamedTuple):
    """What one request asks for."""

    tracker: str
    device_id: int
    start: datetime
    until: datetime


@dataclass(slots=True, eq=False)
class History:
    """Asks what fills one gap after another, the newest first."""

    client: TrackingClient
    extra_requests: ExtraRequests
    support: EndpointSupport = field(default_factory=EndpointSupport)
    _rests: dict[str, _Rest] = field(default_factory=dict)
    _portion: timedelta = _MAX_PORTION
    """How much the service can tell at once."""
    _asked: deque[float] = field(default_factory=lambda: deque(maxlen=_MAX_A_MINUTE))

    @property
    def is_due(self) -> bool:
        """Return whether it is time to ask."""
        return self.extra_requests.is_due and self.support.failures.is_due

    def next_request(
        self, gaps: Mapping[str, HistoryGap], trackers: Trackers, now: datetime
    ) -> HistoryRequest | None:
        """Return what is asked for now, None if it is not time to.

        Guarded bikes come first, then rides, the newest first; of those that failed, the
        one that did so first.
        """
        # Of one without an internal ID nobody can ask.
        ids = {
            key: device_id
            for key in gaps
            if (known := trackers.get(key)) and (device_id := known.device.id)
        }
        self._rests = {key: self._rests[key] for key in self._rests.keys() & ids}
        if not ids or not self.is_due:
            return None
        rests = {key: self._rests.get(key, _Rest(gaps[key].start)) for key in ids}

        def priority(key: str) -> tuple[float, bool, bool, datetime]:
            is_guarded, gap = trackers[key].state.guard is not None, gaps[key]
            return -rests[key].failed_at, is_guarded, gap.is_of_ride, gap.noticed_at

        tracker = max(ids, key=priority)
        gap, rest = gaps[tracker], rests[tracker]
        start = max(rest.start, gap.start)
        # Clocks of trackers may be ahead.
        until = min(max(now, gap.known), start + self._portion)
        return HistoryRequest(tracker, ids[tracker], start, until)

    async def async_ask(self, request: HistoryRequest) -> HistoryAnswer | None:
        """Return what fills a gap, None if it is to be asked for again later."""
        answer = await self._async_answer(request)
        if isinstance(answer, TrackingError):
            self._rests[request.tracker] = _Rest(request.start, monotonic())
            return None
        self._rests[request.tracker] = _Rest(request.until)
        return answer

    def next_backfill(
        self, untils: Mapping[str, datetime | None], trackers: Trackers, now: datetime
    ) -> HistoryRequest | None:
        """Return what is asked for now of rides from before, the newest day first."""
        if not self.is_due:
            return None
        wanted = [
            (until, unique_id, device_id)
            for unique_id, until in untils.items()
            if until
            and (tracker := trackers.get(unique_id))
            and (device_id := tracker.device.id)
        ]
        if not wanted:
            return None
        until, unique_id, device_id = max(wanted)
        start = min(max(until - self._portion, now - MAX_BACKFILL_AGE), until)
        return HistoryRequest(unique_id, device_id, start, until)

    async def async_ask_backfill(self, request: HistoryRequest) -> HistoryAnswer | None:
        """Return what was reported in a time before, None if it is asked for again.

        Nothing was in one of which the service tells nothing.
        """
        answer, support = await self._async_answer(request), self.support
        if isinstance(answer, HistoryAnswer):
            return answer
        if answer.is_too_large or support.is_supported is False:
            return None
        if isinstance(answer, InvalidResponseError):
            # It has a history, though not of that day: others need not wait.
            self.support = EndpointSupport(is_supported=True)
        elif support.failures.length % _MAX_TRIES:
            return None
        return HistoryAnswer([], request.until)

    async def _async_answer(
        self, request: HistoryRequest
    ) -> HistoryAnswer | TrackingError:
        self.extra_requests.count()
        _, device_id, start, until = request
        try:
            reports = await self.async_get(device_id, start, until)
        except TrackingError as err:
            LOGGER.debug("No history (%s)", err)
            if not err.is_too_large:
                self.support = self.support.failed(err)
            elif until - start < 2 * _MIN_PORTION:
                # What does not fit into a minute is never told.
                return HistoryAnswer([], until)
            else:
                self._portion = (until - start) / 2
            return err.with_traceback(None)
        # It would never be up to date in short ones. An answer for a shorter time says
        # nothing of a longer one.
        self._portion = min(max(self._portion, 2 * (until - start)), _MAX_PORTION)
        return HistoryAnswer(reports, until)

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
