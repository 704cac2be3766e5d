"""Rides: when a bike set off, when it arrived, and how far it went.

A place counts as another one if it is farther away than the accuracies explain. So a bike
that stands goes nowhere, however its fixes drift, and one that moves goes from each such
place to the next. Where a report itself says that the bike stands, its place alone is not
believed before the next one is there too.
"""

from datetime import datetime, timedelta
from math import inf
from typing import Literal, NamedTuple

from ..api import Position
from .distance import Fix, is_plausible, is_speed, metres, noise, way

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
# A tracker whose clock is ahead by more: its fixes are as old as the news of them.
_WRONG_CLOCK = timedelta(minutes=5)

type RideNews = tuple[Literal["started", "ended"], Ride]
"""What happened, and the ride as it was known then."""


class Ride(NamedTuple):
    """A ride under way, or one that is over."""

    started_at: datetime
    moved_at: datetime
    """When it moved last: that is when it ended, once it is over."""
    distance: float = 0
    """Kilometres."""
    maximum_speed: float | None = None
    """Kilometres per hour, None if none was reported."""

    @property
    def duration(self) -> float:
        """Return how many seconds it took so far."""
        return (self.moved_at - self.started_at).total_seconds()

    def described(self, *, is_over: bool) -> dict[str, datetime | float | None]:
        """Return what is told of the ride: km, seconds and km/h."""
        speed = self.maximum_speed
        return {
            "started_at": self.started_at,
            **({"ended_at": self.moved_at} if is_over else {}),
            "distance": round(self.distance, 3),
            "duration": round(self.duration),
            "maximum_speed": speed if speed is None else round(speed, 1),
        }

    def at(self, time: datetime, kilometres: float = 0) -> Ride:
        """Return the ride that moved at this time, or later, and so much farther."""
        return self._replace(
            moved_at=max(self.moved_at, time), distance=self.distance + kilometres
        )

    def with_speed(self, speed: float | None) -> Ride:
        """Return the ride of which this speed was reported."""
        if not is_speed(speed) or speed <= (self.maximum_speed or 0):
            return self
        return self._replace(maximum_speed=speed)


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


class Track(NamedTuple):
    """How far one tracker came, for whoever hears its next report."""

    total: float | None = None
    """Kilometres it went in all; None before there was a fix."""
    place: Fix | None = None
    """The place up to which its way is counted."""
    seen: Fix | None = None
    """The newest fix that is believed."""
    doubt: Fix | None = None
    """A newer fix that is believed only if the next report is there too."""
    measured_at: datetime | None = None
    """When its newest fix was measured, by the tracker's own clock."""
    drift: float = 0
    """Metres that its fixes were apart while it stood."""
    heard_at: datetime | None = None
    """When its newest fix was heard of, by the clock."""
    reported_at: datetime | None = None
    """The time of its newest report, with or without a fix."""
    says_it_moves: bool | None = None
    """None is that it does not say."""
    ride: Ride | None = None
    """The ride under way."""
    ended: Ride | None = None
    """The last one that is over."""
    last: Ride | None = None
    """The last one that is over and went anywhere."""

    @property
    def shown(self) -> Ride | None:
        """Return the ride under way, else the last."""
        return self.ride or self.last


NEW_TRACK = Track()


def heard(
    track: Track, position: Position, now: datetime
) -> tuple[Track, list[RideNews]]:
    """Return the track after a report that is heard of now, and what happened by then.

    What was heard before, and what is older than that, changes nothing. The first place
    counts however old it is: a parked bike's may be one that is sent again.
    """
    fix = _fix(position, now)
    if fix is None or not _is_newer(track, position, fix):
        return _after_message(track, position, now)
    report = _Report(fix, position.speed, _says_it_moves(position))
    place, seen, doubt = track.place, track.seen, track.doubt
    news: list[RideNews] = []
    if place is None or seen is None:
        track = track._replace(total=_beginning(track, position), place=fix, seen=fix)
    elif doubt is None:
        track, news = _after_fix(track, place, seen, report)
    else:
        track, news = _after_doubt(track, place, seen, doubt, report)
    is_believed = track.ride is not None or track.doubt is None
    track = track._replace(
        heard_at=now,
        reported_at=max(fix.time, _time(position.device_time, now) or fix.time),
        measured_at=position.fix_time,
        says_it_moves=report.moves if is_believed else track.says_it_moves,
    )
    return track, news


def silent_at(track: Track) -> datetime | None:
    """Return when a tracker under way counts as fallen silent, and its ride as over."""
    if track.ride is None or track.heard_at is None:
        return None
    return track.heard_at + _SILENT_AFTER


def ended(track: Track) -> tuple[Track, list[RideNews]]:
    """Return the track after its ride, where the tracker was seen last, and the news."""
    if (ride := track.ride) is None:
        return track, []
    kept = ride if ride.distance else track.last
    track = track._replace(place=track.seen, ride=None, ended=ride, last=kept)
    return track, [("ended", ride)]


def recounted(track: Track) -> Track:
    """Return the track for totals of the server that do not go on from the last one."""
    return track._replace(
        place=track.place and track.place._replace(total=None),
        seen=track.seen and track.seen._replace(total=None),
    )


