"""Rides: when a bike set off, when it arrived, and how far it went.

A place counts as another one if it is farther away than the accuracies explain. So a bike
that stands goes nowhere, however its fixes drift, and one that moves goes from each such
place to the next. Where a report itself says that the bike stands, its place alone is not
believed before the next one is there too.
"""

from datetime import datetime, timedelta
from math import inf
from typing import NamedTuple

from ..api import Position
from .distance import Fix, fix_of, is_plausible, metres, noise, way
from .ride_state import Ride, RideEvent, RideState

_STANDS_AFTER = timedelta(minutes=5)
_SILENT_AFTER = timedelta(minutes=30)
# Of a way between two reports at this speed, in km/h, what it took longer may have been a
# stop. If the first report did not say that it stood, it was a detour more likely.
_SLOW = 6
_LONGEST_DETOUR = timedelta(minutes=10)
# Kilometres per hour.
_MOVES_FROM = 3
# Metres that fixes of a bike that stands may be apart where no accuracy is told.
_DRIFT = 150
# What is that near, in metres, to where a ride ended not long ago belongs to it: the last
# report before the arrival was lost.
_NEAR = 1_000
_NOT_LONG = timedelta(hours=24)
# Where walls reflect its signals, fixes of a bike that stands are off for up to so long.
_STRAYS_FOR = timedelta(minutes=8)
# So long after the last fix that was off, others are right.
_DRIFTS_FOR = timedelta(days=1)
# A tracker whose clock is ahead by more: its fixes are as old as the events of them.
_WRONG_CLOCK = timedelta(minutes=5)

type Step = tuple[RideState, list[RideEvent]]
"""How far a tracker came, and what happened by then."""


class _Report(NamedTuple):
    """What a report with a newer fix says."""

    fix: Fix
    speed: float | None = None
    moves: bool | None = None
    """None is that it does not say."""

    @property
    def stands(self) -> bool:
        """Return whether it says itself that the bike stands."""
        return self.moves is False


def apply_report(state: RideState, position: Position, now: datetime) -> Step:
    """Return the state after a report that was received now.

    What was heard before, and what is older than that, changes nothing. The first place
    counts however old it is: a parked bike's may be one that is sent again.
    """
    received_at = position.server_time or now
    fix = fix_of(position, _time(position.fix_time, received_at))
    if fix is None or not _is_newer(state, position, fix):
        return _after_message(state, position, now)
    report = _Report(fix, position.speed, says_it_moves(position))
    is_drift_old = state.drifted_at and fix.time - state.drifted_at > _DRIFTS_FOR
    state, events = state.without_drift() if is_drift_old else state, list[RideEvent]()
    if state.anchor and state.last_fix and state.candidate:
        state, events = _decided(
            state, state.anchor, state.last_fix, state.candidate, report
        )
    state, more = _after_fix(state, report)
    is_believed = state.ride is not None or state.candidate is None
    state = state._replace(
        newest_fix=fix,
        # The clock of the house may be behind, and put right under way.
        received_at=max(now, received_at),
        reported_at=max(fix.time, _time(position.device_time, received_at) or fix.time),
        measured_at=position.fix_time,
        says_it_moves=report.moves if is_believed else state.says_it_moves,
    )
    return state, events + more


def silent_at(state: RideState) -> datetime | None:
    """Return when a tracker under way counts as fallen silent, and its ride as over."""
    if state.ride is None or state.received_at is None:
        return None
    return state.received_at + _SILENT_AFTER


def end_ride(state: RideState) -> Step:
    """Return the state after its ride, where the tracker was seen last."""
    anchor, last_fix, last = state.anchor, state.last_fix, state.candidate
    # A silent bike is where its last report saw it, if that may be.
    if state.ride and anchor and last_fix and last:
        if is_plausible(anchor, last_fix, last, None):
            state = state._replace(candidate=None)
            state = _further(state, anchor, last_fix, _Report(last))
    if (ride := state.ride) is None:
        return state, []
    anchor, last_fix = state.anchor, state.last_fix
    is_known = (
        anchor and last_fix and metres(anchor, last_fix) <= noise(anchor, last_fix)
    )
    if ride.distance:
        # The way to where it was seen last, as far as no drift explains it.
        rest = (
            metres(anchor, last_fix) / 1_000 if anchor and last_fix and is_known else 0
        )
        end = ride.end and ride.end.or_address_of(anchor)
        ride = ride._replace(distance=ride.distance + rest, end=end)
        state = state.longer(rest)
    there = last_fix.or_address_of(anchor) if last_fix and is_known else last_fix
    before = None if ride.distance else state.last
    state = state._replace(anchor=there, ride=None, ended=ride, before_ended=before)
    return state, [("ended", ride)]


def _time(time: datetime | None, received_at: datetime) -> datetime | None:
    is_wrong = time is not None and time - received_at > _WRONG_CLOCK
    return received_at if is_wrong else time


