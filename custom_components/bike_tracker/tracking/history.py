"""History gaps: the time ranges for which the service's history is needed, and the effect of its answers."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final, NamedTuple

from ..api.models import Position
from .distance import NOWHERE, Fix, meters, noise
from .log import Gap, Input, Log, id_of, time_of
from .rides import STANDS_AFTER, Ride, RideState, end_ride

MAX_BACKFILL_AGE: Final = timedelta(days=30)
"""Maximum age of the rides that are requested when a tracker is set up."""
# Maximum time from the start of a gap to the newest fix. A new gap is at least an hour
# shorter, because its request may wait in the queue for an hour.
_MAX_AGE: Final = timedelta(days=7)
_SPARE: Final = timedelta(hours=1)
# If the first report of a tracker shows a ride under way, the requested history begins
# this long before the report, so that it contains the start of the ride.
_BEFORE_FIRST: Final = timedelta(hours=6)
# If two reports during a ride are more than this time apart, reports between them may
# be missing. Polls, and the reports of many trackers, come once a minute and may be
# half a minute late.
_MAX_STEP: Final = timedelta(seconds=90)
# If two reports of a bike at rest are more than `_MAX_STEP` and more than this distance
# apart, the bike set off between them.
_MAX_SKIPPED_METERS: Final = 300
# While a bike stands, the server may add this distance to its total between two
# reports, because fixes drift.
_COUNTED_DRIFT_METERS: Final = 150
# The first report of a tracker may overtake reports that were sent this long before it.
_LATE_FOR: Final = timedelta(minutes=15)


class UpdateContext(NamedTuple):
    """The time and the circumstances of an update."""

    now: datetime
    recovering: bool = False
    """Whether the tracker was unavailable just before this update."""
    is_complete: bool = False
    """Whether it is certain that no report is missing before this update."""
    has_history: bool = False
    """Whether the service may have a history."""
    has_missed: bool = False
    """Whether polls failed or were skipped before this update."""


class HistoryAnswer(NamedTuple):
    """The reports of a tracker in a requested time range."""

    reports: Sequence[Position]
    until: datetime
    """End of the requested time range, in UTC."""


def is_older_position(
    position: Position, known: Position | None, newest: datetime | None = None
) -> bool:
    """Return whether a position is older than the known one, by fix time; False if none is known.

    If the fix times are equal, or the position has no fix time, compare the IDs.
    `newest` is the time of the newest fix. It is used if the known position has no fix
    time.
    """
    if known is None:
        return False
    known_at = known.fix_time or newest
    if position.fix_time is None or position.fix_time == known_at:
        return position.id < known.id
    return known_at is not None and position.fix_time < known_at


def in_order(positions: Iterable[Position]) -> Sequence[Position]:
    """Return reports of one tracker, sorted by fix time (by message time if it is missing), then by ID."""
    unknown = NOWHERE.time
    return sorted(
        positions, key=lambda it: (it.fix_time or it.device_time or unknown, it.id)
    )


def followed(
    log: Log, new: Sequence[Input], context: UpdateContext
) -> tuple[Log, Sequence[Input]]:
    """Append inputs to a log. Return the log, and the inputs that are older than its end and must be inserted.

    Nothing can be inserted into a settled time, or into the time before the log begins,
    so append reports from such a time.
    """
    late: list[Input] = []
    for it in sorted(new, key=attrgetter("key")):
        is_old = it.key[:2] <= log.end[:2]
        if is_old and not (it.is_pinned or log.has_settled(it) or _precedes(log, it)):
            late.append(it)
            continue
        if is_old:
            it = log.at_end(it)._replace(is_pinned=True)
        log = _with_next(log, it, context, is_old=is_old)
    return log, late


def _precedes(log: Log, it: Input) -> bool:
    """Return whether a report precedes the log: it is from before the first report and its gap, and was then old already.

    Such a report is from before the tracker was set up. Inserted, it would make the
    first ride begin at its place.
    """
    if log.time or not log.inputs:
        return False
    first, gap = log.inputs[0], log.gap
    is_before = it.time < (min(first.time, gap.start) if gap else first.time)
    return is_before and it.time + _LATE_FOR < first.received_at


def _with_next(log: Log, it: Input, context: UpdateContext, *, is_old: bool) -> Log:
    """Append this input to the log, and update the gap.

    If the report repeats the newest fix, its time is that of its message, and no report
    counts as missing before it.
    """
    before, guard, *_ = log.core
    last = log.inputs[-1] if log.inputs else None
    # If the tracker's clock may have been set back, correct its times.
    may_be_behind = is_old or (guard and it.time < guard.after)
    if it.report and it.report.fix_time == before.measured_at:
        time = time_of(it.report, it.received_at, is_new=False)
        it = it._replace(time=time) if time and time > it.time else it
        context = context._replace(is_complete=True)
    is_older = last and last.report and last.number >= it.number and not it.is_pinned
    with_it = (
        log.with_inputs([it])
        if may_be_behind or is_older or (last and last.behind)
        else log.with_input(it)
    )
    gap = gap_after(log.gap, before, with_it.core.ride_state, context)
    return with_it._replace(gap=gap)


def gap_after(
    gap: Gap | None, before: RideState, after: RideState, context: UpdateContext
) -> Gap | None:
    """Return the gap after a report changed `before` to `after`; None if the bike rests and no report is missing."""
    last, newest = before.newest_fix, after.newest_fix
    if last is None or newest is None:
        if gap or not (context.has_history and newest and after.says_it_moves):
            return gap
        # This is the first report, and the bike already moves. Its ride may have begun
        # hours ago.
        return Gap(newest.time - _BEFORE_FIRST, True, context.now)
    if gap and newest.time - gap.start >= _MAX_AGE:
        gap = None
    if not context.has_history:
        # Keep the gap: the service may be restarting, so its history may become
        # available again.
        return gap
    if after.measured_at and after.measured_at > newest.time:
        # Keep the gap: the tracker's clock is ahead, so the times in the history differ
        # from those in the log.
        return gap
    stood = before.is_at_rest and after.is_at_rest
    unseen = stood and _went_unseen(before, last, newest)
    may_lack = not context.is_complete or unseen or _skipped(before, last, newest)
    gap = gap or Gap(max(last.time, newest.time - (_MAX_AGE - _SPARE)))
    if may_lack:
        is_wanted = context.recovering or context.has_missed or unseen
        gap = gap._replace(
            may_lack=True, wanted_at=context.now if is_wanted else gap.wanted_at
        )
    if gap.may_lack and before.rides != after.rides:
        gap = gap._replace(wanted_at=context.now)
    return gap if gap.wanted_at or not after.is_at_rest else None


def gap_after_late(
    log: Log, before: RideState, first: datetime, context: UpdateContext
) -> Gap | None:
    """Return the gap after late reports. If they changed rides, request the history: more reports may be missing."""
    after, gap = log.core.ride_state, log.gap
    if not context.has_history:
        return gap
    rests = (it for it in reversed(log.inputs) if it.time < first)
    rest = next((it.time for it in rests if it.core.ride_state.is_at_rest), None)
    start = rest or log.time or first
    changed = before.rides != after.rides
    if gap is None and not changed and after.is_at_rest:
        return None
    gap = gap or Gap(start)
    wanted_at = context.now if changed else gap.wanted_at
    return Gap(min(gap.start, start), True, wanted_at, gap.is_partial)


def gap_after_silence(gap: Gap | None, now: datetime) -> Gap | None:
    """Return the gap after silence ended a ride; None if no report can be missing."""
    return gap._replace(wanted_at=now) if gap and gap.may_lack else None


def with_answer(log: Log, answer: HistoryAnswer, now: datetime) -> Log:
    """Return the log with all reports of an answer, and with the rest of its gap."""
    inputs = [history_input(report, now) for report in answer.reports]
    log = log.with_inputs(inputs, frozenset(map(id_of, answer.reports)))
    if log.gap is None:
        return log
    times = [it.time for it in inputs]
    return log._replace(gap=_gap_left(log, log.gap, answer.until, times))


def history_input(report: Position, now: datetime) -> Input:
    """Return the input for a report of a history answer."""
    time = time_of(report, now, is_new=True) or NOWHERE.time
    return Input(time, report.id, received_at=now, report=report)


def _gap_left(
    log: Log, gap: Gap, until: datetime, times: Sequence[datetime]
) -> Gap | None:
    """Return the rest of a gap after an answer, or None if the answer closes the gap.

    The answer lacks reports that arrived after its request, and reports beyond the
    service's limit.
    """
    state = log.core.ride_state
    last = state.newest_fix.time if state.newest_fix else until
    end = max(times, default=gap.start)
    lacks = any(end < it.time <= until for it in log.inputs if it.report)
    if lacks and end > gap.start and _moved_after(state, end):
        # If at most the last 90 seconds of a ride under way are missing, request them
        # only after the ride.
        wanted_at = gap.wanted_at if end < last - _MAX_STEP or not state.ride else None
        return Gap(end, True, wanted_at, is_partial=True)
    # If the answer does not reach the newest report, request the rest of the gap again.
    reported_at, wanted_at = state.reported_at or last, gap.wanted_at or until
    if until < last or until < min(reported_at, wanted_at):
        return gap._replace(start=max(until, gap.start), is_partial=True)
    # During a ride, late reports from the time range of the answer may still come, so
    # keep a gap.
    return None if state.is_at_rest else Gap(gap.start)


def _moved_after(state: RideState, time: datetime) -> bool:
    """Return whether the bike moved after a time, or may have moved to a candidate place."""
    rides = filter(None, [*state.rides, state.ride])
    return bool(state.candidate) or any(it.moved_at > time for it in rides)


def _went_unseen(before: RideState, last: Fix, newest: Fix) -> bool:
    """Return whether the server's total distance shows a ride between two reports."""
    if last.total is None or newest.total is None:
        return False
    counted = (newest.total - last.total) * 1_000
    drift = max(_COUNTED_DRIFT_METERS, 2 * noise(last, newest), 2 * before.drift)
    return counted > meters(last, newest) + drift