def _fix(position: Position, now: datetime) -> Fix | None:
    """Return where the tracker was, None if the report does not say it."""
    time = _time(position.fix_time, now)
    latitude, longitude = position.latitude, position.longitude
    if time is None or latitude is None or longitude is None:
        return None
    return Fix(time, latitude, longitude, position.accuracy, position.total_distance)


def _time(time: datetime | None, now: datetime) -> datetime | None:
    return now if time is not None and time - now > _WRONG_CLOCK else time


def _is_newer(track: Track, position: Position, fix: Fix) -> bool:
    """Return whether a report tells of a newer place, and not of one that is sent again."""
    newest = track.doubt or track.seen
    if newest is None:
        return True
    is_again = position.fix_time == track.measured_at and not metres(newest, fix)
    return position.is_fix and fix.time > newest.time and not is_again


def _says_it_moves(position: Position) -> bool | None:
    if _is_moving(position.speed):
        return True
    if position.motion is None and position.speed == 0:
        return False
    return position.motion


def _beginning(track: Track, position: Position) -> float:
    """Return the kilometres to begin with; servers add thousands to the first fix."""
    return track.total if track.total is not None else position.total_distance or 0


def _starts(track: Track, moves: bool | None) -> bool:
    """Return whether it says now that it moves: some always say so."""
    return moves is True and track.says_it_moves is not True


def _after_message(
    track: Track, position: Position, now: datetime
) -> tuple[Track, list[RideNews]]:
    """Return the track after a report that tells of no newer place."""
    time = _time(position.device_time, now)
    if track.place is None and track.total is None:
        track = track._replace(total=position.total_distance)
    if time is None or (track.reported_at and time <= track.reported_at):
        return track, []
    before = track = track._replace(reported_at=time)
    if position.motion is None:
        return track, []
    place, seen = track.place, track.seen
    if place and seen and not track.ride and _starts(track, position.motion):
        track = _started(track, place, seen, time)._replace(heard_at=now)
    return track._replace(says_it_moves=position.motion), _start_of(before, track)


def _after_doubt(
    track: Track, place: Fix, seen: Fix, doubt: Fix, report: _Report
) -> tuple[Track, list[RideNews]]:
    """Return the track after a report that says whether a fix in doubt is believed."""
    track = track._replace(doubt=None)
    news: list[RideNews] = []
    if not _is_there(track, place, doubt, report):
        if report.stands and not _slept(doubt, report.fix):
            track = _drifted(track, place, doubt)
        # The server's total has the way there, and the way back.
        track = recounted(track)
    elif track.ride is None and _stays(track, doubt, report):
        track, news = _elsewhere(track, place, seen, doubt)
    else:
        track, news = _after_fix(track, place, seen, _Report(doubt), is_sure=True)
    track, more = _after_fix(track, track.place or place, track.seen or seen, report)
    return track, news + more


def _is_there(track: Track, place: Fix, doubt: Fix, report: _Report) -> bool:
    """Return whether a report confirms a fix in doubt.

    It does if it is nearer to it than to the place before, and after a long sleep if it is
    not back there.
    """
    fix, off = report.fix, metres(place, report.fix)
    apart = metres(doubt, fix)
    if off <= _reach(track, place, report) or (apart >= off and not _slept(doubt, fix)):
        return False
    beyond = apart - noise(doubt, fix)
    return is_plausible(beyond, _seconds(doubt, fix), report.speed)


def _stays(track: Track, doubt: Fix, report: _Report) -> bool:
    """Return whether it stands where a fix in doubt was, or did so for a while."""
    reach = max(_DRIFT, _reach(track, doubt, report))
    is_at_it = report.stands and metres(doubt, report.fix) <= reach
    return is_at_it or _stood(track, doubt.time, doubt, doubt, report.fix)


def _drifted(track: Track, place: Fix, fix: Fix) -> Track:
    """Return the track of a tracker whose fix was off, though its bike stood."""
    apart = metres(place, fix)
    if track.ride or apart > _NEAR:
        return track
    return track._replace(drift=max(track.drift, apart))


def _elsewhere(
    track: Track, place: Fix, seen: Fix, fix: Fix
) -> tuple[Track, list[RideNews]]:
    """Return the track of a bike that stands elsewhere, and was not seen on its way."""
    known, apart = track.drift, metres(place, fix)
    had_arrived = track.says_it_moves is False
    is_drift = had_arrived and apart <= (_NEAR if known else _DRIFT)
    if is_drift:
        track = _drifted(track, place, fix)
    if is_drift and known:
        return track._replace(place=fix, seen=fix), []
    is_rest = (is_drift or not had_arrived) and _is_near(track.ended, apart, fix)
    now = _further(track, place, seen, _Report(fix), is_rest=is_rest)
    over, news = ended(now)
    return over, _start_of(track, now) + news


def _is_near(ride: Ride | None, apart: float, fix: Fix) -> bool:
    """Return whether a ride ended so many metres from a fix, and not long before it."""
    return ride is not None and apart <= _NEAR and fix.time - ride.moved_at <= _NOT_LONG


