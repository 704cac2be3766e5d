"""The service's own history: what was reported meanwhile makes rides exact."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

from ..api import Position
from .checkpoint import LONGEST, Checkpoint, checkpoint_at
from .occurrences import Moment, RideEvent
from .reports import in_order
from .ride_log import KnownRide, RideLog
from .rides import heard
from .track import Ride, Track

# So far apart are a ride that was told and the one that it was.
_NEAR: Final = timedelta(minutes=2)


class Past(NamedTuple):
    """What a tracker reported from the start of a gap on, all of it."""

    reports: Sequence[Position]
    until: datetime
    """Up to when it was asked for, in UTC."""


def replayed(
    track: Track, reports: Sequence[Position], now: datetime
) -> tuple[Track, dict[datetime, Ride]]:
    """Return the track after all these reports, and rides that are over, by their start.

    The last one before is the first of these: more of it may be known now.
    """
    over = {track.ended.started_at: track.ended} if track.ended else {}
    for report in in_order(reports):
        track, _ = heard(track, report, now)
        if track.ended:
            over[track.ended.started_at] = track.ended
    return track, over


def after_past(
    log: RideLog, track: Track, past: Past, known: datetime, moment: Moment
) -> tuple[RideLog, Track]:
    """Return what is told, and how far a tracker came, by all that it reported.

    `known` is the fix of its newest report. Where the past ends before that, the rest has
    to be asked for.
    """
    if (point := log.checkpoint) is None:
        return log, track
    if _tells_nothing(point, past, known):
        return log._replace(checkpoint=None).wait_no_more(moment), track
    exact, over = replayed(point.track, past.reports, moment.now)
    over = {ride.started_at: ride for ride in point.found} | over
    end = _end(point, exact, past, known)
    if end >= known:
        track = _by_now(exact, track, moment.now)
        last = max(end, moment.now) + _NEAR
        log = log._replace(checkpoint=checkpoint_at(track))
        return _settled(log, point, over, track.ride, last, moment), track
    if past.until <= known:
        point = point._replace(track=exact, found=tuple(over.values()))
        return log._replace(checkpoint=point), track
    # The service does not have the rest: that stays as it was told.
    last = _start(log.known, exact.ride) if exact.ride else end
    log = log._replace(checkpoint=None)
    return _settled(log, point, over, None, last, moment), track


def _tells_nothing(point: Checkpoint, past: Past, known: datetime) -> bool:
    """Return whether no report is there but the newest: that is no history.

    What ignores from when on it was asked tells that one alone.
    """
    newest = point.track.newest
    has_begun = newest is not None and newest.time > point.start
    times = (report.fix_time for report in past.reports if report.fix_time)
    return not has_begun and min(times, default=point.start) >= known


def _end(point: Checkpoint, exact: Track, past: Past, known: datetime) -> datetime:
    """Return up to which fix every report is there."""
    if past.until <= known:
        # Of two reports of one time the second may not be.
        return exact.newest.time if exact.newest else point.start
    times = (report.fix_time for report in past.reports if report.fix_time)
    return max(times, default=point.start)


def _start(known: Sequence[KnownRide], ride: Ride) -> datetime:
    """Return when a ride started, as it is known by now or as it was told."""
    told = (item.ride.started_at for item in known if _is_near(item.ride, ride))
    return min([ride.started_at, *told])


def _by_now(exact: Track, track: Track, now: datetime) -> Track:
    """Return how far a tracker came exactly, with what was heard of it later."""
    heard_at = track.heard_at if exact.newest == track.newest else now
    exact = exact._replace(highest_total=track.shown_total or 0, heard_at=heard_at)
    reported_at, known_at = exact.reported_at, track.reported_at
    if known_at is None or (reported_at and known_at <= reported_at):
        return exact
    return exact._replace(reported_at=known_at, says_it_moves=track.says_it_moves)


def _settled(
    log: RideLog,
    point: Checkpoint,
    over: dict[datetime, Ride],
    under_way: Ride | None,
    end: datetime,
    moment: Moment,
) -> RideLog:
    """Return what is told where from a checkpoint to an end these were all rides."""
    known = {item.ride.started_at for item in log.known}
    # More may be known of one that was over before, but of those no other is told.
    rides = [
        ride for start, ride in over.items() if point.is_since(ride) or start in known
    ] + [ride for ride in [under_way] if ride]
    since = [
        item
        for item in log.known
        if point.is_since(item.ride) and item.ride.started_at < end
    ]
    pairs = _pairs(rides, log.known, since)
    waiting = tuple(item for item in log.waiting if item.ride.started_at >= end)
    log = log._replace(waiting=waiting)
    for item in since:
        if item not in pairs.values():
            log = _without(log, item, moment)
    for ride in rides:
        log = _with(
            log, ride, pairs.get(ride), since, moment, is_over=ride != under_way
        )
    return log.after_time(moment)


def _without(log: RideLog, item: KnownRide, moment: Moment) -> RideLog:
    """Return what is told where a ride that was told was none."""
    none = item.ride._replace(distance=0)
    if not item.is_over:
        return log.told(RideEvent("ended", none, None), moment)
    return log.with_known(item._replace(ride=none), moment.now)


def _with(
    log: RideLog,
    ride: Ride,
    item: KnownRide | None,
    since: Sequence[KnownRide],
    moment: Moment,
    *,
    is_over: bool,
) -> RideLog:
    """Return what is told of a ride, of which this was told."""
    if item and (item.is_over or not is_over):
        return log.with_known(item._replace(ride=ride), moment.now)
    if item is None:
        told = [other.ride for other in since if other.is_over]
        if is_over and any(_overlaps(other, ride) for other in told):
            return log.with_new(ride, moment.now, is_over=True)
        log = log.told(RideEvent("started", ride, None), moment)
    return log.told(RideEvent("ended", ride, None), moment) if is_over else log


def _pairs(
    rides: Sequence[Ride], known: Sequence[KnownRide], since: Sequence[KnownRide]
) -> dict[Ride, KnownRide]:
    """Return what was known of each ride, the surest first."""
    pairs: dict[Ride, KnownRide] = {}
    # What is left in the end was told of other times: that is not told again.
    ways = (known, _starts_as), (since, _overlaps), (since, _is_near), (since, _is_left)
    for items, is_same in ways:
        left = [item for item in items if item not in pairs.values()]
        for ride in rides:
            same = [item for item in left if is_same(item.ride, ride)]
            if same and ride not in pairs:
                pairs[ride] = same[-1]
                left.remove(same[-1])
    return pairs


def _starts_as(one: Ride, other: Ride) -> bool:
    return one.started_at == other.started_at


def _overlaps(one: Ride, other: Ride, apart: timedelta = timedelta()) -> bool:
    ended_at = min(one.moved_at, other.moved_at)
    return max(one.started_at, other.started_at) <= ended_at + apart


_is_near: Final = partial(_overlaps, apart=_NEAR)
_is_left: Final = partial(_overlaps, apart=LONGEST)
