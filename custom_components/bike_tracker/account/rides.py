"""Rides: when a bike set off, when it arrived, and how far it went.

A place counts as another one if it is farther away than the accuracies explain. So a bike
that stands goes nowhere, however its fixes drift, and one that moves goes from each such
place to the next.
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
        """Return the ride that moved at this time, so much farther."""
        return self._replace(moved_at=time, distance=self.distance + kilometres)

    def with_speed(self, speed: float | None) -> Ride:
        """Return the ride of which this speed was reported."""
        if not is_speed(speed) or speed <= (self.maximum_speed or 0):
            return self
        return self._replace(maximum_speed=speed)


class Track(NamedTuple):
    """How far one tracker came, for whoever hears its next report."""

    total: float | None = None
    """Kilometres it went in all; None before there was a fix."""
    place: Fix | None = None
    """The place up to which its way is counted."""
    seen: Fix | None = None
    """The newest fix that is believed."""
    doubt: Fix | None = None
    """A newer fix that is too far away, unless the next report confirms it."""
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
    is_known = track.place is not None and not position.is_fix
    if fix is None or is_known or not _is_newer(track, fix):
        return _after_message(track, position, now)
    speed = position.speed
    says_it_moves = True if _is_moving(speed) else position.motion
    if says_it_moves is None and speed is not None:
        says_it_moves = False
    starts = _starts(track, says_it_moves)
    news: list[RideNews] = []
    if track.doubt is not None:
        track, news = _without_doubt(track, track.doubt, fix, speed)
    if track.place is None or track.seen is None:
        track = track._replace(total=_beginning(track, position), place=fix, seen=fix)
    else:
        track, more = _after_fix(
            track, track.place, track.seen, fix, speed=speed, starts=starts
        )
        news += more
    track = track._replace(
        heard_at=now,
        reported_at=max(fix.time, _time(position.device_time, now) or fix.time),
        says_it_moves=says_it_moves,
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


def _is_newer(track: Track, fix: Fix) -> bool:
    newest = track.doubt or track.seen
    return newest is None or fix.time > newest.time


def _beginning(track: Track, position: Position) -> float:
    """Return the kilometres to begin with; servers add thousands to the first fix."""
    return track.total if track.total is not None else position.total_distance or 0


def _starts(track: Track, says_it_moves: bool | None) -> bool:
    """Return whether it says now that it moves: some always say so."""
    return says_it_moves is True and track.says_it_moves is not True


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


def _without_doubt(
    track: Track, doubt: Fix, fix: Fix, speed: float | None
) -> tuple[Track, list[RideNews]]:
    """Return the track with a fix in doubt believed if the next one is near to it."""
    place, seen, apart = track.place, track.seen, metres(doubt, fix)
    track = track._replace(doubt=None)
    if (
        place
        and seen
        and apart < metres(place, fix)
        and is_plausible(apart - noise(doubt, fix), _seconds(doubt, fix), speed)
    ):
        return _after_fix(track, place, seen, doubt, is_sure=True)
    # The server's total has the way there, and the way back.
    return recounted(track), []


def _after_fix(
    track: Track,
    place: Fix,
    seen: Fix,
    fix: Fix,
    *,
    speed: float | None = None,
    starts: bool = False,
    is_sure: bool = False,
) -> tuple[Track, list[RideNews]]:
    """Return the track after a newer fix, perhaps of a tracker that says it starts."""
    news: list[RideNews] = []
    if track.ride and _is_over(track, track.ride, place, seen, fix):
        (track, news), place = ended(track), seen
    now = _at(track, place, seen, fix, speed=speed, starts=starts, is_sure=is_sure)
    return now, news + _start_of(track, now)


def _start_of(before: Track, now: Track) -> list[RideNews]:
    return [("started", now.ride)] if now.ride and not before.ride else []


def _at(
    track: Track,
    place: Fix,
    seen: Fix,
    fix: Fix,
    *,
    speed: float | None,
    starts: bool,
    is_sure: bool,
) -> Track:
    """Return the track at a newer fix."""
    beyond = metres(place, fix) - noise(place, fix)
    if beyond <= 0:
        track = track._replace(seen=fix)
        if track.ride is None and 0 < fix.accuracy < (place.accuracy or inf):
            track = track._replace(place=fix)
    elif is_sure or is_plausible(beyond, _seconds(seen, fix), speed):
        return _further(track, place, seen, fix, speed)
    else:
        track = track._replace(doubt=fix)
    if track.ride:
        return track._replace(ride=_on_the_spot(track.ride, place, fix, speed))
    if starts:
        return _started(track, place, seen, fix.time, speed)
    return track


def _is_over(track: Track, ride: Ride, place: Fix, seen: Fix, fix: Fix) -> bool:
    """Return whether a bike stood for a while, or was silent for long, before a fix."""
    pause = fix.time - ride.moved_at
    if pause < _STANDS_AFTER:
        return False
    if fix.time - seen.time > _SILENT_AFTER:
        return True
    if metres(place, fix) <= noise(place, fix):
        return True
    rest = pause - timedelta(hours=way(place, place, seen, fix) / _SLOW)
    return rest >= (_STANDS_AFTER if track.says_it_moves is False else _LONGEST_DETOUR)


def _further(
    track: Track, place: Fix, seen: Fix, fix: Fix, speed: float | None
) -> Track:
    """Return the track of a bike that went to another place."""
    # While it stood, the server's total grew with each fix that drifted.
    kilometres = way(place, place if track.ride else seen, seen, fix)
    if not kilometres:
        return track._replace(place=fix, seen=fix)
    track = track._replace(total=(track.total or 0) + kilometres, place=fix, seen=fix)
    if track.ended and fix.time <= track.ended.moved_at:
        # Its ride was told as over before the fix was believed.
        return track
    ride = track.ride or Ride(_start(track, seen, fix.time), fix.time)
    return track._replace(ride=ride.at(fix.time, kilometres).with_speed(speed))


def _on_the_spot(ride: Ride, place: Fix, fix: Fix, speed: float | None) -> Ride:
    """Return the ride of a bike that is not seen farther away.

    Its word that it moves keeps no ride going for longer than a bike may stand.
    """
    since = max(place.time, ride.started_at)
    if _is_moving(speed) and fix.time - since < _STANDS_AFTER:
        ride = ride.at(fix.time)
    return ride.with_speed(speed)


def _started(
    track: Track, place: Fix, seen: Fix, time: datetime, speed: float | None = None
) -> Track:
    """Return the track of a bike that says it moves, and is not seen anywhere else yet."""
    ride = Ride(_start(track, seen, time), time).with_speed(speed)
    place = place._replace(time=seen.time, total=seen.total)
    return track._replace(place=place, ride=ride)


def _start(track: Track, seen: Fix, time: datetime) -> datetime:
    """Return when a ride started that was noticed at this time."""
    was_riding = track.ended is not None and seen.time <= track.ended.moved_at
    return time if was_riding or time - seen.time > _STANDS_AFTER else seen.time


def _is_moving(speed: float | None) -> bool:
    return speed is not None and speed >= _MOVES_FROM


def _seconds(start: Fix, end: Fix) -> float:
    return (end.time - start.time).total_seconds()
