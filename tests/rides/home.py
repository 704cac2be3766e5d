"""A home that polls for one tracker, and notes which rides it is told of."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from custom_components.bike_tracker.account import Account, Remembered, Ride, Tracker
from custom_components.bike_tracker.api import Device, News

from .trackers import Report

BIKE = "bike"
_POLL = timedelta(minutes=1)
_MOVES_AFTER = timedelta(seconds=5)


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

    account: Account = field(default_factory=lambda: Account(Remembered()))
    started: list[tuple[datetime, Ride]] = field(default_factory=list)
    """When a ride was told, and what of it."""
    ended: list[tuple[datetime, Ride]] = field(default_factory=list)
    totals: list[tuple[datetime, float]] = field(default_factory=list)
    _devices: dict[str, Device] = field(default_factory=dict)
    _told: datetime | None = None
    _came_back: bool = True

    @property
    def rides(self) -> list[Ride]:
        """Return the rides that went anywhere."""
        return [ride for _, ride in self.ended if ride.distance]

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
        story = self.account.remembered.stories.get(BIKE)
        return bool(story and story.track and story.track.ride)

    def restart(self) -> None:
        """Begin anew with what was remembered."""
        self.account = Account(self.account.remembered)
        self._devices = {}
        self._came_back = True

    def poll(self, report: Report, now: datetime) -> None:
        """Take in what the server has last."""
        account, position = self.account, report.position
        device = Device(1, BIKE, BIKE, "online", now, position.id, None, False)
        before, self._devices = self._devices, {BIKE: device}
        listed = News(before, self._devices, {BIKE})
        found = {BIKE: position} if account.wanted(listed) else {}
        came_back, self._came_back = self._came_back, False
        self._tell(account.take(listed, found, now=now, came_back=came_back), now)
        if came_back:
            self._tell(account.move(), now + _MOVES_AFTER)

    def _tell(self, news: News[str, Tracker], now: datetime) -> None:
        if BIKE not in news.changed:
            return
        tracker = news.now[BIKE]
        track = tracker.track
        assert track is not None
        for event in tracker.ride_events:
            if event.heard_at and (not self._told or event.heard_at > self._told):
                self._told = event.heard_at
                told = self.started if event.type == "started" else self.ended
                told.append((now, event.ride))
        if track.total is not None:
            self.totals.append((now, track.total))


def _begin(span: Span) -> datetime:
    return span.begin


def _time(report: Report) -> datetime:
    return report.position.device_time or report.comes_at
