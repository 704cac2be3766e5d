"""Simulated houses that receive the reports of one tracker, and record the rides that are detected."""

from collections import deque
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
import json
from random import Random
from typing import Self, cast, override
from unittest.mock import patch

from custom_components.bike_tracker.api import TrackingClient
from custom_components.bike_tracker.api.errors import InvalidResponseError
from custom_components.bike_tracker.api.models import Device, Position
from custom_components.bike_tracker.database.stored import reader, to_json
from custom_components.bike_tracker.polling import backoff, history
from custom_components.bike_tracker.tracking import Account
from custom_components.bike_tracker.tracking.history import HistoryAnswer, UpdateContext
from custom_components.bike_tracker.tracking.occurrences import Occurrence
from custom_components.bike_tracker.tracking.rides import Ride
from custom_components.bike_tracker.tracking.state import Changes, TrackerState

from .trackers import Report
from .trips import Span

BIKE = "red"
_POLL = timedelta(minutes=1)


@dataclass(frozen=True)
class Service:
    """The abilities, delays and faults of a tracking service."""

    has_history: bool = False
    is_live: bool = False
    """Whether it pushes each report as soon as it receives it."""
    answers: tuple[float, float] = (1, 1)
    """Minimum and maximum number of seconds before it answers a request for the history."""
    queue: timedelta = timedelta()
    """How long a request for the history waits, because requests about other bikes come first."""
    refuses: float = 0
    """Share of requests for the history whose answer is too large (0 to 1)."""
    says_time: bool = True
    """Whether its device list has `lastUpdate`."""


@dataclass
class Recorder:
    """An account with one tracker, and everything that it fires and stores."""

    service: Service = Service()
    clock: timedelta = timedelta()
    """How far the house's clock is ahead of the true time."""
    account: Account = field(default_factory=lambda: Account("Bikes", {}))
    last_fired: int = 0
    """Number of the last occurrence that was fired."""
    fired: list[Occurrence] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)
    book: list[Ride] = field(default_factory=list)
    """All rides, as the database of the account would have them."""

    @property
    def state(self) -> TrackerState:
        """Return the state of the tracker."""
        return self.account.states.get(BIKE) or TrackerState()

    def of_type(self, *types: str) -> list[Occurrence]:
        """Return the occurrences of these types that were fired, in order."""
        return [it for it in self.fired if it.type in types]

    def context(self, now: datetime, **how: bool) -> UpdateContext:
        """Return the context of an update. The house's clock adds its error to the true time `now`."""
        has_history = self.service.has_history
        return UpdateContext(now + self.clock, has_history=has_history, **how)

    def restart(self) -> None:
        """Restart Home Assistant: continue with the state as it is stored now."""
        texts = {
            key: json.dumps(to_json(it.stored(0)))
            for key, it in self.account.states.items()
        }
        read = reader(TrackerState)
        states = {key: read(json.loads(text)).restored() for key, text in texts.items()}
        self.account = Account("Bikes", states)

    def news(self) -> list[Occurrence]:
        """Fire and return the occurrences that were not fired before."""
        news = [it for it in self.state.occurrences if it.seq > self.last_fired]
        if news:
            self.last_fired = news[-1].seq
            self.fired = [*self.fired, *news]
        return news

    def record(self, changes: Changes) -> None:
        """Record the rides, the total distance and the new occurrences after an update."""
        if BIKE not in changes.keys:
            return
        tracker = changes.after[BIKE]
        if since := tracker.state.log.rides_since:
            starts = {ride.started_at for ride in tracker.state.ride_state.rides}
            older = (ride for ride in self.book if ride.started_at < since)
            older = (ride for ride in older if ride.started_at not in starts)
            self.book = [*older, *tracker.state.ride_state.rides]
        if (total := tracker.state.total_distance) is not None:
            # A stored total is rounded. Round more, so that no restart seems to lower the total.
            self.totals.append(round(total, 4))
        self.news()

    def apply(self, answer: HistoryAnswer, now: datetime) -> None:
        """Apply a history answer at the true time `now`."""
        by_clock = now + self.clock
        state = self.account.states[BIKE].with_history(answer, by_clock)
        self.record(self.account.apply_history(BIKE, state, by_clock))


