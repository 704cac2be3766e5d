"""Rides and their detection: the rule by which a report changes the state of a tracker.

The bike is at another place if its distance from the last place is larger than the
noise that the accuracies explain. So the fixes of a parked bike may drift without a
ride. A ride is a chain of places. If a report claims that the bike stands at another
place, that place is only a candidate: the next report must confirm it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from ..api.models import MAX_KILOMETERS, MOVES_FROM, Position
from .distance import (
    FASTEST,
    NOWHERE,
    Fix,
    fix_of,
    is_plausible,
    may_be_one_place,
    meters,
    noise,
    way,
)
from .routes import encode, extended, thinned_route

STANDS_AFTER: Final = timedelta(minutes=5)
"""A ride ends as soon as the bike has stood for this time."""
SILENT_AFTER: Final = timedelta(minutes=30)
"""The ride of a tracker that sends no report for this time is over."""
# Km/h. The time between two reports that a bike would not have needed at this speed is
# a stop. Unless the first report claimed that the bike stood, a stop shorter than
# `_MAX_DETOUR_TIME` may have been a detour.
_SLOW = 6
_MAX_DETOUR_TIME = timedelta(minutes=10)
# If the accuracy is unknown, fixes of a standing bike may be this far apart.
_DRIFT_METERS = 150
# A place this near to the end of a recent ride belongs to that ride: the last report of
# the ride was lost.
_REST_OF_RIDE_METERS = 1_000
_REST_OF_RIDE_WITHIN = timedelta(hours=24)
# Where walls reflect the signals, fixes of a standing bike are off for up to this time.
_OFF_FOR = timedelta(minutes=8)
# If fixes drifted at a place, they are expected to drift again within this distance of
# the place, and within this time.
_DRIFT_RADIUS_METERS = 300
_DRIFT_KNOWN_FOR = timedelta(days=7)
# Fixes that are farther apart than this show different places, not drift.
_MAX_DRIFT_METERS = 1_000
_MAX_DRIFTS = 5
# If fixes drifted at this number of places or more, drift is expected everywhere.
_DRIFTS_ANYWHERE = 2
# After this time without stray fixes, fixes are trusted again.
_DRIFT_FORGOTTEN_AFTER = timedelta(days=1)
# If a tracker's clock is ahead by more than this, its fixes get the time of their
# receipt.
_WRONG_CLOCK = timedelta(minutes=5)
# If two fixes follow each other within this time, and no report is missing between
# them, the road between them has few bends.
_EVERY_FIX_WITHIN = timedelta(seconds=90)
# Km/h. During a ride, a faster change of place is a jump unless the tracker reports
# such a speed.
_FAST_RIDE = 100
VAGUE_METERS: Final = 100
"""Less accurate fixes, for example those from mobile networks, are vague."""
# If a bike moved this shortly before only vague fixes came, its place has this accuracy.
_MOVED_WITHIN = timedelta(minutes=1)
_AREA_METERS = 300


class Ride(NamedTuple):
    """A ride, under way or over."""

    started_at: datetime
    moved_at: datetime
    """Time of the last movement. This is the end of a ride that is over."""
    distance: float = 0
    """Kilometers."""
    maximum_speed: float | None = None
    """Kilometers per hour; None if no speed was reported."""
    start: Fix | None = None
    """Place where the bike stood before the ride; None for rides that were imported."""
    end: Fix | None = None
    """Last place of the ride."""
    route: str | None = None
    """Believed fixes as an encoded polyline."""

    @property
    def duration(self) -> float:
        """Return the duration in seconds."""
        return (self.moved_at - self.started_at).total_seconds()

    def described(self, *, is_over: bool) -> dict[str, Any]:
        """Return the attributes of the ride: its times, distance (km), duration (seconds) and maximum speed (km/h)."""
        speed = self.maximum_speed
        return {
            "started_at": self.started_at.isoformat(),
            **({"ended_at": self.moved_at.isoformat()} if is_over else {}),
            "distance": round(self.distance, 3),
            "duration": round(self.duration),
            "maximum_speed": speed if speed is None else round(speed, 1),
        }

    def with_speed(self, speed: float | None) -> Ride:
        """Return the ride with this speed as maximum, if the speed is higher than before and believable."""
        is_faster = speed is not None and (self.maximum_speed or 0) < speed <= FASTEST
        return self._replace(maximum_speed=speed) if is_faster else self

    def further(self, kilometers: float, end: Fix, time: datetime) -> Ride:
        """Return the ride with these kilometers added, a new last place, and `time` as end if it is later."""
        before = self.end or end
        route = self.route or encode([before.point])
        return self._replace(
            moved_at=max(self.moved_at, time),
            distance=self.distance + kilometers,
            end=end,
            route=extended(route, before.point, end.point),
        )


class Drift(NamedTuple):
    """A place where fixes of a standing bike were off."""

    place: Fix
    time: datetime
    """Time of the last fix that was off there."""
    apart: float = 0
    """Largest distance between the place and a fix that was off, in meters."""
    apart_for_minutes: float = 0
    """Like `apart`, but only if two or more fixes in a row were off before a fix was at the place again; otherwise 0."""


class RideState(NamedTuple):
    """State of ride detection for one tracker."""

    total: float | None = None
    """Kilometers: the server's first total plus all rides; None while unknown."""
    anchor: Fix = NOWHERE
    """The place of the bike. During a ride, the distance is counted up to this place."""
    last_fix: Fix = NOWHERE
    """Newest believed fix."""
    candidate: Fix | None = None
    """A newer fix at another place, which the next report must confirm."""
    newest_fix: Fix | None = None
    """Newest fix, believed or not; None before the first."""
    measured_at: datetime | None = None
    """Time of the newest fix by the tracker's own clock."""
    drift: float = 0
    """Largest distance of recent stray fixes from the place where the bike stood, in meters."""
    drifts: tuple[Drift, ...] = ()
    """The most recent places where fixes were off. The oldest of them comes first."""
    received_at: datetime | None = None
    """When the newest fix was received, by the clock of Home Assistant or of the service, whichever is later."""
    reported_at: datetime | None = None
    """Time of the newest report, even if it had no fix."""
    says_it_moves: bool | None = None
    """The most recently reported motion; None while the tracker does not report motion."""
    ride: Ride | None = None
    """Ride under way. It has no distance as long as the bike only moves on the spot."""
    ended: Ride | None = None
    """The most recent ride that ended."""
    rides: tuple[Ride, ...] = ()
    """Rides that ended or grew after the last settled input, in order of their start."""

    @property
    def is_at_rest(self) -> bool:
        """Return whether the bike has neither a ride under way nor a candidate."""
        return self.ride is None and self.candidate is None

    @property
    def ride_under_way(self) -> Ride | None:
        """Return the ride under way; None as long as the bike has not left its place."""
        return self.ride if self.ride and self.ride.distance else None

    def is_over(self, now: datetime) -> bool:
        """Return whether a ride is under way, but its tracker has been silent for so long that the ride is over."""
        received_at = self.received_at if self.ride else None
        return received_at is not None and received_at + SILENT_AFTER <= now

    def longer(self, kilometers: float) -> RideState:
        """Return the state with these kilometers added to its total. The total has a maximum."""
        return self._replace(total=min((self.total or 0) + kilometers, MAX_KILOMETERS))

    def booked(self, ride: Ride) -> RideState:
        """Return the state after a ride has ended. A ride with the same start is replaced: it has become longer."""
        rides = (it for it in self.rides if it.started_at != ride.started_at)
        return self._replace(ended=ride, rides=(*rides, ride))

    def with_drift(self, place: Fix, fix: Fix, *, stayed: bool = False) -> RideState:
        """Return the state after a stray fix of a standing bike. With `stayed`, several fixes in a row were off."""
        apart = meters(place, fix)
        if apart > _MAX_DRIFT_METERS:
            return self
        near = [it for it in self.drifts if _counts_at(it, place)]
        new = Drift(place, fix.time, apart, apart if stayed else 0)
        kept = [it for it in self.drifts if it not in near]
        drifts = (*kept, _worst(place, fix.time, [*near, new]))[-_MAX_DRIFTS:]
        return self._replace(drift=max(self.drift, apart), drifts=drifts)

    def drift_at(self, place: Fix, time: datetime) -> Drift:
        """Return the drift to expect in the fixes of a bike that stands at this place."""
        recent = [it for it in self.drifts if time - it.time <= _DRIFT_KNOWN_FOR]
        if len(recent) < _DRIFTS_ANYWHERE:
            recent = [it for it in recent if _counts_at(it, place)]
        return _worst(place, time, recent)

    def was_riding(self, time: datetime) -> bool:
        """Return whether a time is before the end of the last ride that ended, or exactly at its end."""
        return self.ended is not None and time <= self.ended.moved_at


