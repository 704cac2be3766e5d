"""The state of one tracker: what outlives lists, outages and restarts."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from ..api import DeviceStatus, Position
from .alarms import MAX_ALARMS, Alarm, new_alarms
from .checkpoint import HistoryGap, after_older_report, is_at_rest
from .flags import Flag, after as flag_after
from .guard import (
    Guard,
    after_alarm,
    after_history as guard_after_history,
    after_report,
    armed,
)
from .history import HistoryAnswer, after_history
from .occurrences import Occurrence, OccurrenceType, UpdateContext, added, last_seq
from .reports import in_order, is_older_position, merged
from .ride_log import NO_RIDES, RideLog
from .ride_state import NEW_RIDE_STATE, RideEvent, RideState
from .rides import apply_report, end_ride, silent_at

_MAX_ALARM_AGE: Final = timedelta(hours=1)
_ONLINE: Final[Mapping[bool, OccurrenceType]] = {
    True: "came_online",
    False: "went_offline",
}
_MOVING: Final[Mapping[bool, OccurrenceType]] = {
    True: "started_moving",
    False: "stopped_moving",
}


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
    ride_state: RideState | None = None
    """How far it came; None while it has no position."""
    rides: RideLog | None = None
    """Its last rides, and where reports may be missing; None before the first."""
    initial_position_id: int | None = None
    """The position it had when it was listed first: its alarm is not fired."""
    guard: Guard | None = None
    """How it is guarded, None while it is not."""
    changed_by: str | None = None
    """The name of the person who armed or disarmed it last, None for automations."""
    occurrences: tuple[Occurrence, ...] = ()
    """The last ones, oldest first."""

    @property
    def gap(self) -> HistoryGap | None:
        """Return what is to be asked for of the service's history, None if nothing is."""
        log, ride_state = self.rides, self.ride_state
        known = self.position and self.position.fix_time
        if not (log and (point := log.checkpoint) and ride_state and known):
            return None
        is_of_ride = not is_at_rest(ride_state) or any(map(point.is_since, log.rides))
        return point.gap(known, is_of_ride=is_of_ride)

    @property
    def changes_at(self) -> datetime | None:
        """Return when a silent tracker's ride is over by the clock, None if none is."""
        return self.ride_state and silent_at(self.ride_state)

    @property
    def is_pending(self) -> bool:
        """Return whether a ride is under way, or reports may be missing."""
        ride_state, log = self.ride_state, self.rides
        return bool((ride_state and ride_state.ride) or (log and log.checkpoint))

    def with_status(self, status: DeviceStatus | None, now: datetime) -> TrackerState:
        """Return the state after a status; one that is not readable changes nothing."""
        value = None if status is None else status == "online"
        online = flag_after(self.online, value, now)
        if online is None or online is self.online:
            return self
        return self._replace(online=online).with_change(online, _ONLINE)

    def with_report(
        self,
        position: Position,
        context: UpdateContext,
        *,
        fires_alarms: bool,
        received_at: datetime | None = None,
    ) -> TrackerState:
        """Return the state after the newest report.

        An alarm that is no events was there before anybody could listen.
        """
        report, known, now = position, self.position, context.now
        position, before = merged(known, report), self.ride_state or NEW_RIDE_STATE
        moving = flag_after(self.moving, position.motion, now)
        state = self._replace(moving=moving)
        if moving is not None and moving is not self.moving:
            state = state.with_change(moving, _MOVING)
        if position.alarm:
            state = state.with_alarms([position], context, fires_alarms=fires_alarms)
        if position is known:
            return state
        if guard := state.guard:
            guard = after_report(guard, report, before, now, received_at)
            state = state.with_guard(guard, now)
        ride_state, events = apply_report(before, position, now)
        if before.measured_at and position.fix_time == before.measured_at:
            context = context._replace(is_complete=True)
        log = (self.rides or NO_RIDES).after_report(before, ride_state, events, context)
        return state._replace(position=position, ride_state=ride_state).with_rides(
            log, now
        )

    def with_history(
        self, answer: HistoryAnswer, context: UpdateContext
    ) -> TrackerState:
        """Return the state after all reports of a gap; old alarms are not fired."""
        now, reports = context.now, in_order(answer.reports)
        recent = [
            report
            for report in reports
            if (time := report.device_time or report.fix_time)
            and now - time <= _MAX_ALARM_AGE
        ]
        state = self.with_alarms(recent, context)
        ride_state = (
            state.rides and state.rides.checkpoint and state.rides.checkpoint.ride_state
        )
        if state.guard and ride_state and (newest := state.position):
            # Newer ones follow below.
            older = (item for item in reports if not is_older_position(newest, item))
            guard = guard_after_history(state.guard, older, ride_state, now)
            state = state.with_guard(guard, now)
        known = state.position and state.position.fix_time
        if known and state.ride_state and state.rides:
            log, ride_state = after_history(
                state.rides, state.ride_state, answer, known, context
            )
            state = state._replace(ride_state=ride_state).with_rides(log, now)
        context = context._replace(is_complete=True)
        for report in reports:
            if state.position and is_older_position(state.position, report):
                state = state.with_report(report, context, fires_alarms=True)
        return state

    def with_older_report(
        self, position: Position, context: UpdateContext
    ) -> TrackerState:
        """Return the state after a report older than the newest: its alarms count."""
        state, log = self.with_alarms([position], context), self.rides
        if state.guard and position.alarm:
            guard = after_alarm(state.guard, position, self.ride_state, context.now)
            state = state.with_guard(guard, context.now)
        if log and log.checkpoint:
            point = after_older_report(log.checkpoint, position.fix_time)
            state = state._replace(rides=log._replace(checkpoint=point))
        return state

    def with_alarms(
        self,
        reports: Sequence[Position],
        context: UpdateContext,
        *,
        fires_alarms: bool = True,
    ) -> TrackerState:
        """Return the state after the alarms of reports, which may be old ones."""
        if not (new := new_alarms(self.alarms, reports)):
            return self
        state = self._replace(alarms=(*self.alarms, *new)[-MAX_ALARMS:])
        for alarm in new if fires_alarms else ():
            since = alarm.time or context.now
            state = state.with_occurrence(
                "alarm_raised", context.now, since, alarm.described()
            )
        return state

    def armed(self, now: datetime, changed_by: str | None) -> TrackerState | None:
        """Return the state once it is guarded, None while it never had a place."""
        moving = self.moving and self.moving.value
        guard = armed(self.ride_state, self.position, moving, now)
        return guard and self._replace(guard=guard, changed_by=changed_by)

    def disarmed(self, changed_by: str | None) -> TrackerState:
        """Return the state once it is guarded no more."""
        return self._replace(guard=None, changed_by=changed_by)

    def after_time(self, context: UpdateContext) -> TrackerState:
        """Return the state by now: a tracker that is silent for long rides no more."""
        before = ride_state = self.ride_state or NEW_RIDE_STATE
        log, events = self.rides or NO_RIDES, list[RideEvent]()
        if (at := silent_at(ride_state)) and at <= context.now:
            ride_state, events = end_ride(ride_state)
        context = context._replace(is_complete=True)
        log = log.after_report(before, ride_state, events, context)
        return self._replace(ride_state=ride_state).with_rides(log, context.now)

    def with_occurrence(
        self,
        kind: OccurrenceType,
        now: datetime,
        since: datetime,
        attributes: Mapping[str, Any] | None = None,
        *,
        before: datetime | None = None,
    ) -> TrackerState:
        """Return the state with an occurrence that is noticed now."""
        new = Occurrence(0, kind, now, since, before, attributes or {})
        return self._replace(occurrences=added(self.occurrences, new))

    def with_change(
        self, flag: Flag, types: Mapping[bool, OccurrenceType]
    ) -> TrackerState:
        """Return the state with the change of a flag; the first word is no change."""
        if (before := flag.previous_change) is None:
            return self
        now = flag.changed_at
        return self.with_occurrence(types[flag.value], now, now, before=before)

    def with_guard(self, guard: Guard, now: datetime) -> TrackerState:
        """Return the state with a guard, which may be triggered now."""
        triggered = guard.triggered
        if triggered is None or triggered.seq:
            return self._replace(guard=guard)
        state = self.with_occurrence(
            "guard_triggered",
            now,
            triggered.since,
            {**triggered.described(), "alarm": triggered.alarm},
        )
        triggered = triggered._replace(seq=last_seq(state.occurrences))
        return state._replace(guard=guard._replace(triggered=triggered))

    def with_rides(self, log: RideLog, now: datetime) -> TrackerState:
        """Return the state with its rides, and what happened to them."""
        state = self
        for kind, ride in log.events:
            is_over = kind == "ended"
            since = ride.moved_at if is_over else ride.started_at
            state = state.with_occurrence(
                "ride_ended" if is_over else "ride_started",
                now,
                since,
                ride.described(is_over=is_over),
            )
        log = log._replace(events=())
        return state._replace(rides=None if log == NO_RIDES else log)


NEW_STATE = TrackerState()
