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
from .track import Ride, RideNews, Track

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
# A tracker whose clock is ahead by more: its fixes are as old as the news of them.
_WRONG_CLOCK = timedelta(minutes=5)

type Step = tuple[Track, list[RideNews]]
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


def heard(track: Track, position: Position, now: datetime) -> Step:
    """Return the track after a report that is heard of now.

    What was heard before, and what is older than that, changes nothing. The first place
    counts however old it is: a parked bike's may be one that is sent again.
    """
    received_at = position.server_time or now
    fix = fix_of(position, _time(position.fix_time, received_at))
    if fix is None or not _is_newer(track, position, fix):
        return _after_message(track, position, now)
    report = _Report(fix, position.speed, says_it_moves(position))
    is_drift_old = track.drifted_at and fix.time - track.drifted_at > _DRIFTS_FOR
    track, news = track.without_drift() if is_drift_old else track, list[RideNews]()
    if track.place and track.seen and track.doubt:
        track, news = _decided(track, track.place, track.seen, track.doubt, report)
    track, more = _after_fix(track, report)
    is_believed = track.ride is not None or track.doubt is None
    track = track._replace(
        newest=fix,
        heard_at=now,
        reported_at=max(fix.time, _time(position.device_time, received_at) or fix.time),
        measured_at=position.fix_time,
        says_it_moves=report.moves if is_believed else track.says_it_moves,
    )
    return track, news + more


def silent_at(track: Track) -> datetime | None:
    """Return when a tracker under way counts as fallen silent, and its ride as over."""
    if track.ride is None or track.heard_at is None:
        return None
    return track.heard_at + _SILENT_AFTER


def ended(track: Track) -> Step:
    """Return the track after its ride, where the tracker was seen last."""
    track = _at_last_word(track) if track.ride else track
    if (ride := track.ride) is None:
        return track, []
    place, seen = track.place, track.seen
    is_known = place and seen and metres(place, seen) <= noise(place, seen)
    if ride.distance:
        # The way to where it was seen last, as far as no drift explains it.
        rest = metres(place, seen) / 1_000 if place and seen and is_known else 0
        end = ride.end and ride.end.or_address_of(place)
        ride = ride._replace(distance=ride.distance + rest, end=end)
        track = track.longer(rest)._replace(last=ride)
    there = seen.or_address_of(place) if seen and is_known else seen
    return track._replace(place=there, ride=None, ended=ride), [("ended", ride)]


def _at_last_word(track: Track) -> Track:
    """Return the track of a silent bike where its last report saw it, if that may be."""
    place, seen, doubt = track.place, track.seen, track.doubt
    if place and seen and doubt and is_plausible(place, seen, doubt, None):
        return _further(track._replace(doubt=None), place, seen, _Report(doubt))
    return track


def _time(time: datetime | None, received_at: datetime) -> datetime | None:
    is_wrong = time is not None and time - received_at > _WRONG_CLOCK
    return received_at if is_wrong else time


def _is_newer(track: Track, position: Position, fix: Fix) -> bool:
    """Return whether a report tells of a newer place, and not of one that is sent again."""
    if (newest := track.newest) is None:
        return True
    is_again = position.fix_time == track.measured_at and not metres(newest, fix)
    return position.is_fix and fix.time > newest.time and not is_again


def says_it_moves(position: Position) -> bool | None:
    """Return whether a report says that the bike moves, None where it does not say it."""
    if _is_moving(position.speed):
        return True
    if position.motion is None and position.speed == 0:
        return False
    return position.motion


def _is_moving(speed: float | None) -> bool:
    return speed is not None and speed >= _MOVES_FROM


def _after_message(track: Track, position: Position, now: datetime) -> Step:
    """Return the track after a report that tells of no newer place."""
    received_at = position.server_time or now
    total, time = track.total, _time(position.device_time, received_at)
    if track.place is None and total is None:
        total = position.total_distance
    if time is None or (track.reported_at and time <= track.reported_at):
        return track._replace(total=total), []
    before = track = track._replace(total=total, reported_at=time)
    if position.motion is None:
        return track, []
    place, seen = track.place, track.seen
    if place and seen and not track.ride and _sets_off(track, position.motion):
        track = _set_off(track, place, seen, time)._replace(heard_at=now)
    return track._replace(says_it_moves=position.motion), _start_of(before, track)