def _counts_at(drift: Drift, place: Fix) -> bool:
    return meters(drift.place, place) <= _DRIFT_RADIUS_METERS


def _worst(place: Fix, time: datetime, drifts: Sequence[Drift]) -> Drift:
    """Return one drift with the largest distances of several drifts; 0 if the list is empty."""
    apart = max((drift.apart for drift in drifts), default=0)
    for_minutes = max((drift.apart_for_minutes for drift in drifts), default=0)
    return Drift(place, time, apart, for_minutes)


class _Report(NamedTuple):
    """A report with a fix that is newer than all known fixes."""

    fix: Fix
    speed: float | None = None
    moves: bool | None = None
    """The reported motion; None if the tracker does not report it."""
    is_complete: bool = False
    """Whether no report is missing between the previous report and this report."""


def apply_report(
    state: RideState, position: Position, now: datetime, *, is_complete: bool = False
) -> RideState:
    """Return the state after a report that was received now.

    A report whose fix is repeated or older changes no place: only its motion and the
    time of its message are used. A vague fix confirms no candidate, and refutes none for
    eight minutes. The first place is always used, however old it is: a server may repeat
    the last fix of a parked bike.
    """
    received_at = position.server_time or now
    fix = fix_of(position, held(position.fix_time, received_at))
    if fix is None or not _is_newer(state, position, fix):
        return _after_message(state, position, now)
    if is_vague(state, fix):
        if _may_be_confirmed(state, fix):
            return _after_message(state, position, now)
        # Drop the server's totals: they include the distance to this fix and back.
        state = state._replace(anchor=state.anchor._replace(total=None))
        fix = _seen_last(state, fix)
    report = _Report(fix, position.speed, says_it_moves(position), is_complete)
    if state.drift and fix.time - state.drifts[-1].time > _DRIFT_FORGOTTEN_AFTER:
        state = state._replace(drift=0)
    if state.candidate:
        state = _decided(state, state.candidate, report)
    state = _after_fix(state, report)
    is_in_doubt = state.candidate and not state.ride
    return state._replace(
        newest_fix=fix,
        # Home Assistant's clock may be behind at first, and be corrected during a ride,
        # so use the later time.
        received_at=max(now, received_at),
        reported_at=max(fix.time, held(position.device_time, received_at) or fix.time),
        measured_at=position.fix_time,
        says_it_moves=state.says_it_moves if is_in_doubt else report.moves,
    )


