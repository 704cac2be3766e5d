"""A house with one tracker: fires occurrences once, keeps a ride book, can be killed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
import json
import re
from typing import Any

from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.tracking.history import HistoryAnswer
from custom_components.bike_tracker.tracking.occurrences import UpdateContext
from custom_components.bike_tracker.tracking.ride_state import Ride
from custom_components.bike_tracker.tracking.state import Tracker, TrackerState
from custom_components.bike_tracker.tracking.stored import reader, to_json

from ..tools.rides.home import ride_of
from .conftest import NOW, Listener, a_device, a_position

METER = 1 / 111_195
"""Degrees of latitude."""
SECOND = timedelta(seconds=1)
_LEG = re.compile(r"(stand|ride|sleep|jump) (-?[\d.]+)(?: @(-?[\d.]+))?")


def minutes(after: float) -> datetime:
    """Return the time after a number of minutes."""
    return NOW + timedelta(minutes=after)


def time_of(report: Position) -> datetime:
    """Return the time of the fix."""
    assert report.fix_time
    return report.fix_time


def story(legs: str, every: float = 60, **usually: Any) -> list[Position]:
    """Return the reports of "stand 3, ride 10 @15, sleep 60, jump 400".

    These are minutes at km/h, minutes without a report, and meters to the north within
    no time. `usually` are other values of the fields of each report.
    """
    time, meters, reports = NOW, 0.0, list[Position]()

    def report(speed: float) -> Position:
        says = {"speed": abs(speed), "motion": speed != 0, "accuracy": 5.0, **usually}
        latitude = 47.9 + meters * METER
        times = {"fix_time": time, "device_time": time, "server_time": time}
        number = len(reports) + 1
        return a_position(number, latitude=latitude, **{**times, **says})

    for kind, length, speed in _LEG.findall("stand 0, " + legs):
        if kind == "jump":
            meters += float(length)
            continue
        end = time + timedelta(minutes=float(length))
        if kind == "sleep":
            time = end
            continue
        while time < end or not reports:
            step = float(speed or 0) / 3.6 * every
            if reports:
                time, meters = time + every * SECOND, meters + step
            reports.append(report(float(speed or 0)))
    return reports


@dataclass
class House:
    """State of one tracker, and everything that was fired and booked."""

    state: TrackerState = field(default_factory=TrackerState)
    has_history: bool = True
    fired: list[tuple[str, Ride]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """Types of other occurrences, and the words of alarms."""
    book: list[Ride] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)
    listener: Listener = field(default_factory=Listener)

    def at(
        self, now: datetime, *, is_complete: bool = False, away: bool = False
    ) -> UpdateContext:
        """Return the context of an update."""
        return UpdateContext(now, away, is_complete, self.has_history)

    def poll(self, report: Position, now: datetime | None = None, **how: bool) -> None:
        """Apply the current report of a poll."""
        context = self.at(now or time_of(report), **how)
        self.look(self.state.with_reports([report], context, report.id))

    def polls(self, reports: Iterable[Position]) -> None:
        """Apply reports, each at its time."""
        for report in reports:
            self.poll(report)

    def hear(self, reports: Sequence[Position], now: datetime, **how: bool) -> None:
        """Apply a push message."""
        self.look(self.state.with_reports(reports, self.at(now, **how)))

    def answer(
        self, reports: Iterable[Position], now: datetime, until: datetime | None = None
    ) -> None:
        """Apply a history answer with the reports of the gap among these."""
        assert self.state.gap
        start, until = self.state.gap.start, until or now
        found = [it for it in reports if start <= time_of(it) <= until]
        context = self.at(now)
        self.look(self.state.with_history(HistoryAnswer(found, until), context))

    def wait(self, now: datetime) -> None:
        """Let time pass."""
        self.look(self.state.by(now))

    def kill(self) -> None:
        """Start again with what was stored."""
        text = json.dumps(to_json(self.state.stored()))
        self.state = reader(TrackerState)(json.loads(text)).restored()

    def look(self, state: TrackerState) -> None:
        """Fire and book."""
        self.state = state
        for occurrence in self.listener.fired(state):
            if occurrence.type.startswith("ride_"):
                kind = occurrence.type.removeprefix("ride_")
                self.fired.append((kind, ride_of(occurrence)))
            else:
                alarm = occurrence.attributes.get("alarm")
                self.others.append(alarm or occurrence.type)
        tracker = Tracker(a_device(), state)
        if since := tracker.rides_since:
            starts = {ride.started_at for ride in tracker.rides}
            self.book = [
                *(
                    ride
                    for ride in self.book
                    if ride.started_at < since and ride.started_at not in starts
                ),
                *tracker.rides,
            ]
        if (total := tracker.total_distance) is not None:
            # A kill rounds to a tenth of a millimeter.
            self.totals.append(round(total, 4))

    @property
    def kinds(self) -> list[str]:
        """Return the fired starts and ends."""
        return [kind for kind, _ in self.fired]

    @property
    def summary(self) -> str:
        """Return the fired starts and ends with their minutes, and the booked distance."""
        parts = list(self._parts())
        return ", ".join([*parts, f"{sum(it.distance for it in self.book):.1f} km"])

    def _parts(self) -> Iterator[str]:
        for kind, ride in self.fired:
            at = ride.moved_at if kind == "ended" else ride.started_at
            yield f"{kind} {(at - NOW).total_seconds() / 60:g}"


def true_rides(reports: list[Position], now: datetime) -> list[Ride]:
    """Return the rides of a house that received each report at its time."""
    house = House(has_history=False)
    for report in reports:
        house.poll(report, is_complete=True)
    house.wait(now)
    return house.book