def _is_newer(state: RideState, position: Position, fix: Fix) -> bool:
    """Return whether a report tells of a newer place, and not of one that is sent again."""
    if (newest_fix := state.newest_fix) is None:
        return True
    is_again = position.fix_time == state.measured_at and not metres(newest_fix, fix)
    return position.is_fix and fix.time > newest_fix.time and not is_again


def says_it_moves(position: Position) -> bool | None:
    """Return whether a report says that the bike moves, None where it does not say it."""
    if _is_moving(position.speed):
        return True
    if position.motion is None and position.speed == 0:
        return False
    return position.motion


def _is_moving(speed: float | None) -> bool:
    return speed is not None and speed >= _MOVES_FROM


def _after_message(state: RideState, position: Position, now: datetime) -> Step:
    """Return the state after a report that tells of no newer place."""
    received_at = position.server_time or now
    total, time = state.total, _time(position.device_time, received_at)
    if state.anchor is None and total is None:
        total = position.total_distance
    if time is None or (state.reported_at and time <= state.reported_at):
        return state._replace(total=total), []
    before = state = state._replace(total=total, reported_at=time)
    if position.motion is None:
        return state, []
    anchor, last_fix = state.anchor, state.last_fix
    if anchor and last_fix and not state.ride and _sets_off(state, position.motion):
        state = _set_off(state, anchor, last_fix, time)
        state = state._replace(received_at=max(now, received_at))
    return state._replace(says_it_moves=position.motion), _start_of(before, state)


def _decided(
    state: RideState, anchor: Fix, last_fix: Fix, candidate: Fix, report: _Report
) -> Step:
    """Return the state of which a report says whether a fix in doubt is believed."""
    state = state._replace(candidate=None)
    if not _is_there(state, anchor, candidate, report):
        is_back = metres(anchor, report.fix) <= _reach(state, anchor, report)
        stands = not state.ride and report.stands
        if stands and is_back and not _slept(candidate, report.fix):
            stayed = state.newest_fix != candidate
            off = metres(anchor, candidate)
            state = state.with_drift(off, candidate.time, stayed=stayed)
        # The server's total has the way there, and the way back.
        return state.without_totals(), []
    if state.ride is None and _stays(state, candidate, report):
        if report.fix.time - candidate.time >= _STRAYS_FOR:
            return _elsewhere(state, anchor, last_fix, candidate)
        if metres(anchor, candidate) <= _NEAR:
            # It is at a traffic light, or its fixes are off.
            return state._replace(candidate=candidate), []
    return _after_fix(state, _Report(candidate), is_sure=True)


def _is_there(state: RideState, anchor: Fix, candidate: Fix, report: _Report) -> bool:
    """Return whether a report is nearer to a fix in doubt than to the place before."""
    fix, off = report.fix, metres(anchor, report.fix)
    if off <= _reach(state, anchor, report) or not is_plausible(
        candidate, candidate, fix, report.speed
    ):
        return False
    if metres(candidate, fix) < off or _slept(candidate, fix):
        return True
    # Under way it may turn round.
    is_riding = state.ride and state.last_fix
    return bool(is_riding and is_plausible(anchor, is_riding, candidate, report.speed))


def _stays(state: RideState, candidate: Fix, report: _Report) -> bool:
    """Return whether it stands where a fix in doubt was, or did so for a while."""
    reach = max(_DRIFT, _reach(state, candidate, report))
    is_at_it = report.stands and metres(candidate, report.fix) <= reach
    return is_at_it or _stood(state, candidate.time, candidate, candidate, report.fix)


def _elsewhere(state: RideState, anchor: Fix, last_fix: Fix, fix: Fix) -> Step:
    """Return the state of a bike that stands elsewhere, and was not seen on its way."""
    apart, over = metres(anchor, fix), state.ended
    had_arrived = state.says_it_moves is False
    is_drift = had_arrived and apart <= (_NEAR if state.drift else _DRIFT)
    if is_drift and state.drift:
        state = state.with_drift(apart, fix.time)
        return state._replace(anchor=fix, last_fix=fix), []
    is_near = over and apart <= _NEAR and fix.time - over.moved_at <= _NOT_LONG
    is_rest = bool(is_near) and (is_drift or not had_arrived)
    there = _further(state, anchor, last_fix, _Report(fix), is_rest=is_rest)
    arrived, events = end_ride(there)
    if is_drift:
        arrived = arrived.with_drift(apart, fix.time)
    return arrived, _start_of(state, there) + events


def _after_fix(state: RideState, report: _Report, *, is_sure: bool = False) -> Step:
    """Return the state after a newer fix."""
    anchor, last_fix, fix = state.anchor, state.last_fix, report.fix
    if anchor is None or last_fix is None:
        # Servers add thousands of kilometres to the first fix.
        total = fix.total or 0 if state.total is None else state.total
        return state._replace(total=total, anchor=fix, last_fix=fix), []
    events: list[RideEvent] = []
    if state.ride and _stood(state, state.ride.moved_at, anchor, last_fix, fix):
        state, events = end_ride(state)
        anchor = state.anchor or last_fix
    there = _at(state, anchor, last_fix, report, is_sure=is_sure)
    return there, events + _start_of(state, there)