def start_of_ride(state: RideState) -> datetime | None:
    """Return the start of the ride under way, or of the ride that a confirmed candidate shows; None without both."""
    if fix := state.candidate:
        return (state.ride or _new_ride(state, state.last_fix, fix.time)).started_at
    return state.ride and state.ride.started_at


def end_ride(state: RideState) -> RideState:
    """Return the state with the ride ended at the last place of the tracker. Drop a ride without distance."""
    # No later report confirms or refutes the candidate: the bike is there, if that is
    # plausible.
    if (last := state.candidate) and state.ride and _may_be_at(state, last, None):
        state = _further(state._replace(candidate=None), _Report(last))
    if (ride := state.ride) is None:
        return state
    anchor, there, rest = state.anchor, state.last_fix, 0.0
    if may_be_one_place(anchor, there):
        # Add the small distance from the anchor to the last fix. A last fix that is
        # farther away than noise explains is drift, so its distance is not added.
        rest = meters(anchor, there) / 1_000
        there = there.or_address_of(anchor)
    if ride.distance:
        ride = ride._replace(
            distance=ride.distance + rest,
            end=ride.end and ride.end.or_address_of(anchor),
            route=ride.route and thinned_route(ride.route),
        )
        state = state.longer(rest).booked(ride)
    return state._replace(anchor=there, ride=None)


