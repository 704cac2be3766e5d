"""Requests to the service's undocumented history: which requests to send, and when."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Final, NamedTuple

from ..api import TrackingClient
from ..api.errors import TrackingError
from ..api.models import Position
from ..const import LOGGER
from ..tracking.history import MAX_BACKFILL_AGE, HistoryAnswer
from ..tracking.log import Gap
from ..tracking.state import Tracker, Trackers
from .backoff import (
    DAY,
    HOUR,
    MINUTE,
    NORMAL_BACKOFF,
    EndpointSupport,
    ExtraRequests,
    Failures,
    RateLimit,
)

# Maximum time range of a request. A courier's bike sends 16,000 reports a week:
# applying all of them in one step would block the event loop for half a second.
_MAX_PORTION: Final = timedelta(days=1)
_MIN_PORTION: Final = timedelta(minutes=1)
# The backfill requests rides from before the set-up, day by day. It skips a day that
# has failed this often, if another request succeeded before each retry.
_MAX_TRIES: Final = 3
_QUICK_SECONDS: Final = 1.0
_GUARD_PREFERRED_EVERY: Final = 10 * MINUTE
_ERROR_BACKOFF: Final = (*NORMAL_BACKOFF, HOUR)


class HistoryRequest(NamedTuple):
    """A request for the reports of a tracker in a time range."""

    tracker: str
    device_id: int
    start: datetime
    until: datetime
    is_backfill: bool = False
    """Whether the request is for rides from before the tracker was set up."""


class _Record(NamedTuple):
    """The past requests for one tracker."""

    asked_at: float = -DAY
    """Time of the last request for a gap, by the monotonic clock."""
    failed_at: float = 0.0
    """When the last request failed, by the monotonic clock; 0 if it succeeded."""
    errors: Failures = Failures()
    """Consecutive unexpected errors that occurred while the tracker's answers were applied."""
    failed_day: datetime | None = None
    """End of the day whose backfill failed most recently."""
    tries: int = 0
    """How often `failed_day` has failed."""
    answers: int = 0
    """Value of `History._answers` when `failed_day` failed most recently."""


