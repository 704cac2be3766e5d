"""Rides: when a bike set off, when it arrived, and how far it went.

A place counts as another one if it is farther away than the accuracies explain. So a bike
that stands goes nowhere, however its fixes drift, and one that moves goes from each such
place to the next. Where a report itself says that the bike stands, its place alone is not
believed before the next one is there too.
"""

from datetime import datetime, timedelta
from math import inf
from typing import NamedTuple

from ..api.models import MOVES_FROM, Position
from .distance import Fix, fix_of, is_plausible, metres, noise, way
from .ride_state import STANDS_AFTER, Ride, RideEvent, RideState, Step

_SILENT_AFTER = timedelta(minutes=30)
# Of a way between two reports at this speed, in km/h, what it took longer may have been a
# stop. If the first report did not say that it stood, it was a detour more likely.
_SLOW = 6
_LONGEST_DETOUR = timedelta(minutes=10)
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


class _Report(NamedTuple):
    """What a report with a newer fix says."""

    fix: Fix
    speed: float | None = None
    moves: bool | None = None
    """None is that it does not say."""


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
    state, events = _after_newer_fix(state, report)
    is_in_doubt = state.candidate and not state.ride
    state = state._replace(
        newest_fix=fix,
        # The clock of the house may be behind, and put right under way.
        received_at=max(now, received_at),
        reported_at=max(fix.time, _time(position.device_time, received_at) or fix.time),
        measured_at=position.fix_time,
        says_it_moves=state.says_it_moves if is_in_doubt else report.moves,
    )
    return state, events


def silent_at(state: RideState) -> datetime | None:
    """Return when a tracker under way counts as fallen silent, and its ride as over."""
    received_at = state.received_at if state.ride else None
    return received_at and received_at + _SILENT_AFTER


def end_ride(state: RideState) -> Step:
    """Return the state after its ride, where the tracker was seen last."""
    # A silent bike is where its last report saw it, if that may be.
    if (last := state.candidate) and state.ride and _may_be_at(state, last, None):
        state = _further(state._replace(candidate=None), _Report(last))
    if (ride := state.ride) is None:
        return state, []
    anchor, there, rest, before = state.anchor, state.last_fix, 0.0, state.last
    if metres(anchor, there) <= noise(anchor, there):
        # The way to where it was seen last, as far as no drift explains it.
        rest = metres(anchor, there) / 1_000 if ride.distance else 0
        there = there.or_address_of(anchor)
    if ride.distance:
        before, end = None, ride.end and ride.end.or_address_of(anchor)
        ride = ride._replace(distance=ride.distance + rest, end=end)
    state = state.longer(rest)
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
    if is_moving(position.speed):
        return True
    stands = position.motion is None and position.speed == 0
    return False if stands else position.moving


def is_moving(speed: float | None) -> bool:
    """Return whether that is a speed, in km/h, of a bike that moves."""
    return speed is not None and speed >= MOVES_FROM


def _after_message(state: RideState, position: Position, now: datetime) -> Step:
    """Return the state after a report that tells of no newer place."""
    received_at = position.server_time or now
    time = _time(position.device_time, received_at)
    if state.total is None:
        state = state._replace(total=position.total_distance)
    if time is None or (state.reported_at and time <= state.reported_at):
        return state, []
    before = state = state._replace(reported_at=time)
    moves = state.says_it_moves if position.moving is None else position.moving
    if state.newest_fix and _sets_off(state, moves):
        state = _set_off(state, state.last_fix, time)
        state = state._replace(received_at=max(now, received_at))
    return state._replace(says_it_moves=moves), _start_of(before, state)


def _after_newer_fix(state: RideState, report: _Report) -> Step:
    """Return the state after a fix, by which what was in doubt before is decided."""
    fix, events = report.fix, list[RideEvent]()
    if state.drift and fix.time - state.drifts[-1].time > _DRIFTS_FOR:
        state = state._replace(drift=0)
    if (last := state.interrupted) and not _stood(state, last.moved_at, fix):
        # The clock of the house may be wrong, or reports have come late.
        state = state._replace(ride=last, ended=state.before_ended, before_ended=None)
        events = [("started", last)]
    if state.candidate:
        state, decided = _decided(state, state.candidate, report)
        events += decided
    state, more = _after_fix(state, report)
    return state, events + more