def held(time: datetime | None, received_at: datetime) -> datetime | None:
    """Return a time by the tracker's clock. If the clock is over five minutes ahead, return the time of receipt."""
    is_wrong = time is not None and time - received_at > _WRONG_CLOCK
    return received_at if is_wrong else time


def says_it_moves(position: Position) -> bool | None:
    """Return whether a report shows motion, by its speed or its `motion`; None if it shows neither motion nor rest."""
    if is_moving(position.speed):
        return True
    stands = position.motion is None and position.speed == 0
    return False if stands else position.moving


def is_vague(state: RideState, fix: Fix) -> bool:
    """Return whether a fix is so inaccurate that it only shows that the bike is still in the area of its place."""
    anchor = state.anchor
    is_worse = fix.accuracy > max(anchor.accuracy, VAGUE_METERS)
    return is_worse and may_be_one_place(anchor, fix)


def is_moving(speed: float | None) -> bool:
    """Return whether a speed in km/h is that of a moving bike."""
    return speed is not None and speed >= MOVES_FROM


def _is_newer(state: RideState, position: Position, fix: Fix) -> bool:
    """Return whether a report has a newer fix, and does not repeat the last fix."""
    if (newest_fix := state.newest_fix) is None:
        return True
    is_again = position.fix_time == state.measured_at and not meters(newest_fix, fix)
    return position.is_fix and fix.time > newest_fix.time and not is_again


def _after_message(state: RideState, position: Position, now: datetime) -> RideState:
    """Return the state after a report without a newer fix. Reported motion may begin a ride."""
    received_at = position.server_time or now
    time = held(position.device_time, received_at)
    if state.total is None and position.total_distance is not None:
        state = state._replace(total=position.total_distance)
    if time is None or (state.reported_at and time <= state.reported_at):
        return state
    moves = state.says_it_moves if position.moving is None else position.moving
    after = state._replace(reported_at=time, says_it_moves=moves)
    if state.newest_fix and _sets_off(state, moves):
        after = _set_off(after, state.last_fix, time)
        after = after._replace(received_at=max(now, received_at))
    return after


def _may_be_confirmed(state: RideState, vague: Fix) -> bool:
    """Return whether a candidate waits for an exact fix; False in a ride, which must end, and after eight minutes."""
    candidate = None if state.ride else state.candidate
    return candidate is not None and vague.time - candidate.time < _OFF_FOR


def _seen_last(state: RideState, vague: Fix) -> Fix:
    """Return the last believed fix at the time of a vague fix. It is inexact if the bike moved in the minute before."""
    last = state.last_fix._replace(time=vague.time, total=None)
    if state.ride and state.last_fix.time - state.ride.moved_at < _MOVED_WITHIN:
        return last._replace(accuracy=max(last.accuracy, _AREA_METERS))
    return last


def _decided(state: RideState, candidate: Fix, report: _Report) -> RideState:
    """Return the state after a report that confirms or refutes the candidate."""
    state = state._replace(candidate=None)
    if not _is_there(state, candidate, report):
        return _not_there(state, candidate, report)
    if state.ride is None and _stays(state, candidate, report):
        if report.fix.time - candidate.time >= _OFF_FOR:
            return _elsewhere(state, candidate)
        if meters(state.anchor, candidate) <= _REST_OF_RIDE_METERS:
            # Keep the candidate: the bike may be at a traffic light, or its fixes may
            # be off.
            return state._replace(candidate=candidate)
    confirmed = _Report(candidate, report.speed, is_complete=report.is_complete)
    return _after_fix(state, confirmed, is_sure=True)


def _not_there(state: RideState, candidate: Fix, report: _Report) -> RideState:
    """Return the state after a report that refutes the candidate."""
    stands = not state.ride and report.moves is False
    if stands and _is_near(state, report) and not _slept(candidate, report.fix):
        stayed = state.newest_fix != candidate
        state = state.with_drift(state.anchor, candidate, stayed=stayed)
    # Drop the server's totals: they include the distance to the candidate and back.
    anchor = state.anchor._replace(total=None)
    return state._replace(anchor=anchor, last_fix=state.last_fix._replace(total=None))


