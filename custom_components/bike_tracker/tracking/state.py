"""The state of a tracker. It outlives outages and restarts."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from datetime import datetime, timedelta
from functools import reduce
from itertools import takewhile
from typing import Any, Final, Literal, NamedTuple, Self

from ..api.models import Device, Position
from .distance import NOWHERE
from .guard import Guard, after_alarm, requested_guard
from .history import (
    HistoryAnswer,
    UpdateContext,
    followed,
    gap_after_late,
    gap_after_silence,
    in_order,
    is_older_position,
    with_answer,
)
from .log import Gap, Input, Log, time_of
from .occurrences import (
    FLAG_CHANGES,
    MAX_WAITING,
    Alarm,
    Announced,
    Occurrence,
    OccurrenceType,
    alarms_of,
    announce,
    is_known,
    kept,
)
from .rides import STANDS_AFTER, Ride, RideState, end_ride

_OF_PLACE: Final = ("fix_time", "latitude", "longitude", "accuracy", "address")
_OF_TRACKER: Final = (
    *("battery_level", "charge", "lock"),
    *("battery_voltage", "power_voltage", "firmware"),
)
_MAX_ALARM_AGE: Final = timedelta(hours=1)
# Reports that were sent during a silence arrive within this time after the silence, or
# with the history.
_JOINED_WITHIN: Final = timedelta(minutes=2)
type FlagName = Literal["online", "moving"]


class Flag(NamedTuple):
    """A boolean value of a tracker, and the times of its last two changes, in UTC."""

    value: bool
    changed_at: datetime
    """When this value became known."""
    previous_change: datetime | None = None
    """When the previous value began; None if that is not known."""


class Rearming(NamedTuple):
    """A request to arm a bike again, made while the bike moves."""

    changed_by: str | None = None
    ride_started_at: datetime | None = None
    """Start of the ride in which the request was made; None in states that an older version stored."""


class Theft(NamedTuple):
    """A triggered guard that was replaced by another arming or by a disarming."""

    guard: Guard
    changed_by: str | None
    """Name of the user who armed the guard; None if no user did."""
    ended_at: datetime
    """Time of the last input before the guard was replaced."""


class TrackerState(NamedTuple):
    """Everything that is known about a tracker, except its device."""

    position: Position | None = None
    """The newest report. Values that it lacks come from older reports."""
    online: Flag | None = None
    """Whether the last readable status was `online`."""
    moving: Flag | None = None
    """Reported motion; None as long as the tracker reports none."""
    alarms: tuple[Alarm, ...] = ()
    """The most recent alarms of the tracker. The oldest of them comes first."""
    log: Log = Log()
    is_silent: bool = False
    """Whether the tracker fell silent, which ended its ride."""
    announced: tuple[Announced, ...] = ()
    """The rides whose start was fired as an event."""
    quiet_until: datetime | None = None
    """Time of the first report: events of earlier rides are not fired."""
    highest_total: float = 0
    """Highest total distance that was shown, in kilometers."""
    guard: Guard | None = None
    """The guard as it is shown: a triggered guard stays triggered, even after a replay."""
    rearming: Rearming | None = None
    """Request to arm the bike as soon as it stands."""
    changed_by: str | None = None
    """Name of the user of the last arming or disarming; empty for an automation, None for the night guard."""
    changed_at: datetime | None = None
    """Time of the last arming, taking over or disarming."""
    occurrences: tuple[Occurrence, ...] = ()
    """The most recent occurrences. The oldest of them comes first."""
    last_theft: Theft | None = None
    """The last `stolen_guard` that was replaced."""

    @property
    def ride_state(self) -> RideState:
        """Return the state of ride detection. The ride of a silent tracker is over."""
        state = self.log.core.ride_state
        return end_ride(state) if self.is_silent else state

    @property
    def seen_at(self) -> datetime | None:
        """Return when the newest place was measured, without the known error of the tracker's clock."""
        fix, position = self.log.core.ride_state.newest_fix, self.position
        if not (fix and position and fix.point == position.point):
            return position and position.fix_time
        return fix.time + self.clock_error

    @property
    def clock_error(self) -> timedelta:
        """Return how far the tracker's clock is behind; 0 if it is not known to be behind."""
        return self.log.core.clock_error

    @property
    def address(self) -> str | None:
        """Return the address of the place where the bike stands. During a ride, return the address of the start."""
        state = self.ride_state
        if ride := state.ride_under_way:
            return ride.start and ride.start.address
        place = state.candidate or state.anchor
        return place.address or (self.position and self.position.address)

    @property
    def has_fix(self) -> bool:
        """Return whether the tracker ever reported a place."""
        return self.log.core.ride_state.newest_fix is not None

    @property
    def total_distance(self) -> float | None:
        """Return the highest total that was ever known, in kilometers; None if no total is known."""
        total = self.log.core.ride_state.total
        return None if total is None else max(total, self.highest_total)

    @property
    def ride_under_way(self) -> Ride | None:
        """Return the ride under way; None if no ride is under way, or if the bike has not left its place."""
        return self.ride_state.ride_under_way

    def rides_under_way(self, start: datetime, end: datetime) -> list[Ride]:
        """Return a list with the ride under way if it overlaps a time range; otherwise, an empty list."""
        ride = self.ride_under_way
        if ride and ride.started_at < end and ride.moved_at > start:
            return [ride]
        return []

    @property
    def ride(self) -> Ride | None:
        """Return the ride under way, else the last ride that ended; None if no ride is known."""
        state = self.ride_state
        return state.ride_under_way or state.ended

    @property
    def stolen_guard(self) -> Guard | None:
        """Return the triggered guard or, until another ride starts, the guard of the last theft; otherwise None.

        A last theft with a ride comes first: an alarm where the thief parked the bike is
        not another theft.
        """
        guard, theft, ride = self.guard, self.last_theft, self.ride
        if theft and ride and ride.started_at >= theft.ended_at:
            theft = None
        cause = theft and theft.guard.triggered
        was_ridden = cause and ride and ride.moved_at >= cause.since
        if guard and guard.triggered and not was_ridden:
            return guard
        return theft and theft.guard

    @property
    def panel_key(self) -> Literal["guard", "guard_alarm", "guard_moved"]:
        """Return the translation key of the guard's panel: why it was triggered, and whether the bike still moves."""
        triggered = self.guard and self.guard.triggered
        if triggered and triggered.cause == "alarm":
            return "guard_alarm"
        return "guard_moved" if triggered and not self.is_under_way else "guard"

    @property
    def is_under_way(self) -> bool:
        """Return whether the bike moves, even on the spot. It counts as moving until it has stood for five minutes."""
        return self.ride_state.ride is not None

    @property
    def reports_every(self) -> timedelta:
        """Return the time between the last two reports; 0 if it is unknown."""
        times = [it.time for it in self.log.inputs if it.report]
        times = [*filter(None, [self.log.time]), *times]
        return times[-1] - times[-2] if len(times) > 1 else timedelta()

    @property
    def gap(self) -> Gap | None:
        """Return the gap for which the history is needed, or None."""
        gap = self.log.gap
        return gap if gap and gap.wanted_at else None

    def occurrences_after(self, seq: int) -> Sequence[Occurrence]:
        """Return the occurrences with a higher sequence number, the oldest first."""
        # Begin with the newest: hundreds of occurrences may be kept.
        newer = takewhile(lambda it: it.seq > seq, reversed(self.occurrences))
        return [*newer][::-1]

    def stored(self, last_fired: int) -> Self:
        """Return the state to store: without reports, and without occurrences that are no longer needed."""
        occurrences = kept(self.occurrences, last_fired)
        return self._replace(log=self.log.stored(), occurrences=occurrences)

    def restored(self) -> Self:
        """Return the state to work with, after it was read from the file."""
        return self._replace(log=self.log.restored())

    def with_reports(
        self,
        reports: Sequence[Position],
        context: UpdateContext,
        current_id: int | None = None,
    ) -> Self:
        """Return the state after all reports of a poll or a message.

        `current_id` is the ID of the position that the server calls current. This
        position counts as the newest, however old it is.
        """
        now = context.now
        state = self._cut(now).with_alarms(reports, now)
        new: list[Input] = []
        newest = state.log.core.ride_state.measured_at
        for report in reports:
            known, is_current = state.position, report.id == current_id
            if is_current or not is_older_position(report, known, newest):
                state = state.with_position(report, now)
                if state.position == known:
                    continue
            time = time_of(report, now, is_new=report.is_fix) or now
            it = Input(
                time,
                report.id,
                received_at=now,
                report=report,
                is_pinned=is_current,
                is_prompt=not (context.recovering or context.has_missed),
                is_complete=context.is_complete,
            )
            new.append(it)
        if not new:
            return state
        log, late = followed(state.log, new, context)
        state = state._replace(log=log)
        return state.with_late(late, context) if late else state.by(now)

    def with_late(self, late: Sequence[Input], context: UpdateContext) -> Self:
        """Return the state after late reports. The alarms of these reports can trigger the guard, too."""
        before, now = self.log.core.ride_state, context.now
        log = self.log.with_inputs(late)
        if log is not self.log:
            gap = gap_after_late(log, before, late[0].time, context)
            log = log._replace(gap=gap, late_at=now)
        state = self._replace(log=log).by(now)
        for report in (it.report for it in late if it.report):
            if (guard := state.guard) and report.alarm:
                guard = after_alarm(guard, report, before, now)
                state = state.with_guard(guard, now)
        return state

    def with_history(self, answer: HistoryAnswer, now: datetime) -> Self:
        """Return the state after a history answer. Alarms that are older than an hour are not fired."""
        reports = in_order(answer.reports)
        since = now - _MAX_ALARM_AGE
        recent = [it for it in reports if (it.device_time or it.moment) >= since]
        state = self._cut(now).with_alarms(recent, now)
        state = state._replace(log=with_answer(state.log, answer, now))
        for report in reports:
            if (known := state.position) and is_older_position(known, report):
                state = state.with_position(report, now)
        return state.by(now)

    def _cut(self, now: datetime) -> Self:
        log = self.log.cut(now, is_silent=self.is_silent)
        return self if log is self.log else self._replace(log=log)

    def with_position(self, report: Position, now: datetime) -> Self:
        """Return the state with the position and motion of a report."""
        position = merged(self.position, report)
        state = self.with_flag("moving", position.moving, now)
        return state._replace(position=position)

    def with_arming(
        self,
        guard: Guard | None,
        now: datetime,
        changed_by: str | None,
        until: datetime | None = None,
    ) -> Self:
        """Return the state after arming with this guard, or after disarming if it is None.

        With `until`, reports from before that time can still trigger the disarmed guard,
        even if the bike is armed again before these reports arrive.
        """
        hidden = self.log.core.guard
        if guard and hidden and self.guard is None:
            until = hidden.until
        new, theft = Input(guard=guard, until=until), self.last_theft
        arming = self.log.at_end(new)
        if self.guard and self.guard is self.stolen_guard:
            theft = Theft(self.guard, self.changed_by, arming.time)
        log = self.log.with_input(arming)
        armed = guard and log.core.guard
        state = self._replace(log=log, guard=armed, changed_by=changed_by)
        return state._replace(changed_at=now, rearming=None, last_theft=theft)

    def armed(self, now: datetime, changed_by: str | None) -> Self:
        """Return the state after arming, or with a request to arm the bike as soon as it stands.

        A bike is armed at once, unless it moves while its guard is triggered.
        """
        ride = self.ride_state.ride
        if self.guard and self.guard.triggered and ride:
            return self._replace(rearming=Rearming(changed_by, ride.started_at))
        moving = self.moving and self.moving.value
        guard = requested_guard(self.position, moving, now)
        return self.with_arming(guard, now, changed_by)

    def armed_after_ride(self, now: datetime) -> Self:
        """Return the state after arming where the bike stood after its last ride, even if the next ride has begun."""
        over = self.ride_state.ended
        return self.rearmed(now, Rearming(ride_started_at=over and over.started_at))

    def by(self, now: datetime) -> Self:
        """Return the state with all values that result from its log at the time `now`.

        A tracker that has been silent for 30 minutes is no longer under way.
        """
        state, log, core = self, self.log, self.log.core
        is_silent = core.ride_state.is_over(now)
        if is_silent is not self.is_silent:
            gap = gap_after_silence(log.gap, now) if is_silent else log.gap
            state = state._replace(log=log._replace(gap=gap), is_silent=is_silent)
        if (total := state.ride_state.total or 0) > self.highest_total:
            state = state._replace(highest_total=total)
        if self.quiet_until is None and log.inputs:
            state = state._replace(quiet_until=log.inputs[0].time)
        if core.guard and core.guard.is_shown:
            state = state.with_guard(core.guard, now)
        state = state.with_rides(now)
        return state.rearmed(now, state.rearming) if state.rearming else state

    def rearmed(self, now: datetime, again: Rearming) -> Self:
        """Return the state after arming as requested. If the ride of the request has not ended, change nothing."""
        if self.ride_state.ride is None:
            state = self._replace(rearming=None).armed(now, again.changed_by)
            return state.with_alarm_at_rest(now)
        log, rest = self.log.split_after_ride(again.ride_started_at or now)
        if not rest:
            return self
        # One report after a silence ended the ride and began the next: the bike is
        # guarded where it stood in between.
        stood_at = log.core.ride_state.last_fix.time
        guard = requested_guard(self.position, None, now)._replace(after=stood_at)
        state = self._replace(log=log).with_arming(guard, now, again.changed_by)
        # This arming replaces a later disarming, and the guard of a stored core.
        armed = state.log.core.guard
        left = (
            it._replace(core=it.core._replace(guard=armed))
            for it in rest
            if it.report or it.is_snapshot
        )
        return state._replace(log=reduce(Log.with_input, left, state.log)).by(now)

    def with_alarm_at_rest(self, now: datetime) -> Self:
        """Return the state after the alarm of the report that ended the ride: it was raised while the bike stood."""
        guard, ride, report = self.guard, self.ride_state.ended, self.position
        if not (guard and ride and report):
            return self
        since = guard._replace(after=ride.moved_at + STANDS_AFTER)
        triggered = after_alarm(since, report, self.ride_state, now).triggered
        return self.with_guard(guard._replace(triggered=triggered), now)

    def with_rides(self, now: datetime) -> Self:
        """Return the state with new events for the starts and ends of rides."""
        state, since = self.ride_state, self.log.rides_since or NOWHERE.time
        if not (self.announced or state.rides or state.ride):
            return self
        known = [it for it in self.announced if it.is_open or it.end >= since]
        over = [
            it
            for it in state.rides
            if it.started_at >= since and self._may_announce(it)
        ]
        under_way = state.ride_under_way
        if under_way and over and self._may_be_one_ride(now):
            # Announce both rides as one at first. If no late report joins them within
            # two minutes, the announcement is split.
            under_way = under_way._replace(started_at=over.pop().started_at)
        announced, events = announce(known, over, under_way)
        after = self._replace(announced=announced)
        for kind, ride in events:
            is_over = kind == "ride_ended"
            at = ride.moved_at if is_over else ride.started_at
            attributes = ride.described(is_over=is_over)
            after = after.with_occurrence(kind, now, at, attributes=attributes)
        return after

    def _may_be_one_ride(self, now: datetime) -> bool:
        """Return whether the last ride and the ride under way may be one ride.

        After a silence, one report ends a ride and begins the next. For two minutes, late
        reports may still show that it was one ride.
        """
        if not any(it.is_open for it in self.announced):
            return False
        wanted_at = self.log.gap and self.log.gap.wanted_at
        return wanted_at is not None and wanted_at <= now < wanted_at + _JOINED_WITHIN

    def _may_announce(self, ride: Ride) -> bool:
        """Return whether the events of a ride that has ended may be fired now."""
        if any(it.overlaps(ride) for it in self.announced):
            return True
        if self.quiet_until and ride.moved_at <= self.quiet_until:
            return False
        # Do not fire yet if the next history answer may make the ride longer.
        return not (
            (gap := self.gap)
            and gap.is_partial
            and ride.started_at <= gap.start <= ride.moved_at + STANDS_AFTER
        )

    def with_guard(self, guard: Guard, now: datetime) -> Self:
        """Return the state with this guard. If the guard was just triggered, add an occurrence.

        A guard that was triggered by an alarm can be triggered a second time, by motion
        or another place.
        """
        known, new = self.guard and self.guard.triggered, guard.triggered
        if new is None or (known and not (known.cause == "alarm" != new.cause)):
            return self._replace(guard=guard._replace(triggered=known))
        error = self.clock_error
        attributes = {**new.described(error), "alarm": new.alarm}
        return self._replace(guard=guard).with_occurrence(
            "guard_triggered", now, new.since + error, attributes=attributes
        )

    def with_alarms(self, reports: Sequence[Position], now: datetime) -> Self:
        """Return the state with an occurrence for each unknown alarm among the last 50 alarms of these reports."""
        raised = [(it.fix_time, alarm) for it in reports for alarm in alarms_of(it)]
        state = self
        for time, alarm in raised[-MAX_WAITING:]:
            if not is_known(alarm, state.alarms):
                text = time and time.isoformat()
                attributes = {"type": alarm.type, "alarm": alarm.word, "time": text}
                state = state._replace(alarms=(*state.alarms, alarm)[-MAX_WAITING:])
                state = state.with_occurrence(
                    "alarm_raised", now, time or now, attributes=attributes
                )
        return state

    def with_occurrence(
        self, kind: OccurrenceType, now: datetime, since: datetime, **more: Any
    ) -> Self:
        """Return the state with an occurrence that is noticed now.

        If 50 occurrences of its type are already known, drop the oldest of them: a
        tracker that raises an alarm each second must not fill the memory.
        """
        known = self.occurrences
        seq = known[-1].seq + 1 if known else 1
        same = [it for it in known if it.type == kind]
        if len(same) >= MAX_WAITING:
            known = tuple(it for it in known if it is not same[0])
        new = Occurrence(seq, kind, now, since, **more)
        return self._replace(occurrences=(*known, new))

    def with_flag(self, name: FlagName, value: bool | None, now: datetime) -> Self:
        """Return the state with this value of a flag, unless it is None. Add an occurrence if a known value changes."""
        flag: Flag | None = getattr(self, name)
        if value is None or (flag and flag.value is value):
            return self
        before = flag and flag.changed_at
        changed: dict[str, Any] = {name: Flag(value, now, before)}
        state, kind = self._replace(**changed), FLAG_CHANGES[name, value]
        return state.with_occurrence(kind, now, now, before=before) if before else state