def _decided(state: RideState, candidate: Fix, report: _Report) -> Step:
    """Return the state of which a report says whether a fix in doubt is believed."""
    state = state._replace(candidate=None)
    if not _is_there(state, candidate, report):
        return _not_there(state, candidate, report), []
    if state.ride is None and _stays(state, candidate, report):
        if report.fix.time - candidate.time >= _STRAYS_FOR:
            return _elsewhere(state, candidate)
        if metres(state.anchor, candidate) <= _NEAR:
            # It is at a traffic light, or its fixes are off.
            return state._replace(candidate=candidate), []
    return _after_fix(state, _Report(candidate), is_sure=True)


def _not_there(state: RideState, candidate: Fix, report: _Report) -> RideState:
    """Return the state of a bike that was not where a fix in doubt was."""
    stands = not state.ride and report.moves is False
    if stands and _is_near(state, report) and not _slept(candidate, report.fix):
        stayed = state.newest_fix != candidate
        state = state.with_drift(state.anchor, candidate, stayed=stayed)
    # The server's total has the way there, and the way back.
    anchor = state.anchor._replace(total=None)
    return state._replace(anchor=anchor, last_fix=state.last_fix._replace(total=None))


def _is_there(state: RideState, candidate: Fix, report: _Report) -> bool:
    """Return whether a report is nearer to a fix in doubt than to the place before."""
    fix, speed = report.fix, report.speed
    if _is_near(state, report) or not is_plausible(candidate, candidate, fix, speed):
        return False
    if metres(candidate, fix) < metres(state.anchor, fix) or _slept(candidate, fix):
        return True
    # Under way it may turn round.
    return bool(state.ride) and _may_be_at(state, candidate, speed)


def _may_be_at(state: RideState, fix: Fix, speed: float | None) -> bool:
    return is_plausible(state.anchor, state.last_fix, fix, speed)


def _stays(state: RideState, candidate: Fix, report: _Report) -> bool:
    """Return whether it stands where a fix in doubt was, or did so for a while."""
    there = state._replace(anchor=candidate, last_fix=candidate)
    reach = max(_DRIFT, _reach(there, report))
    is_at_it = report.moves is False and metres(candidate, report.fix) <= reach
    return is_at_it or _stood(there, candidate.time, report.fix)


def _elsewhere(state: RideState, fix: Fix) -> Step:
    """Return the state of a bike that stands elsewhere, and was not seen on its way."""
    anchor, over = state.anchor, state.ended
    apart, had_arrived = metres(anchor, fix), state.says_it_moves is False
    is_drift = had_arrived and apart <= (_NEAR if state.drift else _DRIFT)
    if is_drift and state.drift:
        return state.with_drift(anchor, fix)._replace(anchor=fix, last_fix=fix), []
    is_near = over and apart <= _NEAR and fix.time - over.moved_at <= _NOT_LONG
    is_rest = bool(is_near) and (is_drift or not had_arrived)
    there = _further(state, _Report(fix), is_rest=is_rest)
    arrived, events = end_ride(there)
    if is_drift:
        arrived = arrived.with_drift(anchor, fix)
    return arrived, _start_of(state, there) + events


def _after_fix(state: RideState, report: _Report, *, is_sure: bool = False) -> Step:
    fix, events = report.fix, list[RideEvent]()
    if state.newest_fix is None:
        # Servers add thousands of kilometres to the first fix.
        total = fix.total or 0 if state.total is None else state.total
        return state._replace(total=total, anchor=fix, last_fix=fix), events
    if state.ride and _stood(state, state.ride.moved_at, fix):
        state, events = end_ride(state)
    there = _at(state, report, is_sure=is_sure)
    return there, events + _start_of(state, there)


def _start_of(before: RideState, state: RideState) -> list[RideEvent]:
    return [("started", state.ride)] if state.ride and not before.ride else []