@dataclass
class Home(Recorder):
    """A home that polls one tracker, and receives its history and messages."""

    _sent: list[Report] = field(default_factory=list)
    _newest: Report | None = None
    _came_back: bool = True
    _pending: tuple[datetime, HistoryAnswer] | None = None

    def __post_init__(self) -> None:
        """Create the integration's own `History`, which sends its requests to this home as its client."""
        self._random = Random("service")  # noqa: S311 - no secret
        client, limit = cast(TrackingClient, self), backoff.ExtraRequests()
        self._history = history.History(client, limit)

    def live(
        self,
        reports: Iterable[Report],
        end: datetime,
        outages: Sequence[Span] = (),
        restarts: Iterable[datetime] = (),
    ) -> None:
        """Receive the reports, and poll each minute. Leave out polls that would change nothing."""
        coming = deque(sorted(reports, key=lambda report: report.comes_at))
        starts = deque(sorted(restarts))
        now = coming[0].comes_at
        while now <= end:
            is_idle = not self._receive(coming, now)
            self._answer(now)
            while starts and starts[0] <= now:
                starts.popleft()
                self.restart()
            if any(now in span for span in outages):
                self._came_back = True
            elif self._newest is not None:
                self.poll(self._newest, now)
            state = self.account.states.get(BIKE)
            is_riding = state and state.ride_state.ride
            is_waiting = self._came_back or self._pending or self.account.gaps
            if is_idle and not is_riding and not is_waiting:
                if not coming:
                    break
                now = max(now, coming[0].comes_at - _POLL)
            now += _POLL

    def _receive(self, coming: deque[Report], now: datetime) -> bool:
        """Let the service receive the reports that are due. Return whether any report was due."""
        before = len(coming)
        while coming and coming[0].comes_at <= now:
            report = coming.popleft()
            # The server calls a report current if its device time is newer than that of
            # all reports before.
            if self._newest is None or report.sent_at > self._newest.sent_at:
                self._newest = report
            self._sent.append(report)
            if self.service.is_live and not self._came_back:
                self.push(report)
        return len(coming) < before

    def copied(self) -> Self:
        """Return a copy of the home with the same past, which can have another future: a theft, for example."""
        other, account = copy(self), copy(self.account)
        for name in ("states", "gaps", "_touched"):
            setattr(account, name, {**getattr(account, name)})
        other.account = account
        return other

    @override
    def restart(self) -> None:
        super().restart()
        self._came_back, self._pending = True, None

    def arm(self, now: datetime) -> None:
        """Arm the guard."""
        self.account.arm(BIKE, now + self.clock)

    def poll(self, report: Report, now: datetime) -> None:
        """Apply a poll that shows this report as the current one."""
        account, position = self.account, report.position
        heard_at = now if self.service.says_time else None
        device = Device(1, BIKE, BIKE, "online", heard_at, position.id, None, False)
        listed, context = {BIKE: device}, self.context(now, recovering=self._came_back)
        found = {BIKE: position} if account.wanted(listed) else {}
        self._came_back = False
        [changes] = account.apply_poll(listed, found, context)
        self.record(changes)
        self._request(now)

    def push(self, report: Report) -> None:
        """Apply a message with this report. First apply an answer of the history, if one has arrived."""
        now = report.comes_at
        self._answer(now)
        context = self.context(now, is_complete=True)
        self.record(self.account.apply_message([], [report.position], context))

    def _request(self, now: datetime) -> None:
        """Request the history if it is needed. The answer contains reports that the service has received so far."""
        asked_at, account = now + self.clock, self.account
        due = asked_at - self.service.queue
        gaps = {
            key: gap
            for key, gap in account.gaps.items()
            if gap.wanted_at and gap.wanted_at <= due
        }
        if not (gaps and self.service.has_history) or self._pending:
            return
        seconds = now.timestamp()
        with (
            patch.object(backoff, "monotonic", lambda: seconds),
            patch.object(history, "monotonic", lambda: seconds),
        ):
            request = self._history.next_request(gaps, {}, account.trackers, asked_at)
            if request is None:
                return
            try:
                self._history.async_ask(request).send(None)
            except StopIteration as answered:
                after = timedelta(seconds=self._random.uniform(*self.service.answers))
                if answered.value:
                    self._pending = now + after, answered.value
        if self.service.answers == Service.answers:
            self._answer(now + timedelta(seconds=1))

    async def async_get_history(
        self, _device_id: int, start: datetime, end: datetime
    ) -> list[Position]:
        """Return the reports between two times, like the client's method. Sometimes fail if the service `refuses`."""
        if self.service.refuses and self._random.random() < self.service.refuses:
            raise InvalidResponseError("more than 8 MiB", is_too_large=True)
        # Earlier reports are never requested again, so drop them.
        self._sent = [report for report in self._sent if report.fix_time >= start]
        return [report.position for report in self._sent if report.fix_time <= end]

    def _answer(self, now: datetime) -> None:
        """Apply the answer of the history, if it has arrived."""
        if self._pending and self._pending[0] <= now:
            (at, answer), self._pending = self._pending, None
            self.apply(answer, at)