def merged(known: Position | None, position: Position) -> Position:
    """Return a position, with missing values taken from the known position.

    A message without a place or a battery level does not make them unknown. The address
    is kept as long as the place stays the same. An alarm is not kept, because it
    belongs only to its message.
    """
    if known is None:
        return position
    names = [name for name in _OF_TRACKER if getattr(position, name) is None]
    if position.latitude is None:
        names += _OF_PLACE
    # Without a new fix, servers repeat exactly the same place, so keep its address.
    elif not position.address and position.point == known.point:
        names.append("address")
    values = {it: value for it in names if (value := getattr(known, it)) is not None}
    return position._replace(**values) if values else position


class Tracker(NamedTuple):
    """A tracker and its state. Each change creates a new object."""

    device: Device
    state: TrackerState = TrackerState()

    def is_like(self, known: Tracker | None) -> bool:
        """Return whether this tracker differs from the known tracker at most in the time of the last contact."""
        if known is None or self.state is not known.state:
            return False
        return self.device == known.device._replace(last_update=self.device.last_update)


type Trackers = Mapping[str, Tracker]
"""All trackers of an account at one time, by `uniqueId`. The mapping is never changed afterwards."""


class Changes(NamedTuple):
    """The trackers before and after an update, and the keys of the trackers that changed."""

    before: Trackers
    after: Trackers
    keys: AbstractSet[str]
    """Trackers that were added, changed or removed, except `contacts`."""
    contacts: AbstractSet[str] = frozenset()
    """Trackers of which only the time of the last contact changed."""
