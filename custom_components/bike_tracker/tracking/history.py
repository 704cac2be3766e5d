"""The service's own history: what was reported meanwhile makes rides exact."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Final, NamedTuple

from ..api import Position
from .occurrences import UpdateContext
from .ride_detection import apply_report, end_ride, silent_at
from .ride_log import Checkpoint, RideLog, checkpoint_at, in_order_of_start
from .ride_state import Ride, RideState

# So far apart are a ride as polls saw it and as it was.
_NEAR: Final = timedelta(minutes=2)
_NEVER: Final = datetime.max.replace(tzinfo=UTC)
MAX_BACKFILL_AGE: Final = timedelta(days=30)
"""How far back rides from before a tracker was set up are asked for."""
# A ride that starts so soon after the first report may have begun before that.
_STANDS_AFTER: Final = timedelta(minutes=5)
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
    if len(positions) < 2:
        return positions
    timed: list[tuple[datetime, int, Position]] = []
    for position in positions:
        before = timed[-1][0] if timed else position.moment
        timed.append((position.fix_time or before, position.id, position))
    return [position for _, _, position in sorted(timed, key=itemgetter(0, 1))]


class HistoryAnswer(NamedTuple):
    """What a tracker reported from the start of a gap on."""

    reports: Sequence[Position]
    until: datetime
    """Up to when it was asked for, in UTC."""

    def parts(self) -> Iterator[HistoryAnswer]:
        """Yield this in parts, each short enough for one go of the event loop."""
        reports = in_order(self.reports)
        for begin in range(0, len(reports) or 1, _MAX_REPORTS):
            part = reports[begin : begin + _MAX_REPORTS]
            is_last = begin + _MAX_REPORTS >= len(reports)
            yield HistoryAnswer(part, self.until if is_last else part[-1].moment)


def replayed(
    ride_state: RideState, reports: Sequence[Position], now: datetime
) -> tuple[RideState, dict[datetime, Ride]]:
    """Return the ride_state after all these reports, and rides that are over, by their start.

    The last one before is the first of these: more of it may be known now.
    """
    over = {ride_state.ended.started_at: ride_state.ended} if ride_state.ended else {}
    for report in in_order(reports):
        ride_state, _ = apply_report(ride_state, report, now)
        if ride_state.ended:
            over[ride_state.ended.started_at] = ride_state.ended
    return ride_state, over


def after_history(
    log: RideLog,
    point: Checkpoint,
    ride_state: RideState,
    answer: HistoryAnswer,
    known: datetime,
    context: UpdateContext,
) -> tuple[RideLog, RideState]:
    """Return the log and the ride_state by all that was reported.

    `known` is the fix of the newest report. Where the answer ends before that, the rest
    has to be asked for.
    """
    times = {report.fix_time for report in answer.reports if report.fix_time}
    if point.begins_at <= point.start and min(times, default=point.start) >= known:
        # No report is there but the newest, as of what ignores since when it is asked.
        return log._replace(checkpoint=None), ride_state
    forgotten = _forgotten_since(log, ride_state, point, answer.until, times)
    if forgotten:
        answer = answer._replace(
            reports=[
                report
                for report in answer.reports
                if report.fix_time is None or report.fix_time < forgotten
            ]
        )
    exact, over = replayed(point.ride_state, answer.reports, context.now)
    over = {ride.started_at: ride for ride in point.found} | over
    end = max(times, default=point.start)
    if answer.until <= known:
        # Of two reports of one time the second may not be there.
        end = exact.newest_fix.time if exact.newest_fix else point.start
    if forgotten is None and end >= known:
        now = _by_now(exact, ride_state, context.now)
        if now.ended:
            over[now.ended.started_at] = now.ended
        log = log._replace(checkpoint=checkpoint_at(now))
        return _settled(log, point, over, ride_state.ride, now.ride, _NEVER), now
    if forgotten is None and answer.until <= known:
        point = point._replace(ride_state=exact, found=tuple(over.values()))
        return log._replace(checkpoint=point), ride_state
    # The service does not have the rest: that stays as it is known.
    under_way = [ride for ride in (exact.ride, ride_state.ride) if ride]
    last = min([forgotten or end, *(ride.started_at for ride in under_way)])
    last = _before_all_near([*log.rides, *over.values(), *under_way], last)
    return _settled(
        log._replace(checkpoint=None), point, over, None, None, last
    ), ride_state


def _before_all_near(rides: Iterable[Ride], time: datetime) -> datetime:
    """Return a time before all rides that are near one from this time on."""
    later: list[Ride] = []
    for ride in reversed(in_order_of_start(rides)):
        if ride.started_at >= time or any(_is_near(ride, it) for it in later):
            time = min(time, ride.started_at)
            later.append(ride)
    return time


def _forgotten_since(
    log: RideLog,
    ride_state: RideState,
    point: Checkpoint,
    until: datetime,
    times: Collection[datetime],
) -> datetime | None:
    """Return when the first known ride began whose last report the answer lacks.

    A database may have been lost, or the service tells its first hundred reports alone.
    """
    rides = [*log.rides, ride_state.ride] if ride_state.ride else log.rides
    return min(
        (
            ride.started_at
            for ride in rides
            if ride.distance
            and ride.end
            and point.begins_at < ride.end.time <= until
            and ride.end.time not in times
        ),
        default=None,
    )


def _by_now(exact: RideState, ride_state: RideState, now: datetime) -> RideState:
    """Return how far a tracker came exactly, with what was heard of it later."""
    newest, known = exact.newest_fix, ride_state.newest_fix
    # The history may have no addresses: one time is one fix.
    is_known = newest and known and newest.time == known.time
    exact = exact._replace(
        highest_total=ride_state.shown_total or 0,
        received_at=ride_state.received_at if is_known else now,
    )
    reported_at, known_at = exact.reported_at, ride_state.reported_at
    if known_at and (reported_at is None or known_at > reported_at):
        exact = exact._replace(
            reported_at=known_at, says_it_moves=ride_state.says_it_moves
        )
    if (at := silent_at(exact)) and at <= now:
        exact, _ = end_ride(exact)
    return exact


def _settled(
    log: RideLog,
    point: Checkpoint,
    over: dict[datetime, Ride],
    riding: Ride | None,
    under_way: Ride | None,
    last: datetime,
) -> RideLog:
    """Return the log where these were all rides from a checkpoint up to a time.

    A ride that is known, or part of one, was fired; of the one that was thought to be
    `riding` the end may not be yet.
    """
    known = [it for it in log.rides if point.is_since(it) and it.started_at < last]
    others = {it.started_at: it for it in log.rides if it not in known}
    # More may be known of one that was over before.
    more = {start: over[start] for start in others.keys() & over.keys()}
    rides = [
        ride
        for start, ride in over.items()
        if start not in more and point.is_since(ride) and start < last
    ]
    every = in_order_of_start([*rides, under_way] if under_way else rides)
    matches = _matches(every, [*known, riding] if riding else known)
    parts = matches[riding] if riding else []
    fired_over = {ride for it in known for ride in matches[it]}
    log = _fired(log, every, fired_over, riding, parts, under_way)
    # One that was none is in no book, and known: another answer may have it again.
    none = [it._replace(distance=0) for it, found in matches.items() if not found]
    since = min(log.since or point.start, point.start)
    kept = in_order_of_start([*(others | more).values(), *none, *rides])
    return log._replace(rides=kept, since=since)


def _fired(
    log: RideLog,
    rides: Iterable[Ride],
    fired_over: Collection[Ride],
    riding: Ride | None,
    parts: Sequence[Ride],
    under_way: Ride | None,
) -> RideLog:
    """Return the log with events of these rides: of what was fired as over, none.

    The ride that was thought to be under way is now `parts`: the last one's end is its end.
    """
    if riding and not parts:
        log = log.ended(riding._replace(distance=0))
    for ride in rides:
        if ride not in parts and ride not in fired_over:
            log = log.started(ride) if ride == under_way else log.added(ride)
        elif riding and ride in parts[-1:] and log.open_since:
            if log.open_since == riding.started_at and ride not in fired_over:
                log = log._replace(open_since=ride.started_at)
            log = log if ride == under_way else log.ended(ride)
    return log


def _matches(rides: Sequence[Ride], known: Iterable[Ride]) -> dict[Ride, list[Ride]]:
    """Return which of these rides each of those was that are known."""
    matches = {it: [ride for ride in rides if _is_near(it, ride)] for it in known}
    taken = {ride for found in matches.values() for ride in found}
    for it, found in matches.items():
        if not found:
            # It was over when it was seen: that is not fired again.
            left = [ride for ride in rides if ride not in taken]
            found += [ride for ride in left if ride.started_at <= it.moved_at][-1:]
            taken.update(found)
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
    ride_state, over = replayed(RideState(), reports, now)
    ride_state, _ = end_ride(ride_state)
    if last := ride_state.ended:
        over[last.started_at] = last
    rides = [ride for ride in in_order_of_start(over.values()) if ride.distance]
    if start <= now - MAX_BACKFILL_AGE:
        return rides, None
    if rides and rides[0].started_at <= reports[0].moment + _STANDS_AFTER:
        rest = rides[0].moved_at + _STANDS_AFTER
        # A ride of half a day is taken as it is: the next answer goes farther back.
        if rest <= start + (until - start) / 2:
            return rides[1:], rest
    return rides, start
