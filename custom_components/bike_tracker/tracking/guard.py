"""The guard: the rules that trigger it.

A single report that the bike stands at another place proves little, because fixes drift
and jump. The bike is away if the next report is at that place or farther in the same
direction, or if the third report is not back at the guarded place. A report that the
bike moves is believed at once.
"""

from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

from ..api.models import Position
from .distance import (
    NOWHERE,
    Fix,
    fix_of,
    is_plausible,
    may_be_one_place,
    meters,
    noise,
)
from .occurrences import alarms_of
from .rides import (
    SILENT_AFTER,
    VAGUE_METERS,
    RideState,
    is_moving,
    is_vague,
    says_it_moves,
)

Cause = Literal["place", "motion", "alarm"]

CLOCK_BEHIND: Final = timedelta(minutes=5)
"""If a tracker's clock is behind by less than this, the clock counts as correct."""

# Trackers may repeat these alarms with each report while their cause lasts, so a
# repeated alarm triggers nothing.
_LASTING: Final = {"tampering", "removing", "power_cut", "geofence_exit", "jamming"}
_ALARMS: Final = {"vibration", "movement", "tow"} | _LASTING
# Even if the reported accuracy is better, fixes of a standing bike may be this far
# apart. The second limit is for trackers without a reported accuracy, and for places
# where fixes are known to drift.
_MIN_AWAY_METERS = 50
_MIN_AWAY_METERS_WHERE_UNKNOWN = 150
# If the distance of a fix from the guarded place exceeds the possible drift by more
# than this, a single report triggers the guard.
_FAR_METERS = 1_000
# Where walls reflect the signals, fixes may be off for up to this time.
_DRIFT_LASTS = timedelta(minutes=10)
# A fix may be drift if its distance from the guarded place is at most this multiple of
# the known drift.
_TIMES_KNOWN_DRIFT = 1.5
# A guard may be armed just before the bike arrives. This long after the arming, the
# bike stands, and late reports have arrived.
_ARRIVES_WITHIN = timedelta(minutes=5)
# A bike is leaving if its distance from the guarded place is at least this share of the
# distance from that place to the previous fix and on to the newest fix.
_STRAIGHT = 0.95


class Triggered(NamedTuple):
    """The cause that triggered a guard, and the place of the bike at that time."""

    cause: Cause
    """`place`: the bike is at another place. `motion`: it began to move. `alarm`: its tracker raised an alarm."""
    since: datetime
    """Time of the report that triggered the guard, in UTC."""
    distance: float
    """Meters between the guarded place and `fix`."""
    fix: Fix = NOWHERE
    alarm: str | None = None
    """Type of the alarm that was the cause; None if the cause is not an alarm."""

    def described(self, clock_error: timedelta = timedelta()) -> dict[str, Any]:
        """Return the attributes of the guard's entity, which are also variables of triggers. The time is right.

        The coordinates are not named `latitude` and `longitude`, because Home Assistant
        would then draw the guard's entity on the map.
        """
        return {
            "cause": self.cause,
            "since": (self.since + clock_error).isoformat(),
            "distance": round(self.distance),
            "address": self.fix.address,
            "seen_latitude": self.fix.latitude,
            "seen_longitude": self.fix.longitude,
        }


class Guard(NamedTuple):
    """The guard of a tracker, from its arming until it is disarmed or armed again."""

    armed_at: datetime
    """Time of the arming, by Home Assistant's clock in UTC."""
    place: Fix
    """The guarded place: the place of the bike at the arming."""
    after: datetime
    """Reports from before this time trigger nothing."""
    is_settled: bool = False
    """Whether the place is final: no later report can correct it."""
    moved: bool | None = None
    """Last reported motion; None if unknown."""
    alarms: tuple[str, ...] = ()
    """Types of the alarms of the last report. If the next report repeats a lasting alarm, it triggers nothing."""
    away: tuple[datetime, ...] = ()
    """Times of fixes away from the guarded place, after the last fix at that place; only the first two."""
    triggered: Triggered | None = None
    until: datetime | None = None
    """Reports from this time on trigger nothing. The guard was disarmed then, but earlier reports may still arrive."""

    @property
    def is_shown(self) -> bool:
        """Return whether the guard is armed, or earlier reports show that the bike was moved before the disarming."""
        return self.until is None or self.is_done

    @property
    def is_done(self) -> bool:
        """Return whether nothing can trigger the guard again. After an alarm, motion or another place still can."""
        return self.triggered is not None and self.triggered.cause != "alarm"

    def by(
        self, cause: Cause, since: datetime, fix: Fix, alarm: str | None = None
    ) -> Guard:
        """Return the guard after this cause has triggered it."""
        distance = meters(self.place, fix)
        return self._replace(triggered=Triggered(cause, since, distance, fix, alarm))