def _decided(track: Track, place: Fix, seen: Fix, doubt: Fix, report: _Report) -> Step:
    """Return the track of which a report says whether a fix in doubt is believed."""
    track = track._replace(doubt=None)
    if not _is_there(track, place, doubt, report):
        is_back = metres(place, report.fix) <= _reach(track, place, report)
        stands = not track.ride and report.stands
        if stands and is_back and not _slept(doubt, report.fix):
            stayed = track.newest != doubt
            track = _drifted(track, doubt, metres(place, doubt), stayed=stayed)
        # The server's total has the way there, and the way back.
        return track.without_totals(), []
    if track.ride is None and _stays(track, doubt, report):
        if report.fix.time - doubt.time >= _STRAYS_FOR:
            return _elsewhere(track, place, seen, doubt)
        if metres(place, doubt) <= _NEAR:
            # It is at a traffic light, or its fixes are off.
            return track._replace(doubt=doubt), []
    return _after_fix(track, _Report(doubt), is_sure=True)


def _is_there(track: Track, place: Fix, doubt: Fix, report: _Report) -> bool:
    """Return whether a report is nearer to a fix in doubt than to the place before."""
    fix, off = report.fix, metres(place, report.fix)
    if off <= _reach(track, place, report) or not is_plausible(
        doubt, doubt, fix, report.speed
    ):
        return False
    if metres(doubt, fix) < off or _slept(doubt, fix):
        return True
    # Under way it may turn round.
    is_riding = track.ride and track.seen
    return bool(is_riding and is_plausible(place, is_riding, doubt, report.speed))


def _stays(track: Track, doubt: Fix, report: _Report) -> bool:
    """Return whether it stands where a fix in doubt was, or did so for a while."""
    reach = max(_DRIFT, _reach(track, doubt, report))
    is_at_it = report.stands and metres(doubt, report.fix) <= reach
    return is_at_it or _stood(track, doubt.time, doubt, doubt, report.fix)


def _drifted(track: Track, fix: Fix, apart: float, *, stayed: bool = False) -> Track:
    """Return the track of a tracker whose fix was off, though its bike stood."""
    is_near = apart <= _NEAR
    return track.with_drift(apart, fix.time, stayed=stayed) if is_near else track


def _elsewhere(track: Track, place: Fix, seen: Fix, fix: Fix) -> Step:
    """Return the track of a bike that stands elsewhere, and was not seen on its way."""
    apart, over = metres(place, fix), track.ended
    had_arrived = track.says_it_moves is False
    is_drift = had_arrived and apart <= (_NEAR if track.drift else _DRIFT)
    if is_drift and track.drift:
        track = _drifted(track, fix, apart, stayed=True)
        return track._replace(place=fix, seen=fix), []
    is_near = over and apart <= _NEAR and fix.time - over.moved_at <= _NOT_LONG
    is_rest = bool(is_near) and (is_drift or not had_arrived)
    there = _further(track, place, seen, _Report(fix), is_rest=is_rest)
    arrived, news = ended(there)
    if is_drift:
        arrived = _drifted(arrived, fix, apart, stayed=True)
    return arrived, _start_of(track, there) + news


def _after_fix(track: Track, report: _Report, *, is_sure: bool = False) -> Step:
    """Return the track after a newer fix."""
    place, seen, fix = track.place, track.seen, report.fix
    if place is None or seen is None:
        # Servers add thousands of kilometres to the first fix.
        total = fix.total or 0 if track.total is None else track.total
        return track._replace(total=total, place=fix, seen=fix), []
    news: list[RideNews] = []
    if track.ride and _stood(track, track.ride.moved_at, place, seen, fix):
        track, news = ended(track)
        place = track.place or seen
    there = _at(track, place, seen, report, is_sure=is_sure)
    return there, news + _start_of(track, there)


def _start_of(before: Track, track: Track) -> list[RideNews]:
    return [("started", track.ride)] if track.ride and not before.ride else []