@dataclass(slots=True, eq=False)
class History:
    """Chooses and sends requests: for gaps, and for rides from before the set-up."""

    client: TrackingClient
    extra_requests: ExtraRequests
    support: EndpointSupport = field(default_factory=EndpointSupport)
    _records: dict[str, _Record] = field(default_factory=dict)
    _answers: int = 0
    """Number of successful requests."""
    _portion: timedelta = _MAX_PORTION
    """Maximum time range of the next request. It becomes shorter if a response is too large."""
    _is_longer: bool = False
    """Whether a request for the maximum range has succeeded since the newest response that was too large."""
    _user_requests: RateLimit = field(default_factory=RateLimit)
    """Rate limit of requests that a user waits for."""
    _quick_backfill: RateLimit = field(default_factory=RateLimit)
    """Rate limit of the backfill while the service is quick."""
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    def next_request(
        self,
        gaps: Mapping[str, Gap],
        untils: Mapping[str, datetime | None],
        trackers: Trackers,
        now: datetime,
    ) -> HistoryRequest | None:
        """Return the next request that is due, or None. Requests for gaps come before the backfill."""
        if self._one_at_a_time.locked() or not self.support.failures.is_due:
            return None
        is_due = self.extra_requests.is_due
        request = self.next_gap(gaps, trackers, now) if is_due else None
        # While no gap waits, send more requests for the backfill to a quick service.
        if not gaps and self.extra_requests.is_quick:
            is_due = self._quick_backfill.is_due
        if request or not is_due:
            return request
        return self.next_backfill(untils, trackers, now)

    def next_gap(
        self, gaps: Mapping[str, Gap], trackers: Trackers, now: datetime
    ) -> HistoryRequest | None:
        """Return the request for the most urgent gap, or None.

        First come bikes with an armed guard, which a missing report may trigger. Each
        bike has this priority once in ten minutes. Then come gaps in rides, then other
        gaps, the newest first. Trackers whose last request failed come last, the oldest
        failure first.
        """
        if not (ids := self._ids(gaps, trackers)):
            return None
        tracker = max(ids, key=lambda key: self._priority(trackers[key], gaps[key]))
        gap, position = gaps[tracker], trackers[tracker].state.position
        # If the tracker's clock is ahead, its newest report may have a time after now.
        end = max(now, position.moment) if position else now
        until = min(end, gap.start + self._portion)
        return HistoryRequest(tracker, ids[tracker], gap.start, until)

    def _priority(self, tracker: Tracker, gap: Gap) -> tuple[object, ...]:
        record, guard = self._record(tracker.device.unique_id), tracker.state.guard
        state = tracker.state.ride_state
        is_of_ride = not state.is_at_rest or bool(state.rides)
        is_waiting = monotonic() - record.asked_at >= _GUARD_PREFERRED_EVERY
        is_preferred = guard is not None and not guard.triggered and is_waiting
        return -record.failed_at, is_preferred, is_of_ride, gap.wanted_at

    def next_backfill(
        self, untils: Mapping[str, datetime | None], trackers: Trackers, now: datetime
    ) -> HistoryRequest | None:
        """Return the next request for rides from before the set-up, the newest day first, or None.

        Trackers whose last request failed come last, the oldest failure first. If no
        request succeeded since, the range is empty: it shows whether the history works.
        """
        wanted = {key: until for key, until in untils.items() if until}
        if not (ids := self._ids(wanted, trackers)):
            return None
        order = ((-self._record(key).failed_at, wanted[key], key) for key in ids)
        _, until, tracker = max(order)
        record, length = self._record(tracker), self._portion
        if record.failed_day == until and record.answers == self._answers:
            length = timedelta(0)
        start = min(max(until - length, now - MAX_BACKFILL_AGE), until)
        return HistoryRequest(tracker, ids[tracker], start, until, is_backfill=True)

    def _ids(self, keys: Iterable[str], trackers: Trackers) -> dict[str, int]:
        """Return the internal IDs of trackers whose history may be requested now, by `uniqueId`."""
        # Leave out trackers without an internal ID, because the API needs it.
        return {
            key: device_id
            for key in keys
            if (tracker := trackers.get(key))
            and (device_id := tracker.device.id)
            and self._record(key).errors.is_due
        }

    async def async_ask(self, request: HistoryRequest) -> HistoryAnswer | None:
        """Send a request. Return the answer, or None if the request must be repeated later.

        If the time range must be skipped, the answer is empty.
        """
        tracker, device_id, start, until, is_backfill = request
        extra, now = self.extra_requests, monotonic()
        limit = self._quick_backfill if is_backfill and extra.is_quick else extra
        limit.count()
        if not is_backfill:
            self._update(tracker, asked_at=now)
        extra.is_quick = False
        try:
            reports = await self.async_get(device_id, start, until)
        except TrackingError as err:
            LOGGER.debug("No history (%s)", err)
            return HistoryAnswer([], until) if self._is_left_out(request, err) else None
        extra.is_quick = monotonic() - now < _QUICK_SECONDS
        self._update(tracker, failed_at=0.0)
        self._lengthen(until - start)
        return HistoryAnswer(reports, until)

    def _lengthen(self, length: timedelta) -> None:
        """Allow longer ranges after a success: with short ranges, the history would never catch up.

        The first success of the maximum range doubles the maximum. The second success
        sets the maximum to a whole day again. After a success of a shorter range, the
        maximum is at least twice that range.
        """
        is_full = length >= self._portion
        longer = _MAX_PORTION if is_full and self._is_longer else 2 * length
        self._is_longer = self._is_longer or is_full
        self._portion = min(max(self._portion, longer), _MAX_PORTION)

    @asynccontextmanager
    async def applying(self, tracker: str, account: str) -> AsyncIterator[None]:
        """In this context, block other requests. After an unexpected error, postpone requests for this tracker only."""
        async with self._one_at_a_time:
            try:
                yield
            except Exception:  # noqa: BLE001 - logged
                LOGGER.exception("%s: Unexpected error in a history", account)
                errors = self._record(tracker).errors.another(_ERROR_BACKOFF)
                self._update(tracker, errors=errors)
            else:
                self._update(tracker, errors=Failures())

    def _record(self, tracker: str) -> _Record:
        return self._records.get(tracker, _Record())

    def _update(self, tracker: str, **changes: Any) -> None:
        self._records[tracker] = self._record(tracker)._replace(**changes)

    def _is_left_out(self, request: HistoryRequest, err: TrackingError) -> bool:
        """Note a failed request. Return whether its time range must be skipped."""
        self._update(request.tracker, failed_at=monotonic())
        if err.is_too_large:
            # Halve the range, but not below a minute. Skip a range of less than two
            # minutes that was too large: its halves would be too short.
            length = request.until - request.start
            self._portion, self._is_longer = max(length / 2, _MIN_PORTION), False
            return length < 2 * _MIN_PORTION
        self.support = self.support.failed(err)
        is_day = request.is_backfill and self.support.is_supported is True
        return is_day and self._gives_up(request)

    def _gives_up(self, request: HistoryRequest) -> bool:
        """Count a failure of a day in the backfill. Return whether to skip the day."""
        record = self._record(request.tracker)
        if record.failed_day != request.until:
            record = _Record()
        # If no request succeeded since the last failure, the whole history may be down.
        tries = record.tries + (record.answers != self._answers)
        self._update(
            request.tracker,
            failed_day=request.until,
            tries=tries,
            answers=self._answers,
        )
        return tries >= _MAX_TRIES

    async def async_get(
        self, device_id: int, start: datetime, end: datetime
    ) -> list[Position]:
        """Return the reports of a device in a time range, or raise TrackingError."""
        reports = await self.client.async_get_history(device_id, start, end)
        self._answers += 1
        self.support = EndpointSupport(is_supported=True)
        return reports

    def allows(self) -> bool:
        """Return whether the rate limit allows a user's request for a track now. If it does, count the request."""
        if is_due := self._user_requests.is_due:
            self._user_requests.count()
        return is_due