def requested_guard(
    position: Position | None, moved: bool | None, now: datetime
) -> Guard:
    """Return a guard that is armed now. `placed` sets its place later."""
    last = position and sent_at(position, now)
    # Treat reported motion as unknown, because the tracker may not have reported yet
    # that the bike stands.
    moved = False if moved is False else None
    alarms = _types_of(position) if position else ()
    return Guard(now, NOWHERE, max(now, last or now), moved=moved, alarms=alarms)


def placed(guard: Guard, before: RideState, behind: timedelta) -> Guard:
    """Return a guard that was just armed, with its place.

    If the last two reports agree on another place, the bike is guarded there, even if
    ride detection has not confirmed that place yet. `after` becomes earlier by the time
    `behind`, by which the tracker's clock is behind.
    """
    guard = guard._replace(after=guard.after - behind)
    newest, candidate = before.newest_fix, before.candidate
    if newest and candidate and newest != candidate:
        if may_be_one_place(candidate, newest):
            return guard._replace(place=newest, is_settled=True)
    return guard._replace(place=_standing_place(before))


def disarmed(
    guard: Guard | None, until: datetime | None, behind: timedelta
) -> Guard | None:
    """Return the guard after a disarming. With `until`, reports from before that time can still trigger it."""
    if guard is None or until is None:
        return None
    until = guard.until or until - behind
    # After a start, the history may also contain reports from after that time.
    is_later = guard.triggered is not None and guard.triggered.since >= until
    return None if is_later else guard._replace(until=until)


def waiting(state: RideState, *guards: Guard | None) -> Guard | None:
    """Return the first disarmed guard from whose time reports may still arrive, or None."""
    last = state.reported_at or NOWHERE.time
    return next((it for it in guards if it and it.until and last < it.until), None)


def after_report(
    guard: Guard, report: Position, before: RideState, now: datetime, *, is_prompt: bool
) -> Guard:
    """Return the guard after a report. `before` is the state of ride detection before the report."""
    time, until = sent_at(report, now), guard.until
    received_at = report.server_time or now
    if until and (
        time is None
        or time >= until
        # If the tracker's clock is slightly behind, the report was sent after `until`.
        or until <= received_at < time + CLOCK_BEHIND
    ):
        return guard
    if is_prompt:
        guard = _with_right_clock(guard, report, now)
    guard = after_alarm(guard, report, before, now)
    last_moved, moves = guard.moved, report.moving
    if guard.is_done or time is None:
        return guard
    if time < min(guard.after, before.reported_at or time):
        # This report came out of order, so the reported motion is not the last motion.
        return guard
    moved = last_moved if moves is None else moves
    guard = guard._replace(alarms=_types_of(report))
    if time < guard.after:
        return guard._replace(moved=moved, is_settled=False)
    fix = fix_of(report, report.fix_time and min(report.fix_time, received_at))
    if fix and is_vague(before, fix):
        away = (it for it in guard.away if fix.time - it <= SILENT_AFTER)
        guard, fix = guard._replace(away=tuple(away)), None
    was_settled = guard.is_settled
    if not was_settled:
        guard = _settled(guard, before, fix, report, time)
    is_new = report.is_fix and report.fix_time != before.measured_at
    if fix and is_new and fix.time >= guard.after and guard.is_settled:
        # After an outage, the history may correct the place of the arming. Until then,
        # one far fix does not trigger the guard.
        may_be_far = was_settled or is_prompt
        guard = _seen_at(guard, fix, report, before, may_be_far=may_be_far)
    if moves and last_moved is False and not guard.is_done:
        guard = guard.by("motion", time, fix or before.last_fix)
    return guard._replace(moved=moved)


def after_alarm(
    guard: Guard, report: Position, before: RideState, now: datetime
) -> Guard:
    """Return the guard after the alarms of a report. Alarms have the time of the message, not of the fix."""
    if now < guard.armed_at:
        # Home Assistant's clock was ahead when the guard was armed, so alarms trigger
        # the guard from now on.
        guard = guard._replace(after=min(guard.after, now))
    if guard.triggered or not report.alarm:
        return guard
    time, known = sent_at(report, now), _LASTING.intersection(guard.alarms)
    alarm = next((it for it in _types_of(report) if it in _ALARMS - known), None)
    if alarm is None or time is None or time < guard.after:
        return guard
    fix = fix_of(report, report.fix_time) or before.last_fix
    return guard.by("alarm", time, fix, alarm)


def _with_right_clock(guard: Guard, report: Position, now: datetime) -> Guard:
    """Correct `after` if Home Assistant's clock was ahead when the guard was armed.

    A report that arrives without delay shows the error of the clock: the time now,
    minus the time at which the service received the report.
    """
    received_at = report.server_time or now
    ahead = now - received_at
    is_ahead = received_at < guard.after and ahead > _ARRIVES_WITHIN
    return guard._replace(after=guard.after - ahead) if is_ahead else guard


def _types_of(report: Position) -> tuple[str, ...]:
    return tuple(alarm.type for alarm in alarms_of(report)) if report.alarm else ()


