"""The guard: a bike that was armed where it stands, and what triggers it.

One report of a bike that says it stands proves little: fixes drift and jump. It is away
if the next report is there too, or the third one is not back. A report that says the bike
moves is believed at once.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

from ..api.models import Position
from .distance import Fix, fix_of, is_plausible, metres, noise
from .occurrences import alarms_of
from .ride_detection import apply_report as ridden, is_moving, says_it_moves
from .ride_state import RideState

Cause = Literal["place", "motion", "alarm"]

# What trackers may repeat with each report for as long as it lasts, and what they do not.
_LASTING: Final = {"tampering", "removing", "power_cut", "geofence_exit", "jamming"}
_ALARMS: Final = {"vibration", "movement", "tow"} | _LASTING
# Metres that fixes of a bike that stands may be apart, whatever accuracy is reported, and
# where none is, or its fixes were known to drift farther than that.
_MIN_DISTANCE = 50
_MIN_DISTANCE_WHERE_UNKNOWN = 150
# Farther away by so many metres, one report is enough.
_FAR = 1_000
# Where walls reflected its signals before, it was for minutes.
_DRIFTS_FOR = timedelta(minutes=10)
# So many times as far as before.
_MORE = 1.5
# A bike that was armed on its last metres stands by then, and reports of before have come.
_ARRIVES_WITHIN = timedelta(minutes=5)


class Triggered(NamedTuple):
    """Why a guard was triggered, and where the bike was seen then."""

    cause: Cause
    """It is elsewhere, began to move, or its tracker raised an alarm."""
    since: datetime
    """When the tracker noticed it, in UTC."""
    distance: float
    """Metres from where it was armed."""
    fix: Fix | None = None
    alarm: str | None = None
    """The type of the alarm that was the cause."""

    def described(self) -> dict[str, Any]:
        """Return the attributes of the entity and of trigger variables."""
        return {
            "cause": self.cause,
            "since": self.since.isoformat(),
            "distance": round(self.distance),
            "address": self.fix and self.fix.address,
            "seen_latitude": self.fix and self.fix.latitude,
            "seen_longitude": self.fix and self.fix.longitude,
        }


class Guard(NamedTuple):
    """How a tracker is guarded, until it is disarmed or armed anew."""

    armed_at: datetime
    """When it was armed by the house's clock, in UTC."""
    place: Fix
    """Where it was then."""
    after: datetime
    """Reports older than this trigger nothing: of before the arming, or known then."""
    is_settled: bool = False
    """Whether no report is on its way that says better where it was armed."""
    moved: bool | None = None
    """The last word of its tracker on whether it moves."""
    alarms: tuple[str, ...] = ()
    """The types of the alarms of its last report: one that lasts is no other one."""
    away: tuple[datetime, ...] = ()
    """When the first two saw it elsewhere of the reports in a row that do so."""
    triggered: Triggered | None = None


def armed(
    ride_state: RideState, position: Position | None, moved: bool | None, now: datetime
) -> Guard | None:
    """Return the guard of a bike that is armed now, None while it never had a place."""
    if position is None or ride_state.newest_fix is None:
        return None
    # Who is armed under way may not have said yet that it stands.
    moved = False if moved is False else None
    place, after = _place(ride_state), max(now, _sent_at(position, now) or now)
    return Guard(now, place, after, moved=moved, alarms=_alarms_of(position))


def after_report(
    guard: Guard, report: Position, ride_state: RideState, now: datetime
) -> Guard:
    """Return the guard after a report, given the ride_state before it."""
    guard = after_alarm(guard, report, ride_state, now)
    time, before, moves = _sent_at(report, now), guard.moved, report.moving
    if guard.triggered or time is None:
        return guard
    moved = before if moves is None else moves
    guard = guard._replace(alarms=_alarms_of(report))
    if time < guard.after:
        return guard._replace(moved=moved, is_settled=False)
    received_at = report.server_time or now
    fix = fix_of(report, report.fix_time and min(report.fix_time, received_at))
    if not guard.is_settled:
        guard = _settled(guard, ride_state, fix, report, time)
    is_new = report.is_fix and report.fix_time != ride_state.measured_at
    if fix and is_new and fix.time >= guard.after and guard.is_settled:
        guard = _seen_at(guard, fix, report, ride_state)
    if moves and before is False and not guard.triggered:
        guard = _triggered(guard, "motion", time, fix or ride_state.last_fix)
    return guard._replace(moved=moved)


def _seen_at(guard: Guard, fix: Fix, report: Position, ride_state: RideState) -> Guard:
    """Return the guard of a bike that is seen there, given its last word before."""
    if _is_near(guard.place, fix, ride_state):
        return guard._replace(away=())
    # Some trackers always say that they move.
    sets_off = report.moving and not guard.moved
    if is_moving(report.speed) or sets_off or _is_away(guard, fix, report, ride_state):
        return _triggered(guard, "place", fix.time, fix)
    return guard._replace(away=(*guard.away, fix.time)[:2])


