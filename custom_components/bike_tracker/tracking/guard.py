"""The guard: a bike that was armed where it stands, and what is no longer as it was then.

One report of a bike that says it stands proves little: fixes drift and jump. It is away
if the next report is there too, or the third one is not back. A report that says the bike
moves is believed at once.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

from ..api import Position
from .alarms import Alarm, alarms_of
from .distance import Fix, fix_of, is_plausible, metres, noise
from .occurrences import following
from .rides import says_it_moves
from .track import Track

_ALARMS: Final = {"vibration", "movement", "tow", "tampering", "removing"} | {
    *("power_cut", "geofence_exit", "jamming")
}
# Metres that fixes of a bike that stands may be apart, whatever accuracy is told, and
# where none is, or its fixes were known to drift farther than that.
_LEAST = 50
_LEAST_WHERE_UNKNOWN = 150
# Farther away by so many metres, one report is enough.
_FAR = 1_000
# So many reports in a row that saw it elsewhere are believed, wherever that was.
_ENOUGH = 3
# Where walls reflected its signals before, it was for minutes.
_STRAYS_FOR = timedelta(minutes=10)
# A bike that was armed on its last metres stands by then, and reports of before have come.
# A clock that is off by more is wrong.
_ARRIVES_WITHIN = timedelta(minutes=5)


class Triggered(NamedTuple):
    """Why a guard was triggered."""

    cause: Literal["place", "motion", "alarm"]
    """It is elsewhere, began to move, or its tracker raised an alarm."""
    since: datetime
    """When the tracker noticed it, in UTC."""
    distance: float
    """Metres from where it was armed."""
    heard_at: datetime
    """Its number: when it was heard of, later than any before it, in UTC."""

    def described(self) -> dict[str, Any]:
        """Return what is told of it."""
        return {
            "cause": self.cause,
            "since": self.since,
            "distance": round(self.distance),
        }


class Guard(NamedTuple):
    """How a tracker is guarded, until it is disarmed or armed anew."""

    armed_at: datetime
    """When it was armed, in UTC."""
    place: Fix
    """Where it was then."""
    after: datetime
    """Reports older than this, by the tracker's clock, trigger nothing."""
    told: datetime | None = None
    """The number of what triggered it the time before."""
    is_settled: bool = False
    """Whether no report is on its way that tells better where it was armed."""
    moved: bool | None = None
    """Whether it said last that it moves, None while it never did."""
    doubt: Fix | None = None
    """Where the last report saw it, if that is elsewhere and was not believed yet."""
    doubted_at: datetime | None = None
    """When the first of those in a row was measured that saw it elsewhere."""
    doubts: int = 0
    """How many there are in a row."""
    triggered: Triggered | None = None


def armed(
    track: Track | None, moved: bool | None, now: datetime, told: datetime | None
) -> Guard | None:
    """Return the guard of a bike that is armed now, None while it never had a place."""
    if track is None or (place := _place(track)) is None:
        return None
    return Guard(now, place, _after(track, now), told, moved=moved)


def heard(guard: Guard, position: Position, track: Track, now: datetime) -> Guard:
    """Return the guard after a report, given the track before it."""
    time = position.device_time or position.fix_time
    if guard.triggered or time is None:
        return guard
    fix, moved = fix_of(position, position.fix_time), guard.moved
    guard = guard if position.motion is None else guard._replace(moved=position.motion)
    if time < guard.after:
        return guard._replace(is_settled=False)
    guard = _settled(guard, track, fix, position, time)
    if fix and guard.is_settled and _is_newer(guard, fix):
        guard, is_away = _seen(guard, fix, position, track)
        if is_away:
            return _triggered(guard, "place", fix.time, fix, now)
    if position.motion and moved is False:
        return _triggered(guard, "motion", time, fix or track.seen, now)
    return guard


def recalled(
    guard: Guard, reports: Sequence[Position], track: Track, now: datetime
) -> Guard:
    """Return the guard after what the service's history tells, oldest first."""
    for report in reports:
        guard = alarmed(guard, alarms_of(report), track, now)
    if guard.triggered or not guard.is_settled:
        return guard
    doubt, before = guard.doubt, None
    for fix, report in _seen_later(guard, reports):
        is_away = not _is_near(guard.place, fix, track)
        if is_away and says_it_moves(report):
            return _triggered(guard, "place", fix.time, fix, now)
        if doubt and fix.time < doubt.time:
            before = fix if is_away else None
    if doubt and before and _stood(guard, before, doubt, track):
        return _triggered(guard, "place", doubt.time, doubt, now)
    return guard