def _at(
    track: Track, place: Fix, seen: Fix, report: _Report, *, is_sure: bool
) -> Track:
    """Return the track at a newer fix, which is where it was, elsewhere or in doubt."""
    fix, speed = report.fix, report.speed
    if metres(place, fix) <= _reach(track, place, report):
        is_better = not track.ride and 0 < fix.accuracy < (place.accuracy or inf)
        address = fix.address or place.address
        place = (fix if is_better else place)._replace(address=address)
        track = track._replace(seen=fix, place=place)
    elif is_sure or (
        (_arrives(track) or not report.stands) and is_plausible(place, seen, fix, speed)
    ):
        return _further(track, place, seen, report)
    else:
        track = track._replace(doubt=track.doubt or fix)
    if ride := track.ride:
        # Its word that it moves keeps no ride going for longer than a bike may stand.
        since = max(place.time, ride.started_at)
        if _is_moving(speed) and fix.time - since < _STANDS_AFTER:
            ride = ride._replace(moved_at=max(ride.moved_at, fix.time))
        return track._replace(ride=ride.with_speed(speed))
    if _sets_off(track, report.moves) and not track.was_riding(fix.time):
        return _set_off(track, place, seen, fix.time, speed)
    return track


def _reach(track: Track, place: Fix, report: _Report) -> float:
    """Return how many metres from its place a bike may be seen that went nowhere."""
    explained = noise(place, report.fix)
    if _arrives(track) or not report.stands:
        return explained
    is_known = place.accuracy and report.fix.accuracy
    return max(explained, track.drift, 0 if is_known else _DRIFT)


def _arrives(track: Track) -> bool:
    """Return whether a report that it stands is the first one since it moved."""
    return track.ride is not None and track.says_it_moves is not False


def _stood(track: Track, moved_at: datetime, place: Fix, seen: Fix, fix: Fix) -> bool:
    """Return whether a bike stood for a while, or was silent for long, before a fix."""
    pause = fix.time - moved_at
    if pause < _STANDS_AFTER:
        return False
    if _slept(seen, fix) or metres(place, fix) <= noise(place, fix):
        return True
    rest = pause - timedelta(hours=way(place, place, seen, fix) / _SLOW)
    return rest >= (_STANDS_AFTER if track.says_it_moves is False else _LONGEST_DETOUR)


def _slept(start: Fix, end: Fix) -> bool:
    """Return whether nothing was heard of a tracker for long."""
    return end.time - start.time > _SILENT_AFTER


def _further(
    track: Track, place: Fix, seen: Fix, report: _Report, *, is_rest: bool = False
) -> Track:
    """Return the track of a bike that went to another place, perhaps the rest of a ride."""
    fix = report.fix
    # While it stood, the server's total grew with each fix that drifted.
    kilometres = way(place, place if track.ride else seen, seen, fix)
    if not kilometres:
        return track._replace(place=fix, seen=fix)
    track = track.longer(kilometres)._replace(place=fix, seen=fix)
    if (over := track.ended) and (is_rest or track.was_riding(fix.time)):
        # Its ride was told as over before the fix was believed.
        over = over.further(kilometres, fix, over.moved_at)
        return track._replace(ended=over, last=over)
    ride = track.ride or _new_ride(track, place, seen, fix.time)
    ride = ride.further(kilometres, fix, fix.time).with_speed(report.speed)
    return track.without_drift()._replace(ride=ride)


def _sets_off(track: Track, moves: bool | None) -> bool:
    """Return whether it says now that it moves: some always say so."""
    return moves is True and track.says_it_moves is not True


def _set_off(
    track: Track, place: Fix, seen: Fix, time: datetime, speed: float | None = None
) -> Track:
    """Return the track of a bike that says it moves, and is not seen anywhere else yet."""
    ride = _new_ride(track, place, seen, time).with_speed(speed)
    place = place._replace(time=seen.time, total=seen.total)
    return track._replace(place=place, ride=ride)


def _new_ride(track: Track, place: Fix, seen: Fix, time: datetime) -> Ride:
    """Return a ride that is noticed at this time."""
    is_late = track.was_riding(seen.time) or time - seen.time > _STANDS_AFTER
    return Ride(time if is_late else seen.time, time, start=place, end=place)