def _at(state: RideState, report: _Report, *, is_sure: bool) -> RideState:
    """Return the state at a newer fix, which is where it was, elsewhere or in doubt."""
    last_fix, fix, moves = state.last_fix, report.fix, not _stands_still(state, report)
    if _is_near(state, report):
        state = _at_its_place(state, fix)
    elif is_sure or (moves and _may_be_at(state, fix, report.speed)):
        return _further(state, report)
    else:
        state = state._replace(candidate=state.candidate or fix)
    if _sets_off(state, report.moves) and not state.was_riding(fix.time):
        state = _set_off(state, last_fix, fix.time)
    if ride := state.ride:
        # Its word that it moves keeps no ride going for longer than a bike may stand.
        since = max(state.anchor.time, ride.started_at)
        if is_moving(report.speed) and fix.time - since < STANDS_AFTER:
            ride = ride._replace(moved_at=max(ride.moved_at, fix.time))
        state = state._replace(ride=ride.with_speed(report.speed))
    return state


def _at_its_place(state: RideState, fix: Fix) -> RideState:
    """Return the state of a bike that went nowhere; a better fix says where that is."""
    is_better = not state.ride and 0 < fix.accuracy < (state.anchor.accuracy or inf)
    address = fix.address or state.anchor.address
    anchor = (fix if is_better else state.anchor)._replace(address=address)
    return state._replace(last_fix=fix, anchor=anchor)


def _is_near(state: RideState, report: _Report) -> bool:
    """Return whether a bike may have gone nowhere."""
    return metres(state.anchor, report.fix) <= _reach(state, report)


def _reach(state: RideState, report: _Report) -> float:
    """Return how many metres from its place a bike may be seen that went nowhere."""
    explained = noise(state.anchor, report.fix)
    if not _stands_still(state, report):
        return explained
    is_known = state.anchor.accuracy and report.fix.accuracy
    return max(explained, state.drift, 0 if is_known else _DRIFT)


def _stands_still(state: RideState, report: _Report) -> bool:
    """Return whether a report says it stands, and is not the first since it moved."""
    arrives = state.ride is not None and state.says_it_moves is not False
    return report.moves is False and not arrives


def _stood(state: RideState, moved_at: datetime, fix: Fix) -> bool:
    """Return whether a bike stood for a while, or was silent for long, before a fix."""
    anchor, last_fix, pause = state.anchor, state.last_fix, fix.time - moved_at
    if pause < STANDS_AFTER:
        return False
    if _slept(last_fix, fix) or metres(anchor, fix) <= noise(anchor, fix):
        return True
    rest = pause - timedelta(hours=way(anchor, anchor, last_fix, fix) / _SLOW)
    return rest >= (STANDS_AFTER if state.says_it_moves is False else _LONGEST_DETOUR)


def _slept(start: Fix, end: Fix) -> bool:
    """Return whether nothing was heard of a tracker for long."""
    return end.time - start.time > _SILENT_AFTER


def _further(state: RideState, report: _Report, *, is_rest: bool = False) -> RideState:
    """Return the state of a bike that went to another place, perhaps the rest of a ride."""
    anchor, last_fix, fix = state.anchor, state.last_fix, report.fix
    # While it stood, the server's total grew with each fix that drifted.
    kilometres = way(anchor, anchor if state.ride else last_fix, last_fix, fix)
    ride = state.ride or _new_ride(state, last_fix, fix.time)
    state = state._replace(anchor=fix, last_fix=fix)
    if not kilometres:
        return state
    state = state.longer(kilometres)
    if (over := state.ended) and (is_rest or state.was_riding(fix.time)):
        # Its ride was told as over before the fix was believed.
        return state._replace(ended=over.further(kilometres, fix, over.moved_at))
    ride = ride.further(kilometres, fix, fix.time).with_speed(report.speed)
    return state._replace(ride=ride, drift=0)


def _sets_off(state: RideState, moves: bool | None) -> bool:
    """Return whether one that stood says now that it moves: some always say so."""
    return not state.ride and moves is True and state.says_it_moves is not True


def _set_off(state: RideState, last_fix: Fix, time: datetime) -> RideState:
    """Return the state of a bike that says it moves, and is not seen anywhere else yet."""
    anchor = state.anchor._replace(time=last_fix.time, total=last_fix.total)
    return state._replace(anchor=anchor, ride=_new_ride(state, last_fix, time))


def _new_ride(state: RideState, last_fix: Fix, time: datetime) -> Ride:
    """Return a ride that is noticed at this time, after this fix."""
    is_late = state.was_riding(last_fix.time) or time - last_fix.time > STANDS_AFTER
    begin = time if is_late else last_fix.time
    return Ride(begin, time, start=state.anchor, end=state.anchor)
