"""A bike that moves by a script, and a house that receives its reports.

`lived("stand 3, ride 10 @15, stand 6").rides` is "started 3, ended 13, 2.5 km".
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
import re
from typing import Any, override

import pytest

from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.tracking.history import HistoryAnswer
from custom_components.bike_tracker.tracking.log import Gap
from custom_components.bike_tracker.tracking.rides import Ride
from custom_components.bike_tracker.tracking.state import Changes

from ..tools.rides.home import Recorder, Service
from ..tools.rides.worlds import HISTORY
from .conftest import NOW, a_device, a_position, checked

METER = 1 / 111_195
"""One meter to the north, in degrees of latitude."""
SECOND = timedelta(seconds=1)
_LEG = re.compile(r"(stand|ride|sleep|jump) (-?[\d.]+)(?: @(-?[\d.]+))?(.*)")
_OF_RIDES = "ride_started", "ride_ended"
_WORDS = {"none": None, "yes": True, "no": False}


def minutes(after: float) -> datetime:
    """Return a time, given in minutes after `NOW`. Each script begins at `NOW`."""
    return NOW + timedelta(minutes=after)


def minute_of(time: datetime) -> str:
    """Return a time as a text: its minutes after `NOW`, such as "13" or "5.5"."""
    return f"{round((time - NOW).total_seconds() / 60, 2):g}"


def time_of(report: Position) -> datetime:
    """Return the fix time of a report; without it, the time of its message; without both, `NOW`."""
    return report.fix_time or report.device_time or NOW


def _values(text: str) -> dict[str, Any]:
    """Parse values such as "accuracy=5 motion=none alarm=tow"."""
    pairs = (pair.split("=") for pair in text.split())
    return {
        key: float(it) if re.fullmatch(r"-?[\d.]+", it) else _WORDS.get(it, it)
        for key, it in pairs
    }


@dataclass
class Bike:
    """A bike whose tracker reports at regular intervals."""

    says: dict[str, Any] = field(default_factory=dict)
    """Values that reports have instead of the true values."""
    every: float = 60
    """Seconds between two reports."""
    behind: float = 0
    """Minutes by which the tracker's clock is behind."""
    age: float = 0
    """Minutes from the sending of a report until it arrives."""
    fix_age: float = 0
    """Minutes from the measurement of a fix until its report is sent."""
    time: datetime = NOW
    meters: float = 0
    """Place of the bike: meters to the north of its start."""
    sent: list[Position] = field(default_factory=list)

    def leg(self, text: str) -> Iterator[Position]:
        """Yield the reports of a leg: "ride 3 @15", "stand 2 alarm=tow", "sleep 60" or "jump 90".

        Ride north for 3 minutes at 15 km/h; stand for 2 minutes with an alarm; send
        nothing for 60 minutes; be 90 m farther north at once, without a report.
        """
        match = _LEG.fullmatch(text)
        assert match, text
        kind, length, speed, says = match.groups()
        if not self.sent:
            yield self.report(0, {})
        if kind == "jump":
            self.meters += float(length)
            return
        end = self.time + timedelta(minutes=float(length))
        if kind == "sleep":
            self.time = end
            return
        while self.time < end:
            self.time += self.every * SECOND
            self.meters += float(speed or 0) / 3.6 * self.every
            yield self.report(float(speed or 0), _values(says))

    def report(self, speed: float, says: dict[str, Any]) -> Position:
        """Return a report that arrives at the current time. `says` replaces its values; the speed is in km/h."""
        measured = self.time - timedelta(minutes=self.behind + self.age)
        values = {
            "speed": abs(speed),
            "motion": speed != 0,
            "accuracy": 5.0,
            "latitude": 47.9 + self.meters * METER,
            "fix_time": measured - timedelta(minutes=self.fix_age),
            "device_time": measured,
            "server_time": self.time,
            **self.says,
            **says,
        }
        report = a_position(len(self.sent) + 1, **values)
        self.sent.append(report)
        return report


def story(legs: str, every: float = 60, **usually: Any) -> list[Position]:
    """Return the reports of a script such as "stand 3, ride 10 @15, sleep 60, jump 400"."""
    bike = Bike(usually, every)
    for leg in legs.split(","):
        list(bike.leg(leg.strip()))
    return bike.sent


