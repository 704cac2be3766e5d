"""What is known of one tracker: what outlives lists, outages and restarts."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, Self

from ..api.models import Device, Position
from .guard import Guard, after_alarm, after_late_reports, after_report
from .history import HistoryAnswer, after_history, in_order, is_older_position
from .occurrences import (
    FLAG_CHANGES,
    MAX_WAITING,
    Alarm,
    Occurrence,
    OccurrenceType,
    UpdateContext,
    alarms_of,
    is_known,
)
from .ride_detection import apply_report, end_ride, silent_at
from .ride_log import HistoryGap, RideLog
from .ride_state import Ride, RideState, Step

_place: Final = attrgetter("latitude", "longitude")
_OF_PLACE: Final = ("fix_time", "latitude", "longitude", "accuracy", "address")
_OF_TRACKER: Final = (
    *("battery_level", "charge", "lock"),
    *("battery_voltage", "power_voltage", "firmware"),
)
_MAX_ALARM_AGE: Final = timedelta(hours=1)
type FlagName = Literal["online", "moving"]


class Flag(NamedTuple):
    """A yes or no, and when it changed, in UTC."""

    value: bool
    changed_at: datetime
    """When it was first known to be so."""
    previous_change: datetime | None = None
    """When it had become the opposite; None if it never was, as far as is known."""


class TrackerState(NamedTuple):
    """What is known of a tracker beside its device, and what happened to it."""

    position: Position | None = None
    """Its newest report, with what older ones said and this one does not."""
    online: Flag | None = None
    """False is any readable status but online, as a Traccar's third one."""
    moving: Flag | None = None
    """What it says of itself; None as long as it does not say."""
    alarms: tuple[Alarm, ...] = ()
    """The last ones it raised, oldest first."""
    ride_state: RideState = RideState()
    """How far it came."""
    rides: RideLog = RideLog()
    """Its last rides, and where reports may be missing."""
    guard: Guard | None = None
    """How it is guarded, None while it is not."""
    changed_by: str | None = None
    """The name of the person who armed or disarmed it last, None for automations."""
    occurrences: tuple[Occurrence, ...] = ()
    """The last ones, oldest first."""

    @property
    def gap(self) -> HistoryGap | None:
        """Return what is to be asked for of the service's history, None if nothing is."""
        point, known = self.rides.checkpoint, self.position and self.position.fix_time
        if not (point and point.wanted_at and known):
            return None
        rides, is_at_rest = self.rides.rides, self.ride_state.is_at_rest
        is_of_ride = not is_at_rest or any(map(point.is_since, rides))
        return HistoryGap(point.begins_at, known, point.wanted_at, is_of_ride)

    def with_report(self, position: Position, context: UpdateContext) -> Self:
        """Return the state after the newest report."""
        report, known, now = position, self.position, context.now
        position, before = merged(known, report), self.ride_state
        state = self.with_flag("moving", position.moving, now)
        state = state.with_alarms([position], now)
        if position == known:
            return state
        if guard := state.guard:
            state = state.with_guard(after_report(guard, report, before, now), now)
        if before.measured_at and position.fix_time == before.measured_at:
            context = context._replace(is_complete=True)
        step = apply_report(before, position, now)
        return state._replace(position=position).with_step(step, context)

    def with_history(self, answer: HistoryAnswer, context: UpdateContext) -> Self:
        """Return the state after all reports of a gap; old alarms are not fired."""
        now, reports = context.now, in_order(answer.reports)
        since = now - _MAX_ALARM_AGE
        recent = [it for it in reports if (it.device_time or it.moment) >= since]
        state = self.with_alarms(recent, now)
        newest, log = state.position, state.rides
        if newest and (last := newest.fix_time) and (point := log.checkpoint):
            if guard := state.guard:
                # Newer ones follow below.
                older = [it for it in reports if not is_older_position(newest, it)]
                guard = after_late_reports(guard, older, point.ride_state, now)
                state = state.with_guard(guard, now)
            log, exact = after_history(log, state.ride_state, answer, last, now)
            state = state.with_rides(log, exact, now)
        context = context._replace(is_complete=True)
        for report in reports:
            if state.position and is_older_position(state.position, report):
                state = state.with_report(report, context)
        return state

    def with_older_report(self, position: Position, context: UpdateContext) -> Self:
        """Return the state after a report older than the newest: its alarms count."""
        state = self.with_alarms([position], context.now)
        if (guard := state.guard) and position.alarm:
            guard = after_alarm(guard, position, self.ride_state, context.now)
            state = state.with_guard(guard, context.now)
        return state._replace(rides=state.rides.after_older_report(position.fix_time))

    def with_alarms(self, reports: Sequence[Position], now: datetime) -> Self:
        """Return the state after the alarms of reports, which may be old ones."""
        state = self
        for report in [it for it in reports if it.alarm][-MAX_WAITING:]:
            for alarm in alarms_of(report):
                if not is_known(alarm, state.alarms):
                    state = state._with_alarm(alarm, report.fix_time, now)
        return state

    def _with_alarm(self, alarm: Alarm, time: datetime | None, now: datetime) -> Self:
        since, text = time or now, time and time.isoformat()
        said = {"type": alarm.type, "alarm": alarm.word, "time": text}
        state = self._replace(alarms=(*self.alarms, alarm)[-MAX_WAITING:])
        return state.with_occurrence("alarm_raised", now, since, attributes=said)

    def after_time(self, context: UpdateContext) -> Self:
        """Return the state by now: a tracker that is silent for long rides no more."""
        if (at := silent_at(self.ride_state)) is None or at > context.now:
            return self
        context = context._replace(is_complete=True)
        return self.with_step(end_ride(self.ride_state), context)

    def with_step(self, step: Step, context: UpdateContext) -> Self:
        """Return the state with how far the tracker came now."""
        log = self.rides.after_report(self.ride_state, step, context)
        return self.with_rides(log, step[0], context.now)

    def with_occurrence(
        self, kind: OccurrenceType, now: datetime, since: datetime, **others: Any
    ) -> Self:
        """Return the state with an occurrence that is noticed now.

        The oldest of its type goes if there are too many: a tracker that raises an alarm
        each second in an outage fills no memory, and costs its other occurrences nothing.
        """
        known = self.occurrences
        seq = known[-1].seq + 1 if known else 1
        same = [it for it in known if it.type == kind]
        if len(same) >= MAX_WAITING:
            known = tuple(it for it in known if it is not same[0])
        new = Occurrence(seq, kind, now, since, **others)
        return self._replace(occurrences=(*known, new))

    def with_guard(self, guard: Guard, now: datetime) -> Self:
        """Return the state with its guard after a report, which may have triggered it."""
        state, triggered = self._replace(guard=guard), guard.triggered
        if triggered is None or (self.guard and self.guard.triggered):
            return state
        since = triggered.since
        cause = {**triggered.described(), "alarm": triggered.alarm}
        return state.with_occurrence("guard_triggered", now, since, attributes=cause)

    def with_flag(self, name: FlagName, value: bool | None, now: datetime) -> Self:
        """Return the state with a flag, and its change; the first word is no change."""
        flag: Flag | None = getattr(self, name)
        if value is None or (flag and flag.value is value):
            return self
        before = flag and flag.changed_at
        changed: dict[str, Any] = {name: Flag(value, now, before)}
        state, kind = self._replace(**changed), FLAG_CHANGES[name, value]
        return state.with_occurrence(kind, now, now, before=before) if before else state

    def with_rides(self, log: RideLog, ride_state: RideState, now: datetime) -> Self:
        """Return the state with its rides, and what happened to them."""
        state = self._replace(rides=log._replace(events=()), ride_state=ride_state)
        for kind, ride in log.events:
            is_over = kind == "ended"
            since = ride.moved_at if is_over else ride.started_at
            name: OccurrenceType = "ride_ended" if is_over else "ride_started"
            said = ride.described(is_over=is_over)
            state = state.with_occurrence(name, now, since, attributes=said)
        return state


