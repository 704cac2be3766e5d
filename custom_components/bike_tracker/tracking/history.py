"""The service's own history: what was reported meanwhile makes rides exact."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import batched
from operator import itemgetter
from typing import Final, NamedTuple

from ..api.models import Position
from .distance import NOWHERE
from .ride_detection import apply_report, end_ride, silent_at
from .ride_log import Checkpoint, RideLog, in_order_of_start
from .ride_state import STANDS_AFTER, Ride, RideState, Step

# So far apart are a ride as polls saw it and as it was.
_NEAR: Final = timedelta(minutes=2)
_NEVER: Final = datetime.max.replace(tzinfo=UTC)
MAX_BACKFILL_AGE: Final = timedelta(days=30)
"""How far back rides from before a tracker was set up are asked for."""
# Applied in one go of the event loop: 20 ms on a fast machine.
_MAX_REPORTS: Final = 1_000


def is_older_position(position: Position, known: Position) -> bool:
    """Return whether a place is older than the known one, or of one time, its ID is."""
    if position.fix_time is None or position.fix_time == known.fix_time:
        return position.id < known.id
    return known.fix_time is not None and position.fix_time < known.fix_time


def in_order(positions: Sequence[Position]) -> Sequence[Position]:
    """Return reports of one tracker in the order of their fixes.

    One without a fix comes after the one that it came after.
    """
    time, timed = NOWHERE.time, list[tuple[datetime, int, Position]]()
    for position in positions:
        time = position.fix_time or time
        timed.append((time, position.id, position))
    return [position for _, _, position in sorted(timed, key=itemgetter(0, 1))]


class HistoryAnswer(NamedTuple):
    """What a tracker reported from the start of a gap on."""

    reports: Sequence[Position]
    until: datetime
    """Up to when it was asked for, in UTC."""

    def parts(self) -> Iterator[HistoryAnswer]:
        """Yield this in parts, each short enough for one go of the event loop."""
        reports = in_order(self.reports)
        *parts, last = list(batched(reports, _MAX_REPORTS, strict=False)) or [()]
        for part in parts:
            yield HistoryAnswer(part, part[-1].moment)
        yield HistoryAnswer(last, self.until)


def replayed(
    ride_state: RideState, reports: Sequence[Position], now: datetime, *found: Ride
) -> tuple[RideState, dict[datetime, Ride]]:
    """Return the ride_state after all these reports, and rides that are over, by their start.

    Those found before and the last one are among these: more of it may be known now.
    """
    over = {ride.started_at: ride for ride in (*found, ride_state.ended) if ride}
    for report in in_order(reports):
        ride_state, _ = apply_report(ride_state, report, now)
        if ride_state.ended:
            over[ride_state.ended.started_at] = ride_state.ended
    return ride_state, over


def after_history(
    log: RideLog, state: RideState, answer: HistoryAnswer, last: datetime, now: datetime
) -> tuple[RideLog, RideState]:
    """Return the log and the ride_state by all that was reported.

    `last` is the fix of the newest report. Where the answer ends before that, the rest
    has to be asked for.
    """
    point, riding, until = log.checkpoint, state.ride, answer.until
    times = {report.fix_time for report in answer.reports if report.fix_time}
    if point is None or (
        not point.answered_until and min(times, default=point.start) >= last
    ):
        # No report is there but the newest, as of what ignores since when it is asked.
        return log._replace(checkpoint=None), state
    exact, over = replayed(point.ride_state, answer.reports, now, *point.found)
    lost = _lost((*log.rides, riding), times, point.begins_at, until)
    end = max(times, default=point.start)
    if end >= last and not lost:
        exact, ended = _by_now(exact, state, now)
        over |= {ride.started_at: ride for _, ride in ended}
        return _corrected(log, point, over, riding, exact.ride), exact
    if until <= last and not lost:
        found = tuple(over.values())
        point = point._replace(ride_state=exact, answered_until=until, found=found)
        return log._replace(checkpoint=point), state
    # The service does not have the rest: that stays as it is known.
    begun = [ride.started_at for ride in (*lost, exact.ride, riding) if ride]
    begin = _begin_of_rides([*log.rides, *over.values()], min([end, *begun]))
    return _corrected(log, point, over, None, None, begin), state


def _lost(
    rides: Iterable[Ride | None], times: set[datetime], begin: datetime, until: datetime
) -> list[Ride]:
    # A database may have been lost, or the service tells its first hundred reports alone.
    ends = [(it.end.time, it) for it in rides if it and it.distance and it.end]
    return [ride for at, ride in ends if begin < at <= until and at not in times]


def _begin_of_rides(rides: Iterable[Ride], time: datetime) -> datetime:
    """Return when rides began that were not over before a time, or just before it."""
    for ride in reversed(in_order_of_start(rides)):
        if ride.moved_at + _NEAR >= time:
            time = min(time, ride.started_at)
    return time


def _by_now(exact: RideState, ride_state: RideState, now: datetime) -> Step:
    """Return how far a tracker came exactly, with what was heard of it later."""
    latest = max(exact, ride_state, key=lambda it: it.reported_at or NOWHERE.time)
    newest, known = exact.newest_fix, ride_state.newest_fix
    # The history may have no addresses: one time is one fix.
    is_known = newest and known and newest.time == known.time
    exact = exact._replace(
        highest_total=ride_state.shown_total or 0,
        received_at=ride_state.received_at if is_known else now,
        reported_at=latest.reported_at,
        says_it_moves=latest.says_it_moves,
    )
    return end_ride(exact) if (at := silent_at(exact)) and at <= now else (exact, [])


def _corrected(
    log: RideLog,
    point: Checkpoint,
    over: Mapping[datetime, Ride],
    riding: Ride | None,
    under_way: Ride | None,
    last: datetime = _NEVER,
) -> RideLog:
    """Return the log where these were all rides from a checkpoint up to a time.

    A ride that is known, or part of one, was fired; of the one that was thought to be
    `riding` the end may not be yet, and the last of its parts has that.
    """
    replaced = [it for it in log.rides if point.is_since(it) and it.started_at < last]
    rides = {it.started_at: it for it in log.rides if it not in replaced}
    exact = {key: it for key, it in over.items() if key in rides or key < last}
    every = in_order_of_start(filter(None, [*exact.values(), under_way]))
    matches = _matches(every, filter(None, [*log.rides, riding]))
    # One that was none is in no book, and known: another answer may have it again.
    none = [it for it in (*replaced, riding) if it and not matches[it]]
    rides |= {it.started_at: it._replace(distance=0) for it in none} | exact
    if under_way:
        rides.pop(under_way.started_at, None)
    log = _with_events(log, point, matches, every, riding, under_way)
    booked, since = in_order_of_start(rides.values()), log.since or point.start
    return log._replace(rides=booked, since=min(since, point.start), checkpoint=None)


def _with_events(
    log: RideLog,
    point: Checkpoint,
    matches: Mapping[Ride, Sequence[Ride]],
    every: Iterable[Ride],
    riding: Ride | None,
    under_way: Ride | None,
) -> RideLog:
    """Return the log with what was not fired of these rides."""
    parts = matches[riding] if riding else ()
    if riding and not parts:
        log = log.ended(riding._replace(distance=0))
    fired_over = {ride for it in log.rides for ride in matches[it]}
    for ride in (it for it in every if it not in parts[:-1]):
        is_over = ride is not under_way
        if riding and ride in parts:
            if log.open_since == riding.started_at and ride not in fired_over:
                log = log._replace(open_since=ride.started_at)
            log = log.ended(ride) if is_over else log
        elif ride not in fired_over and point.is_since(ride):
            whole = (*log.events, ("started", ride), ("ended", ride))
            # Another one may go on.
            log = log._replace(events=whole) if is_over else log.started(ride)
    return log


def _matches(rides: Sequence[Ride], known: Iterable[Ride]) -> dict[Ride, list[Ride]]:
    """Return which of these rides each of those was that are known."""
    matches = {it: [ride for ride in rides if _is_near(it, ride)] for it in known}
    for it, found in matches.items():
        if not found:
            # It was over when it was seen: that is not fired again.
            taken = {ride for others in matches.values() for ride in others}
            left = [ride for ride in rides if ride not in taken]
            found += [ride for ride in left if ride.started_at <= it.moved_at][-1:]
    return matches


def _is_near(one: Ride, other: Ride) -> bool:
    ended_at = min(one.moved_at, other.moved_at)
    return max(one.started_at, other.started_at) <= ended_at + _NEAR


def rides_before(
    answer: HistoryAnswer, start: datetime, now: datetime
) -> tuple[Sequence[Ride], datetime | None]:
    """Return the rides since a start, and up to when the others are asked for.

    That is None if all were. One that may have begun before the start comes with them.
    """
    until = answer.until
    reports = in_order([it for it in answer.reports if start <= it.moment <= until])
    rides = _rides_in(reports, now)
    if start <= now - MAX_BACKFILL_AGE:
        return rides, None
    if rides and rides[0].started_at <= reports[0].moment + STANDS_AFTER:
        # It may have begun before that.
        rest = rides[0].moved_at + STANDS_AFTER
        # A ride of half a day is taken as it is: the next answer goes farther back.
        if rest <= start + (until - start) / 2:
            return rides[1:], rest
    return rides, start


def _rides_in(reports: Sequence[Position], now: datetime) -> Sequence[Ride]:
    """Return all rides of these reports, as if nothing came after them."""
    ride_state, over = replayed(RideState(), reports, now)
    _, ended = end_ride(ride_state)
    over |= {ride.started_at: ride for _, ride in ended}
    return [ride for ride in in_order_of_start(over.values()) if ride.distance]