@dataclass
class House(Recorder):
    """A house that receives the reports of a bike. A script sets how the bike moves and how reports arrive."""

    service: Service = HISTORY
    bike: Bike = field(default_factory=Bike)
    _how: str = "poll"
    _held: list[Position] = field(default_factory=list)
    _requested: list[HistoryAnswer] = field(default_factory=list)

    # Updates of the account

    @override
    def record(self, changes: Changes) -> None:
        super().record(checked(changes))

    def poll(self, report: Position, now: datetime | None = None, **how: bool) -> None:
        """Apply a poll with this current report."""
        now = now or time_of(report)
        device = a_device(position_id=report.id, last_update=now)
        context = self.context(now, **how)
        [changes] = self.account.apply_poll({"red": device}, {"red": report}, context)
        self.record(changes)

    def polls(self, reports: Iterable[Position]) -> None:
        """Apply reports with one poll each, at their times."""
        for report in reports:
            self.poll(report)

    def hear(self, reports: Sequence[Position], now: datetime, **how: bool) -> None:
        """Apply a push message with these reports."""
        self.record(self.account.apply_message([], reports, self.context(now, **how)))

    def answer(self, reports: Iterable[Position], now: datetime) -> None:
        """Apply a history answer. It contains the part of these reports from the start of the gap until now."""
        assert self.state.gap
        start = self.state.gap.start
        found = [it for it in reports if start <= time_of(it) <= now]
        self.apply(HistoryAnswer(found, now), now)

    def wait(self, now: datetime) -> None:
        """Apply a poll at this time that brings no report."""
        known = self.state.position
        device = a_device(position_id=known and known.id)
        [changes] = self.account.apply_poll({"red": device}, {}, self.context(now))
        self.record(changes)

    # Scripts of legs and steps

    def live(self, script: str) -> House:
        """Run a script of the legs of the bike ("ride 3 @15") and the steps of the house ("arm")."""
        for step in script.split(","):
            verb, _, text = step.strip().partition(" ")
            if run := getattr(self, f"_on_{verb}", None):
                run(text)
                continue
            for report in self.bike.leg(step.strip()):
                self._receive(report)
        return self

    def _receive(self, report: Position) -> None:
        now, how = self.bike.time, self._how
        if how == "outage":
            return
        if how == "hold":
            self._held.append(report)
        elif how == "live" and self.account.trackers:
            self.hear([report], now, is_complete=True)
        elif how != "sixth" or len(self.bike.sent) % 6 == 1:
            is_first = not self.account.trackers
            is_back, missed = how == "back" or is_first, how == "missed"
            self.poll(report, now, recovering=is_back, has_missed=missed)
            self._how = "poll" if how in ("back", "missed") else how

    def _on_says(self, text: str) -> None:
        """Let each later report have certain values: "says accuracy=0 motion=none"."""
        self.bike.says |= _values(text)

    def _on_bike(self, text: str) -> None:
        """Set `every`, `behind`, `age` or `fix_age` of the bike."""
        vars(self.bike).update(_values(text))

    def _on_service(self, text: str) -> None:
        """Let the service have a history, or none: "service has_history=no"."""
        self.service = Service(**_values(text))

    def _on_receive(self, text: str) -> None:
        """Set how reports arrive: each by a "poll", each as a push message ("live"), or only each "sixth" by a poll.

        In an "outage", no report is received. After "hold", reports wait for `deliver`.
        After "missed", the next report comes with a poll that follows missed polls.
        """
        self._how = "back" if (self._how, text) == ("outage", "poll") else text

    def _on_deliver(self, text: str) -> None:
        """Deliver the reports that were held: in order, the "newest" first, or all "at once"."""
        now, self._how = self.bike.time, "live"
        held = [it._replace(server_time=it.server_time and now) for it in self._held]
        for it in held:
            self.bike.sent[it.id - 1] = it
        self._held = []
        parts = [held] if text == "at once" else [[it] for it in held]
        for part in reversed(parts) if text == "newest" else parts:
            self.hear(part, now, is_complete=True)

    def _found(self, gap: Gap, text: str) -> HistoryAnswer:
        """Return the answer to a request, the newest report first.

        With "rows=40", it has only the oldest 40 reports; with "until=12", the reports
        up to minute 12; with "lacks=3", each third report is missing.
        """
        limits = {"lacks": 99_999, "rows": 99_999, **_values(text)}
        until = minutes(limits["until"]) if "until" in limits else self.bike.time
        found = [it for it in self.bike.sent if gap.start <= time_of(it) <= until]
        found = [it for it in found if it.id % limits["lacks"]]
        return HistoryAnswer(found[: int(limits["rows"])][::-1], until)

    def _on_history(self, text: str) -> None:
        """Answer all requests for the history, or a single request in part: "history rows=40"."""
        for _ in range(1 if text else 99):
            if gap := self.state.gap:
                self.apply(self._found(gap, text), self.bike.time)

    def _on_request(self, text: str) -> None:
        """Request the history. The step `respond` applies the answer."""
        if gap := self.state.gap:
            self._requested.append(self._found(gap, text))

    def _on_respond(self, _text: str) -> None:
        """Apply the answer to the oldest request."""
        if self._requested:
            self.apply(self._requested.pop(0), self.bike.time)

    def _on_arm(self, _text: str) -> None:
        now = self.bike.time + 30 * SECOND + self.clock
        if changes := self.account.arm("red", now):
            self.record(changes)

    def _on_disarm(self, text: str) -> None:
        """Disarm the bike as a person does or, with "cut_off", as night guards do: never a moved bike."""
        until = self.bike.time if text == "cut_off" else None
        if until and self.state.guard and self.state.guard.is_done:
            return
        self.record(self.account.disarm("red", self.bike.time, until=until))

    def _on_dusk(self, _text: str) -> None:
        """Disarm a bike on a ride, then arm it where it stood after its last ride, as night guards do."""
        if not (self.state.guard and self.state.guard.triggered):
            self.record(self.account.disarm("red", self.bike.time))
            if armed := self.account.arm("red", self.bike.time, after_ride=True):
                self.record(armed)

    def _on_kill(self, _text: str) -> None:
        """Restart with the state as it is stored now."""
        stored = self.state.stored(0)
        # The stored state has no reports, because the history has them.
        assert not any(it.report for it in stored.log.inputs)
        self.restart()

    def _on_wait(self, text: str) -> None:
        """Let minutes pass without a report, then apply a poll that brings no report."""
        self.bike.time += timedelta(minutes=float(text))
        self.wait(self.bike.time)

    def _on_clock(self, text: str) -> None:
        """Set the house's clock a number of minutes ahead of the true time."""
        self.clock = timedelta(minutes=float(text))

    # Summaries of fired occurrences, stored rides and the state

    @property
    def kinds(self) -> list[str]:
        """Return "started" or "ended" for each fired start or end of a ride, in order."""
        return [it.type.removeprefix("ride_") for it in self.of_type(*_OF_RIDES)]

    @property
    def rides(self) -> str:
        """Return the fired starts and ends with their minutes, and the distance of all stored rides."""
        times = map(minute_of, (it.since for it in self.of_type(*_OF_RIDES)))
        parts = [" ".join(it) for it in zip(self.kinds, times, strict=True)]
        distance = round(sum(it.distance for it in self.book), 2)
        return ", ".join([*parts, f"{distance:g} km"])

    @property
    def others(self) -> str:
        """Return the service's names of the fired alarms, and the types of the fired flag changes."""
        known = *_OF_RIDES, "guard_triggered"
        others = (it for it in self.fired if it.type not in known)
        return ", ".join(it.attributes.get("alarm") or it.type for it in others)

    @property
    def triggered(self) -> list[str]:
        """Return cause, minute and distance each time the guard was triggered: "place 4 120 m"."""
        return [
            f"{it.attributes['cause']} {minute_of(it.since)} {it.attributes['distance']} m"
            for it in self.of_type("guard_triggered")
        ]

    @property
    def gap(self) -> str:
        """Return the first minute of the needed history, with "of a ride" if a known ride may lack reports; else "none"."""
        if (gap := self.state.gap) is None:
            return "none"
        state = self.state.ride_state
        is_of_ride = not state.is_at_rest or bool(state.rides)
        return minute_of(gap.start) + " of a ride" * is_of_ride

    @property
    def guard(self) -> str:
        """Return how the guard was triggered, then its state now: "place 4 120 m, triggered"."""
        guard = self.state.guard
        state = "triggered" if guard and guard.triggered else "armed"
        return ", ".join([*self.triggered, state if guard else "disarmed"])


def lived(script: str) -> House:
    """Return a new house that has run a script of legs and steps."""
    return House().live(script)


def rows(table: str) -> list[Any]:
    """Return the rows "script -> summary" of a table. Other lines are comments."""
    lines = [line.strip().split(" -> ") for line in table.splitlines() if "->" in line]
    return [pytest.param(*line, id=line[0]) for line in lines]


def true_rides(reports: list[Position], now: datetime) -> list[Ride]:
    """Return the rides that a house stores if it receives each report without delay."""
    house = House(Service())
    for report in reports:
        house.poll(report, is_complete=True)
    house.wait(now)
    return house.book
