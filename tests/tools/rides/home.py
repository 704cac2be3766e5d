"""A home that polls for one tracker, and notes which rides it is told of."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from custom_components.bike_tracker.api.models import Device
from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.history import HistoryAnswer
from custom_components.bike_tracker.tracking.occurrences import (
    Occurrence,
    UpdateContext,
)
from custom_components.bike_tracker.tracking.ride_state import Ride
from custom_components.bike_tracker.tracking.state import Changes

from .trackers import Report

BIKE = "bike"
_POLL = timedelta(minutes=1)
_ANSWERED_AFTER = timedelta(seconds=1)


@dataclass(frozen=True)
class Span:
    """A time in which something is so."""

    begin: datetime
    end: datetime

    def __contains__(self, time: datetime) -> bool:
        """Return whether it is so at this time."""
        return self.begin <= time < self.end


@dataclass
class Home:
    """What is known of one tracker, and what is told of it."""

    has_history: bool = False
    """Whether the service tells every report of a time, a second after it is asked."""
    account: Account = field(default_factory=lambda: Account("Bikes", {}))
    started: list[tuple[datetime, Ride]] = field(default_factory=list)
    """When a ride was told, and what of it."""
    ended: list[tuple[datetime, Ride]] = field(default_factory=list)
    totals: list[tuple[datetime, float]] = field(default_factory=list)
    book: list[Ride] = field(default_factory=list)
    """The rides that are over as they are known."""
    asked: int = 0
    """How many times the history was asked for."""
    _sent: list[Report] = field(default_factory=list)
    _last_fired: int = 0
    _came_back: bool = True

    @property
    def rides(self) -> list[Ride]:
        """Return the rides that went anywhere, as they were told."""
        return [ride for _, ride in self.ended if ride.distance]

    @property
    def booked(self) -> list[Ride]:
        """Return the rides that went anywhere, as they are known in the end."""
        return [ride for ride in self.book if ride.distance]

    def live(
        self,
        reports: Iterable[Report],
        end: datetime,
        outages: Iterable[Span] = (),
        restarts: Iterable[datetime] = (),
    ) -> None:
        """Poll every minute, but skip polls that bring nothing and can end nothing."""
        coming = sorted(reports, key=lambda report: report.comes_at)
        down, starts = sorted(outages, key=_begin), sorted(restarts)
        # What the server has last is what was measured last.
        newest: Report | None = None
        number, now = 0, coming[0].comes_at
        while now <= end:
            before = number
            while number < len(coming) and coming[number].comes_at <= now:
                if newest is None or _time(coming[number]) > _time(newest):
                    newest = coming[number]
                self._sent.append(coming[number])
                number += 1
            while starts and starts[0] <= now:
                del starts[0]
                self.restart()
            while down and down[0].end <= now:
                del down[0]
            if down and now in down[0]:
                self._came_back = True
            elif newest is not None:
                self.poll(newest, now)
            is_idle = before == number and not self.is_riding and not self._came_back
            if is_idle and number < len(coming):
                now = max(now, coming[number].comes_at - _POLL)
            elif is_idle:
                break
            now += _POLL

    @property
    def is_riding(self) -> bool:
        """Return whether a ride is under way."""
        story = self.account.states.get(BIKE)
        return bool(story and story.ride_state.ride)

    def restart(self) -> None:
        """Begin anew with what was remembered."""
        states = {key: it.stored() for key, it in self.account.states.items()}
        self.account = Account("Bikes", states)
        self._came_back = True

    def poll(self, report: Report, now: datetime) -> None:
        """Take in what the server has last."""
        account, position = self.account, report.position
        device = Device(1, BIKE, BIKE, "online", now, position.id, None, False)
        listed = {BIKE: device}
        found = {BIKE: position} if account.wanted(listed) else {}
        recovering, self._came_back = self._came_back, False
        changes = account.apply_poll(
            listed,
            found,
            UpdateContext(now, recovering=recovering, has_history=self.has_history),
        )
        self._tell(changes, now)
        self._ask(now + _ANSWERED_AFTER)

    def _ask(self, now: datetime) -> None:
        """Ask for the history, if it is needed; a kill in between loses nothing."""
        tracker = self.account.trackers[BIKE]
        if not self.has_history or (gap := tracker.state.gap) is None:
            return
        self.asked += 1
        # A clock may be some minutes ahead.
        until = max(now, gap.known)
        reports = [
            report.position
            for report in self._sent
            if gap.start <= _fix_time(report) <= until
        ]
        # Nobody asks for what was before.
        self._sent = [report for report in self._sent if _fix_time(report) >= gap.start]
        answer = HistoryAnswer(reports, until)
        moment = UpdateContext(now, has_history=True)
        self._tell(self.account.apply_history(BIKE, answer, moment), now)

    def _tell(self, changes: Changes, now: datetime) -> None:
        if BIKE not in changes.keys:
            return
        tracker = changes.after[BIKE]
        for occurrence in tracker.state.occurrences:
            if occurrence.seq > self._last_fired and "ride" in occurrence.type:
                self._last_fired = occurrence.seq
                is_start = occurrence.type == "ride_started"
                fired = self.started if is_start else self.ended
                fired.append((now, ride_of(occurrence)))
        if since := tracker.rides_since:
            starts = {ride.started_at for ride in tracker.rides}
            older = [
                ride
                for ride in self.book
                if ride.started_at < since and ride.started_at not in starts
            ]
            self.book = [*older, *tracker.rides]
        if tracker.total_distance is not None:
            self.totals.append((now, tracker.total_distance))


def ride_of(occurrence: Occurrence) -> Ride:
    """Return the ride that started or ended."""
    said = occurrence.attributes
    return Ride(
        datetime.fromisoformat(said["started_at"]),
        occurrence.since,
        said["distance"],
        said["maximum_speed"],
    )


def _begin(span: Span) -> datetime:
    return span.begin


def _time(report: Report) -> datetime:
    return report.position.device_time or report.comes_at


def _fix_time(report: Report) -> datetime:
    assert report.position.fix_time is not None
    return report.position.fix_time