def _skipped(before: RideState, last: Fix, newest: Fix) -> bool:
    """Return whether reports of a bike that is under way, or that set off, may be missing."""
    is_late = newest.time - last.time > _MAX_STEP
    return is_late and (
        not before.is_at_rest or meters(last, newest) > _MAX_SKIPPED_METERS
    )


def rides_before(
    answer: HistoryAnswer, start: datetime, now: datetime
) -> tuple[Sequence[Ride], datetime | None]:
    """Return the rides in an answer about the time before the set-up, and the end of the next time range to request.

    The end is None after the last request. `start` is the start of the requested time
    range. A ride that may have begun before `start` is left to the next request.
    """
    until = answer.until
    reports = [it for it in answer.reports if start <= it.moment <= until]
    log = with_answer(Log(), answer._replace(reports=reports), now)
    # A ride that is under way in the last report ends there.
    rides = end_ride(log.core.ride_state).rides
    if start <= now - MAX_BACKFILL_AGE:
        return rides, None
    if rides and rides[0].started_at <= min(it.moment for it in reports) + STANDS_AFTER:
        rest = rides[0].moved_at + STANDS_AFTER
        # Leave the ride to the next request only if it ends in the first half of the
        # time range. If it ends later, return it even if its start is missing: the next
        # request would cover mostly the same time.
        if rest <= start + (until - start) / 2:
            return rides[1:], rest
    return rides, start