def _start_of(before: RideState, state: RideState) -> list[RideEvent]:
    return [("started", state.ride)] if state.ride and not before.ride else []


def _at(
    state: RideState, anchor: Fix, last_fix: Fix, report: _Report, *, is_sure: bool
) -> RideState:
    """Return the state at a newer fix, which is where it was, elsewhere or in doubt."""
    fix, speed = report.fix, report.speed
    if metres(anchor, fix) <= _reach(state, anchor, report):
        is_better = not state.ride and 0 < fix.accuracy < (anchor.accuracy or inf)
        address = fix.address or anchor.address
        anchor = (fix if is_better else anchor)._replace(address=address)
        state = state._replace(last_fix=fix, anchor=anchor)
    elif is_sure or (
        (_arrives(state) or not report.stands)
        and is_plausible(anchor, last_fix, fix, speed)
    ):
        return _further(state, anchor, last_fix, report)
    else:
        state = state._replace(candidate=state.candidate or fix)
    if ride := state.ride:
        # Its word that it moves keeps no ride going for longer than a bike may stand.
        since = max(anchor.time, ride.started_at)
        if _is_moving(speed) and fix.time - since < _STANDS_AFTER:
            ride = ride._replace(moved_at=max(ride.moved_at, fix.time))
        return state._replace(ride=ride.with_speed(speed))
    if _sets_off(state, report.moves) and not state.was_riding(fix.time):
        return _set_off(state, anchor, last_fix, fix.time, speed)
    return state


def _reach(state: RideState, anchor: Fix, report: _Report) -> float:
    """Return how many metres from its place a bike may be seen that went nowhere."""
    explained = noise(anchor, report.fix)
    if _arrives(state) or not report.stands:
        return explained
    is_known = anchor.accuracy and report.fix.accuracy
    return max(explained, state.drift, 0 if is_known else _DRIFT)


def _arrives(state: RideState) -> bool:
    """Return whether a report that it stands is the first one since it moved."""
    return state.ride is not None and state.says_it_moves is not False


def _stood(
    state: RideState, moved_at: datetime, anchor: Fix, last_fix: Fix, fix: Fix
) -> bool:
    """Return whether a bike stood for a while, or was silent for long, before a fix."""
    pause = fix.time - moved_at
    if pause < _STANDS_AFTER:
        return False
    if _slept(last_fix, fix) or metres(anchor, fix) <= noise(anchor, fix):
        return True
    rest = pause - timedelta(hours=way(anchor, anchor, last_fix, fix) / _SLOW)
    return rest >= (_STANDS_AFTER if state.says_it_moves is False else _LONGEST_DETOUR)


def _slept(start: Fix, end: Fix) -> bool:
    """Return whether nothing was heard of a tracker for long."""
    return end.time - start.time > _SILENT_AFTER


def _further(
    state: RideState,
    anchor: Fix,
    last_fix: Fix,
    report: _Report,
    *,
    is_rest: bool = False,
) -> RideState:
    """Return the state of a bike that went to another place, perhaps the rest of a ride."""
    fix = report.fix
    # While it stood, the server's total grew with each fix that drifted.
    kilometres = way(anchor, anchor if state.ride else last_fix, last_fix, fix)
    if not kilometres:
        return state._replace(anchor=fix, last_fix=fix)
    state = state.longer(kilometres)._replace(anchor=fix, last_fix=fix)
    if (over := state.ended) and (is_rest or state.was_riding(fix.time)):
        # Its ride was told as over before the fix was believed.
        over = over.further(kilometres, fix, over.moved_at)
        return state._replace(ended=over)
    ride = state.ride or _new_ride(state, anchor, last_fix, fix.time)
    ride = ride.further(kilometres, fix, fix.time).with_speed(report.speed)
    return state.without_drift()._replace(ride=ride)


def _sets_off(state: RideState, moves: bool | None) -> bool:
    """Return whether it says now that it moves: some always say so."""
    return moves is True and state.says_it_moves is not True


def _set_off(
    state: RideState,
    anchor: Fix,
    last_fix: Fix,
    time: datetime,
    speed: float | None = None,
) -> RideState:
    """Return the state of a bike that says it moves, and is not seen anywhere else yet."""
    ride = _new_ride(state, anchor, last_fix, time).with_speed(speed)
    anchor = anchor._replace(time=last_fix.time, total=last_fix.total)
    return state._replace(anchor=anchor, ride=ride)


def _new_ride(state: RideState, anchor: Fix, last_fix: Fix, time: datetime) -> Ride:
    """Return a ride that is noticed at this time."""
    is_late = state.was_riding(last_fix.time) or time - last_fix.time > _STANDS_AFTER
    return Ride(time if is_late else last_fix.time, time, start=anchor, end=anchor)