def alarmed(
    guard: Guard, alarms: Iterable[Alarm], track: Track | None, now: datetime
) -> Guard:
    """Return the guard after new alarms, which may be those of an old report."""
    for alarm in alarms:
        time = alarm.reported_at
        is_cause = time and time >= guard.after and alarm.type in _ALARMS
        if time and is_cause and not guard.triggered:
            return _triggered(guard, "alarm", time, track and track.seen, now)
    return guard


def _place(track: Track) -> Fix | None:
    """Return where it is: where it stood all the while, or was seen last."""
    place, seen = track.place, track.seen
    if place and seen and not track.ride and _is_near(place, seen, track):
        return place
    return seen


def _after(track: Track, now: datetime) -> datetime:
    """Return up to when reports are older, by the tracker's clock if that is wrong."""
    clock = (track.measured_at or now) + (now - (track.heard_at or now))
    return now if abs(clock - now) <= _ARRIVES_WITHIN else clock + _ARRIVES_WITHIN


def _settled(
    guard: Guard, track: Track, fix: Fix | None, position: Position, time: datetime
) -> Guard:
    """Return the guard with where the bike stood when it was armed, once that is known.

    The report of its arrival may come later than the person who arms it, and the last one
    may have jumped.
    """
    if guard.is_settled:
        return guard
    place, ride, seen = _place(track) or guard.place, track.ride, track.seen
    moved_just_now = ride and seen and ride.moved_at >= seen.time
    is_near = any(_is_near(place, other, track) for other in (track.place, fix))
    stands = is_near and not track.doubt and not moved_just_now
    # Not the first report after a silence: that may be the one of its arrival.
    could_tell = says_it_moves(position) or place.time >= guard.after
    is_late = time - guard.after > _ARRIVES_WITHIN and could_tell
    return guard._replace(place=place, is_settled=stands or is_late)


def _is_near(place: Fix, fix: Fix | None, track: Track) -> bool:
    return fix is not None and metres(place, fix) <= _reach(place, fix, track)


def _is_newer(guard: Guard, fix: Fix) -> bool:
    """Return whether a fix was measured since, and is none that is sent again."""
    return fix.time > guard.doubt.time if guard.doubt else fix.time >= guard.after


def _seen(
    guard: Guard, fix: Fix, position: Position, track: Track
) -> tuple[Guard, bool]:
    """Return the guard of a bike that is seen there, and whether it is away."""
    beyond = metres(guard.place, fix) - _reach(guard.place, fix, track)
    if beyond <= 0:
        return guard._replace(doubt=None, doubted_at=None, doubts=0), False
    doubted_at, seen = guard.doubted_at or fix.time, track.seen or guard.place
    is_sure = (
        says_it_moves(position) is True
        or (beyond > _FAR and is_plausible(guard.place, seen, fix, position.speed))
        or (
            fix.time - doubted_at >= _STRAYS_FOR
            if metres(guard.place, fix) <= track.strayed
            else _is_there(guard, fix, position)
        )
    )
    doubts = guard.doubts + 1
    return guard._replace(doubt=fix, doubted_at=doubted_at, doubts=doubts), is_sure


def _reach(place: Fix, fix: Fix, track: Track) -> float:
    """Return how many metres from its place a bike may be seen that went nowhere."""
    is_exact = place.accuracy and fix.accuracy and not track.drift
    return max(noise(place, fix), _LEAST if is_exact else _LEAST_WHERE_UNKNOWN)


def _is_there(guard: Guard, fix: Fix, position: Position) -> bool:
    """Return whether a report confirms the one before it.

    Of a bike that says it stands two fixes that jumped are not at one place.
    """
    if (doubt := guard.doubt) is None:
        return False
    is_near = says_it_moves(position) is None or metres(doubt, fix) <= noise(doubt, fix)
    return is_near or guard.doubts + 1 >= _ENOUGH


def _seen_later(
    guard: Guard, reports: Sequence[Position]
) -> list[tuple[Fix, Position]]:
    """Return where reports saw a bike, without those in which it may just arrive."""
    fixes = ((fix_of(report, report.fix_time), report) for report in reports)
    return [
        (fix, report)
        for fix, report in fixes
        if fix and fix.time - guard.after > _ARRIVES_WITHIN
    ]


def _stood(guard: Guard, before: Fix, doubt: Fix, track: Track) -> bool:
    """Return whether a bike that is seen elsewhere was there before, for long enough."""
    strays = metres(guard.place, doubt) <= track.strayed
    is_long = not strays or doubt.time - before.time >= _STRAYS_FOR
    return is_long and metres(before, doubt) <= noise(before, doubt)


def _triggered(
    guard: Guard,
    cause: Literal["place", "motion", "alarm"],
    since: datetime,
    fix: Fix | None,
    now: datetime,
) -> Guard:
    apart = metres(guard.place, fix) if fix else 0
    number = following([guard.told], now)
    return guard._replace(triggered=Triggered(cause, since, apart, number))