def _after_fix(
    track: Track, place: Fix, seen: Fix, report: _Report, *, is_sure: bool = False
) -> tuple[Track, list[RideNews]]:
    """Return the track after a newer fix."""
    news: list[RideNews] = []
    if track.ride and _stood(track, track.ride.moved_at, place, seen, report.fix):
        (track, news), place = ended(track), seen
    now = _at(track, place, seen, report, is_sure=is_sure)
    return now, news + _start_of(track, now)


def _start_of(before: Track, now: Track) -> list[RideNews]:
    return [("started", now.ride)] if now.ride and not before.ride else []


def _at(
    track: Track, place: Fix, seen: Fix, report: _Report, *, is_sure: bool
) -> Track:
    """Return the track at a newer fix, which is where it was, elsewhere or in doubt."""
    fix, apart = report.fix, metres(place, report.fix)
    if apart <= _reach(track, place, report):
        track = track._replace(seen=fix)
        if track.ride is None and 0 < fix.accuracy < (place.accuracy or inf):
            track = track._replace(place=fix)
    elif is_sure or (
        (track.ride is not None or not report.stands)
        and is_plausible(apart - noise(place, fix), _seconds(seen, fix), report.speed)
    ):
        return _further(track, place, seen, report)
    else:
        track = track._replace(doubt=fix)
    if track.ride:
        return track._replace(ride=_on_the_spot(track.ride, place, report))
    if _starts(track, report.moves) and not _was_riding(track, fix.time):
        return _started(track, place, seen, fix.time, report.speed)
    return track


def _reach(track: Track, place: Fix, report: _Report) -> float:
    """Return how many metres from its place a bike may be seen that went nowhere."""
    explained = noise(place, report.fix)
    arrives = track.ride is not None and track.says_it_moves is not False
    if arrives or not report.stands:
        return explained
    is_known = place.accuracy and report.fix.accuracy
    return max(explained, track.drift, 0 if is_known else _DRIFT)


def _stood(track: Track, moved_at: datetime, place: Fix, seen: Fix, fix: Fix) -> bool:
    """Return whether a bike stood for a while, or was silent for long, before a fix."""
    pause = fix.time - moved_at
    if pause < _STANDS_AFTER:
        return False
    if _slept(seen, fix) or metres(place, fix) <= noise(place, fix):
        return True
    rest = pause - timedelta(hours=way(place, place, seen, fix) / _SLOW)
    return rest >= (_STANDS_AFTER if track.says_it_moves is False else _LONGEST_DETOUR)


def _further(
    track: Track, place: Fix, seen: Fix, report: _Report, *, is_rest: bool = False
) -> Track:
    """Return the track of a bike that went to another place, perhaps the rest of a ride."""
    fix = report.fix
    # While it stood, the server's total grew with each fix that drifted.
    kilometres = way(place, place if track.ride else seen, seen, fix)
    if not kilometres:
        return track._replace(place=fix, seen=fix)
    total = (track.total or 0) + kilometres
    if track.ended and (is_rest or _was_riding(track, fix.time)):
        # Its ride was told as over before the fix was believed.
        before = track.ended.at(track.ended.moved_at, kilometres)
        return track._replace(
            total=total, place=fix, seen=fix, ended=before, last=before
        )
    ride = track.ride or Ride(_start(track, seen, fix.time), fix.time)
    ride = ride.at(fix.time, kilometres).with_speed(report.speed)
    return track._replace(total=total, place=fix, seen=fix, ride=ride)


def _on_the_spot(ride: Ride, place: Fix, report: _Report) -> Ride:
    """Return the ride of a bike that is not seen farther away.

    Its word that it moves keeps no ride going for longer than a bike may stand.
    """
    time, since = report.fix.time, max(place.time, ride.started_at)
    if _is_moving(report.speed) and time - since < _STANDS_AFTER:
        ride = ride.at(time)
    return ride.with_speed(report.speed)


def _started(
    track: Track, place: Fix, seen: Fix, time: datetime, speed: float | None = None
) -> Track:
    """Return the track of a bike that says it moves, and is not seen anywhere else yet."""
    ride = Ride(_start(track, seen, time), time).with_speed(speed)
    place = place._replace(time=seen.time, total=seen.total)
    return track._replace(place=place, ride=ride)


def _start(track: Track, seen: Fix, time: datetime) -> datetime:
    """Return when a ride started that was noticed at this time."""
    is_late = _was_riding(track, seen.time) or time - seen.time > _STANDS_AFTER
    return time if is_late else seen.time


def _was_riding(track: Track, time: datetime) -> bool:
    """Return whether the last ride that is over was not over yet."""
    return track.ended is not None and time <= track.ended.moved_at


def _slept(start: Fix, end: Fix) -> bool:
    """Return whether nothing was heard of a tracker for long."""
    return end.time - start.time > _SILENT_AFTER


def _is_moving(speed: float | None) -> bool:
    return speed is not None and speed >= _MOVES_FROM


def _seconds(start: Fix, end: Fix) -> float:
    return (end.time - start.time).total_seconds()