def sent_at(report: Position, now: datetime) -> datetime | None:
    """Return when a report was sent; None if unknown. The result is never later than the time of receipt."""
    time = report.device_time or report.fix_time
    return time and min(time, report.server_time or now)


def _standing_place(state: RideState) -> Fix:
    """Return the place where the bike has stood. If it has moved, return its last believed fix."""
    place, seen = state.anchor, state.last_fix
    stood = not state.ride and _may_stand_at(place, seen, state)
    return place if stood else seen


def _settled(
    guard: Guard, before: RideState, fix: Fix | None, report: Position, at: datetime
) -> Guard:
    """Return the guard with its likely place. Set `is_settled` as soon as the place of the arming is certain.

    The place is not certain at first: the report of the arrival may come after the
    arming, or never, and the last report before the arming may have jumped.
    """
    newest, candidate = before.newest_fix, before.candidate
    if fix and newest and candidate and candidate.time <= guard.after:
        if may_be_one_place(newest, fix) and not is_moving(report.speed):
            # Two reports agree on the place to which the bike moved before the arming.
            return guard._replace(place=fix, is_settled=True)
    place, anchor = _standing_place(before), before.anchor
    is_near = any(_may_stand_at(place, it, before) for it in (anchor, fix or anchor))
    moved_last = before.ride and before.ride.moved_at >= before.last_fix.time
    stands = is_near and not candidate and not moved_last
    # The first report after a silence proves nothing, because it may be the report of
    # the arrival.
    could_tell = says_it_moves(report) or place.time >= guard.after
    is_late = at - guard.after > _ARRIVES_WITHIN and could_tell
    return guard._replace(place=place, is_settled=bool(stands or is_late))


def _seen_at(
    guard: Guard, fix: Fix, report: Position, before: RideState, *, may_be_far: bool
) -> Guard:
    """Return the guard after a fix. `guard.moved` is the motion that was reported before this fix."""
    place = guard.place
    if _may_stand_at(place, fix, before):
        is_better = fix.accuracy <= VAGUE_METERS < place.accuracy
        return guard._replace(place=fix if is_better else place, away=())
    if _is_back(guard, fix, report, before):
        return guard._replace(place=before.anchor, away=())
    is_far = may_be_far and not _may_stand_at(place, fix, before, _FAR_METERS)
    is_away = (
        is_moving(report.speed)
        # Some trackers always report motion, so only motion that begins is proof.
        or (report.moving and not guard.moved)
        or (is_far and is_plausible(place, before.last_fix, fix, report.speed))
        or _is_confirmed(guard, fix, report, before)
    )
    if is_away:
        return guard.by("place", fix.time, fix)
    return guard._replace(away=(*guard.away, fix.time)[:2])


def _is_back(guard: Guard, fix: Fix, report: Position, before: RideState) -> bool:
    """Return whether the bike is back at the anchor, its confirmed place. If so, the guard was armed at a stray fix."""
    candidate, stands = before.candidate, not is_moving(report.speed)
    was_away = candidate is not None and candidate.time <= guard.after
    return was_away and stands and _may_stand_at(before.anchor, fix, before)


def _is_confirmed(guard: Guard, fix: Fix, report: Position, before: RideState) -> bool:
    """Return whether an earlier report confirms that the bike is elsewhere."""
    if not guard.away:
        return False
    known = before.drift_at(guard.place, fix.time).apart_for_minutes
    if meters(guard.place, fix) <= _TIMES_KNOWN_DRIFT * known:
        return fix.time - guard.away[0] >= _DRIFT_LASTS
    # Two separate jumps do not lead to the same place, so two fixes at the same place
    # confirm that the bike is there.
    last = before.newest_fix or fix
    is_there = may_be_one_place(last, fix) or says_it_moves(report) is None
    return (
        is_there or len(guard.away) > 1 or _is_leaving(guard.place, last, fix, before)
    )


def _is_leaving(place: Fix, last: Fix, fix: Fix, before: RideState) -> bool:
    """Return whether two fixes in a row lead away from a place in a straight line.

    Stray fixes rarely form such a line. Return False where fixes are known to stray:
    there, the third fix decides instead.
    """
    is_straight = meters(place, fix) >= _STRAIGHT * (
        meters(place, last) + meters(last, fix)
    )
    has_strayed = before.drift or before.drift_at(place, fix.time).apart
    return is_straight and not has_strayed and is_plausible(last, last, fix, 0)


def _may_stand_at(place: Fix, fix: Fix, state: RideState, beyond: float = 0) -> bool:
    """Return whether a bike that stands at a place may have this fix. `beyond` meters are added to the limit."""
    drift = state.drift or state.drift_at(place, fix.time).apart
    is_exact = place.accuracy and fix.accuracy and not drift
    minimum = _MIN_AWAY_METERS if is_exact else _MIN_AWAY_METERS_WHERE_UNKNOWN
    return meters(place, fix) <= max(noise(place, fix), minimum) + beyond