def merged(known: Position | None, position: Position) -> Position:
    """Return the new position with what it does not say but the known one does.

    A message without a place does not make the place unknown, and one without a battery
    level does not empty the battery. An address stays as long as the place does. An alarm
    is that of one message alone.
    """
    if known is None:
        return position
    names = [name for name in _OF_TRACKER if getattr(position, name) is None]
    if position.latitude is None:
        names += _OF_PLACE
    # Servers send the very place again without a new fix.
    elif not position.address and _place(position) == _place(known):
        names.append("address")
    return position._replace(**{name: getattr(known, name) for name in names})


class Tracker(NamedTuple):
    """What is known of one tracker. Another object means that something changed."""

    device: Device
    state: TrackerState = TrackerState()

    @property
    def position(self) -> Position | None:
        """Return its newest report."""
        return self.state.position

    @property
    def address(self) -> str | None:
        """Return the address of where it stood last, which is not where it rides."""
        if ride := self.ride_under_way:
            return ride.start and ride.start.address
        place = self.state.ride_state.candidate or self.state.ride_state.anchor
        return place.address or (self.position and self.position.address)

    @property
    def has_fix(self) -> bool:
        """Return whether the tracker ever reported a place."""
        return self.state.ride_state.newest_fix is not None

    @property
    def total_distance(self) -> float | None:
        """Return the highest total that was ever known, in kilometers."""
        return self.state.ride_state.shown_total

    @property
    def rides(self) -> tuple[Ride, ...]:
        """Return the last rides that are over, which later reports may correct."""
        return self.state.rides.rides

    @property
    def ride_under_way(self) -> Ride | None:
        """Return the ride under way, None while there is none."""
        return self.state.ride_state.ride

    @property
    def ride(self) -> Ride | None:
        """Return the ride under way, else the last one."""
        return self.ride_under_way or self.state.ride_state.last


type Trackers = Mapping[str, Tracker]
"""All trackers of an account at one context, by `uniqueId`; never changed afterwards."""


class Changes(NamedTuple):
    """What an update changed."""

    before: Trackers
    after: Trackers
    keys: AbstractSet[str]
    """Trackers that were added, changed or removed."""