def _is_there(state: RideState, candidate: Fix, report: _Report) -> bool:
    """Return whether a report confirms the candidate.

    Its fix must be nearer to the candidate than to the anchor. After a silence, or if a
    bike under way may have turned around, the fix may even be nearer to the anchor.
    """
    fix, speed = report.fix, report.speed
    if _is_near(state, report) or not is_plausible(candidate, candidate, fix, speed):
        return False
    if meters(candidate, fix) < meters(state.anchor, fix) or _slept(candidate, fix):
        return True
    # A bike under way may have turned around.
    return bool(state.ride) and _may_be_at(state, candidate, speed)


def _may_be_at(state: RideState, fix: Fix, speed: float | None) -> bool:
    return is_plausible(state.anchor, state.last_fix, fix, speed)


def _stays(state: RideState, candidate: Fix, report: _Report) -> bool:
    """Return whether the bike stands at the candidate now, or has stood there."""
    there = state._replace(anchor=candidate, last_fix=candidate)
    reach = max(_DRIFT_METERS, _reach(there, report))
    is_at_it = report.moves is False and meters(candidate, report.fix) <= reach
    return is_at_it or _stood(there, candidate.time, report.fix)


def _elsewhere(state: RideState, fix: Fix) -> RideState:
    """Return the state of a bike that stands at another place, although no report showed a ride.

    A near place may instead be drift, or the rest of a recent ride.
    """
    anchor, over = state.anchor, state.ended
    apart, had_arrived = meters(anchor, fix), state.says_it_moves is False
    limit = _REST_OF_RIDE_METERS if state.drift else _DRIFT_METERS
    is_drift = had_arrived and apart <= limit
    if is_drift and state.drift:
        return state.with_drift(anchor, fix)._replace(anchor=fix, last_fix=fix)
    is_recent = over and fix.time - over.moved_at <= _REST_OF_RIDE_WITHIN
    is_near = bool(is_recent) and apart <= _REST_OF_RIDE_METERS
    is_rest = is_near and (is_drift or not had_arrived)
    state = end_ride(_further(state, _Report(fix), is_rest=is_rest))
    return state.with_drift(anchor, fix) if is_drift else state


def _after_fix(
    state: RideState, report: _Report, *, is_sure: bool = False
) -> RideState:
    """Return the state after a newer fix: the bike is at its place, at another place, or maybe at a candidate."""
    fix = report.fix
    if state.newest_fix is None:
        # With the first fix, servers add thousands of kilometers to the total: the
        # distance from 0/0. So prefer the server's total as it was before that fix.
        total = fix.total or 0 if state.total is None else state.total
        return state._replace(total=total, anchor=fix, last_fix=fix)
    if state.ride and _stood(state, state.ride.moved_at, fix):
        state = end_ride(state)
    last_fix, is_still = state.last_fix, _stands_still(state, report)
    if _is_near(state, report):
        state = _at_its_place(state, fix)
    elif is_sure or (not is_still and _may_be_at(state, fix, report.speed)):
        return _further(state, report)
    else:
        state = state._replace(candidate=state.candidate or fix)
    if _sets_off(state, report.moves) and not state.was_riding(fix.time):
        state = _set_off(state, last_fix, fix.time)
    if ride := state.ride:
        # Motion that is reported at the same place prolongs a ride by at most five
        # minutes.
        since = max(state.anchor.time, ride.started_at)
        if is_moving(report.speed) and fix.time - since < STANDS_AFTER:
            ride = ride._replace(moved_at=max(ride.moved_at, fix.time))
        state = state._replace(ride=ride.with_speed(report.speed))
    return state


def _at_its_place(state: RideState, fix: Fix) -> RideState:
    """Return the state of a bike that is still at its place. At rest, a more accurate fix becomes the anchor."""
    known = state.anchor.accuracy or VAGUE_METERS
    is_better = not state.ride and (fix.accuracy or VAGUE_METERS) < known
    address = fix.address or state.anchor.address
    anchor = (fix if is_better else state.anchor)._replace(address=address)
    return state._replace(last_fix=fix, anchor=anchor)