def put_right(guard: Guard, report: Position, now: datetime) -> Guard:
    """Return the guard after a report of just now, armed by a clock that may be ahead.

    By how much shows when the service received the report.
    """
    received_at = report.server_time or now
    ahead = now - received_at
    is_ahead = received_at < guard.after and ahead > _ARRIVES_WITHIN
    return guard._replace(after=guard.after - ahead) if is_ahead else guard


def after_alarm(
    guard: Guard, report: Position, ride_state: RideState, now: datetime
) -> Guard:
    """Return the guard after the alarms of a report, by the time of its message."""
    if now < guard.armed_at:
        # The house's clock was ahead when it was armed.
        guard = guard._replace(armed_at=now, after=min(guard.after, now))
    time = _sent_at(report, now)
    known, alarms = _LASTING.intersection(guard.alarms), _alarms_of(report)
    alarm = next((it for it in alarms if it in _ALARMS - known), None)
    if alarm is None or guard.triggered or time is None or time < guard.after:
        return guard
    fix = fix_of(report, report.fix_time) or ride_state.last_fix
    return _triggered(guard, "alarm", time, fix, alarm)


def after_late_reports(
    guard: Guard, reports: Iterable[Position], ride_state: RideState, now: datetime
) -> Guard:
    """Return the guard as if these reports had come in time, after this ride_state."""
    guard = guard._replace(moved=ride_state.says_it_moves, away=())
    for report in reports:
        guard = after_report(guard, report, ride_state, now)
        ride_state, _ = ridden(ride_state, report, now)
    return guard


def _alarms_of(report: Position) -> tuple[str, ...]:
    return tuple(alarm.type for alarm in alarms_of(report))


def _sent_at(report: Position, now: datetime) -> datetime | None:
    """Return when a tracker sent a report; its clock is not ahead of the service's."""
    sent_at = report.device_time or report.fix_time
    return sent_at and min(sent_at, report.server_time or now)


def _place(ride_state: RideState) -> Fix:
    """Return where it is: where it stood all the while, or was seen last."""
    place, seen = ride_state.anchor, ride_state.last_fix
    stood = not ride_state.ride and _is_near(place, seen, ride_state)
    return place if stood else seen


def _settled(
    guard: Guard, ride_state: RideState, fix: Fix | None, report: Position, at: datetime
) -> Guard:
    """Return the guard with where the bike stood when it was armed, once that is known.

    The report of its arrival may come later than the person who arms it, or never, and
    the last one may have jumped.
    """
    place, anchor = _place(ride_state), ride_state.anchor
    is_near = any(_is_near(place, it, ride_state) for it in (anchor, fix or anchor))
    # A ride may be over only because nothing was received since.
    ride = ride_state.ride or (ride_state.says_it_moves and ride_state.ended)
    moved_last = ride and ride.moved_at >= ride_state.last_fix.time
    stands = is_near and not ride_state.candidate and not moved_last
    # Not the first report after a silence: that may be the one of its arrival.
    could_tell = says_it_moves(report) or place.time >= guard.after
    is_late = at - guard.after > _ARRIVES_WITHIN and could_tell
    return guard._replace(place=place, is_settled=bool(stands or is_late))


def _is_near(place: Fix, fix: Fix, ride_state: RideState, beyond: float = 0) -> bool:
    """Return whether a bike may be seen there that went nowhere, or that far beyond."""
    drift = ride_state.drift or ride_state.drift_at(place, fix.time).apart
    is_exact = place.accuracy and fix.accuracy and not drift
    minimum = _MIN_DISTANCE if is_exact else _MIN_DISTANCE_WHERE_UNKNOWN
    return metres(place, fix) <= max(noise(place, fix), minimum) + beyond


def _is_away(guard: Guard, fix: Fix, report: Position, ride_state: RideState) -> bool:
    """Return whether a bike is elsewhere that is seen there, or its fixes may be off."""
    place, apart = guard.place, metres(guard.place, fix)
    if not _is_near(place, fix, ride_state, _FAR):
        if is_plausible(place, ride_state.last_fix, fix, report.speed):
            return True
    if not guard.away:
        return False
    if apart <= _MORE * ride_state.drift_at(place, fix.time).apart_for_minutes:
        return fix.time - guard.away[0] >= _DRIFTS_FOR
    # Of a bike that says it stands two fixes that jumped are not at one place.
    last = ride_state.newest_fix or fix
    is_there = metres(last, fix) <= noise(last, fix) or says_it_moves(report) is None
    return is_there or len(guard.away) > 1


def _triggered(
    guard: Guard, cause: Cause, since: datetime, fix: Fix, alarm: str | None = None
) -> Guard:
    distance = metres(guard.place, fix)
    return guard._replace(triggered=Triggered(cause, since, distance, fix, alarm))