def _is_near(state: RideState, report: _Report) -> bool:
    """Return whether the bike may still be at its place, the anchor."""
    return meters(state.anchor, report.fix) <= _reach(state, report)


def _reach(state: RideState, report: _Report) -> float:
    """Return the largest distance in meters from the anchor that a fix of a bike at the anchor may have."""
    explained = noise(state.anchor, report.fix)
    if not _stands_still(state, report):
        return explained
    is_known = state.anchor.accuracy and report.fix.accuracy
    return max(explained, state.drift, 0 if is_known else _DRIFT_METERS)


def _stands_still(state: RideState, report: _Report) -> bool:
    """Return whether a report claims rest; False for the first such report in a ride, because the bike just arrives."""
    arrives = state.ride is not None and state.says_it_moves is not False
    return report.moves is False and not arrives


def _stood(state: RideState, moved_at: datetime, fix: Fix) -> bool:
    """Return whether the bike stood, or its tracker was silent, before a fix for long enough to end a ride."""
    anchor, last_fix, pause = state.anchor, state.last_fix, fix.time - moved_at
    if pause < STANDS_AFTER:
        return False
    if _slept(last_fix, fix) or may_be_one_place(anchor, fix):
        return True
    rest = pause - timedelta(hours=way(anchor, anchor, last_fix, fix) / _SLOW)
    stood_last = state.says_it_moves is False
    return rest >= (STANDS_AFTER if stood_last else _MAX_DETOUR_TIME)


def _slept(start: Fix, end: Fix) -> bool:
    """Return whether the tracker was silent between two fixes for more than 30 minutes."""
    return end.time - start.time > SILENT_AFTER


def _further(state: RideState, report: _Report, *, is_rest: bool = False) -> RideState:
    """Return the state at another place: a ride begins, continues, or was longer than known."""
    anchor, last_fix, fix = state.anchor, state.last_fix, report.fix
    # Outside of a ride, use the server's distance from the last fix: while the bike
    # stood, the server's total grew with each fix that drifted.
    base = anchor if state.ride else last_fix
    is_next = report.is_complete and fix.time - last_fix.time <= _EVERY_FIX_WITHIN
    kilometers = way(anchor, base, last_fix, fix, has_every_fix=is_next)
    if state.ride and not is_plausible(anchor, last_fix, fix, report.speed, _FAST_RIDE):
        # Add no distance: the fixes were off, or the tracker's clock was set back.
        kilometers = 0
    ride = state.ride or _new_ride(state, last_fix, fix.time)
    state = state._replace(anchor=fix, last_fix=fix)
    if not kilometers:
        return state
    state = state.longer(kilometers)
    if (over := state.ended) and (is_rest or state.was_riding(fix.time)):
        # This fix belongs to a ride that has already ended, but it was believed only
        # now. Store the longer ride.
        return state.booked(over.further(kilometers, fix, over.moved_at))
    ride = ride.further(kilometers, fix, fix.time).with_speed(report.speed)
    return state._replace(ride=ride, drift=0)


def _sets_off(state: RideState, moves: bool | None) -> bool:
    """Return whether a report of motion begins a ride. If the tracker reported motion before, it begins none."""
    return not state.ride and moves is True and state.says_it_moves is not True


def _set_off(state: RideState, last_fix: Fix, time: datetime) -> RideState:
    """Return the state of a bike that reports motion at its place. A ride begins, at first without distance."""
    anchor = state.anchor._replace(time=last_fix.time, total=last_fix.total)
    return state._replace(anchor=anchor, ride=_new_ride(state, last_fix, time))


def _new_ride(state: RideState, last_fix: Fix, time: datetime) -> Ride:
    """Return a new ride. It starts at `last_fix`, or at `time` if `last_fix` is over 5 minutes older or of the last ride."""
    is_late = state.was_riding(last_fix.time) or time - last_fix.time > STANDS_AFTER
    begin = time if is_late else last_fix.time
    return Ride(begin, time, start=state.anchor, end=state.anchor)
