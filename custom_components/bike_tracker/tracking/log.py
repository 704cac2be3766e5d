"""The log of a tracker: its inputs in order, and the core, which is their resulting state.

Polls, messages and history answers all insert inputs, and replay the log from the first
new input on. So the effect of a report does not depend on its source or its time of
arrival.

Inputs that can no longer change are settled: the log drops them, and keeps only the
core after the last settled input.
"""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import accumulate, zip_longest
from operator import attrgetter
from typing import Final, NamedTuple

from ..api.models import Position
from .distance import NOWHERE
from .guard import CLOCK_BEHIND, Guard, after_report, disarmed, placed, waiting
from .rides import (
    SILENT_AFTER,
    STANDS_AFTER,
    RideState,
    apply_report,
    held,
    start_of_ride,
)

_SETTLES_AFTER: Final = timedelta(minutes=15)
# Settle inputs at most once in this time: settling at each report would cost as much as
# applying the report.
_CUT_EVERY: Final = timedelta(minutes=5)
# Late reports come in groups. For this time after a late report, settle inputs only if
# the log has more than `_MAX_INPUTS`.
_LATE_GROUP: Final = timedelta(minutes=1)
# With this number of inputs, replaying them all for a late report costs 30 ms, and
# reading a message with 200 reports costs 10 ms more. The sum must not exceed 50 ms.
_MAX_INPUTS: Final = 1_000
# If the first fix after an arming follows the fix before it by at most this time, its
# report is late, not of a clock that was set back: many trackers report a bike at rest
# only each few minutes.
_CONTINUES_WITHIN: Final = timedelta(minutes=15)
# The delays of two reports count as the same if they differ by at most this share of
# the time between the reports, plus these seconds.
_SAME_DELAY = 0.2
_SAME_DELAY_SECONDS = 2
# Larger than the number of any report.
_NO_NUMBER: Final = 2**63

type Key = tuple[datetime, int, int]
"""The sort key of an input in the log: its time, its number (the ID of the report) and its order."""
type ReportId = tuple[int, datetime | None]
"""The number and the fix time of a report.

The number alone is not unique: a server with a new database counts from 1 again.
"""


class Clock(NamedTuple):
    """The delay of a tracker's reports. It shows whether the tracker's clock is behind."""

    sent_at: datetime
    """Time of the newest report by the tracker's clock."""
    delay: float
    """Seconds until the service received this report."""
    behind: float
    """Seconds by which the tracker's clock is behind; 0 if it is not known to be behind."""


class Core(NamedTuple):
    """The part of a tracker's state that is computed from its inputs."""

    ride_state: RideState = RideState()
    guard: Guard | None = None
    clock: Clock | None = None
    earlier: Guard | None = None
    """A disarmed guard that reports from before its end, which have not arrived yet, can still trigger."""

    @property
    def clock_error(self) -> timedelta:
        """Return how far the tracker's clock is behind; 0 if it is not known to be behind."""
        return timedelta(seconds=self.clock.behind if self.clock else 0)


class Input(NamedTuple):
    """A report, an arming or disarming, or a stored core. Each input also holds the core after it."""

    time: datetime = NOWHERE.time
    number: int = 0
    order: int = 0
    """Order of inputs that have the same time and number."""
    received_at: datetime = NOWHERE.time
    """When the input was received, by Home Assistant's clock."""
    report: Position | None = None
    guard: Guard | None = None
    """The requested guard of an arming; None for other inputs and for a disarming."""
    until: datetime | None = None
    """Reports from before this time can still trigger the guard that this arming or disarming replaces."""
    is_snapshot: bool = False
    """Whether the input is a stored `core`. It replaces earlier reports, because reports are not stored."""
    is_pinned: bool = False
    """Whether the report keeps its sort key even if its fix is old: the server called it current, or its time is settled."""
    is_prompt: bool = False
    """Whether the report arrived without delay: no outage and no missed poll came right before it."""
    is_complete: bool = False
    """Whether no report is missing between the previous report and this report."""
    behind: float = 0
    """Seconds by which the tracker's clock was set back, compared with an earlier report."""
    counts_total: bool = True
    """Whether the report's total distance can be used: only if reports came in the order of their fixes."""
    core: Core = Core()

    @property
    def key(self) -> Key:
        """Return the key by which the inputs of a log are sorted."""
        return self.time, self.number, self.order

    @property
    def id(self) -> ReportId | None:
        """Return the ID of the report; None if the input is not a report."""
        return self.report and id_of(self.report)

    @property
    def right_report(self) -> Position | None:
        """Return the report with the times of a correct clock; None if the input is not a report."""
        if not (report := self.report) or not self.behind:
            return report
        behind, fix_time = timedelta(seconds=self.behind), report.fix_time
        sent_at = report.device_time
        return report._replace(
            fix_time=fix_time and fix_time + behind,
            device_time=sent_at and sent_at + behind,
        )


class Gap(NamedTuple):
    """The time from `start` on, for which the history may be needed. At `start`, the bike usually still stood."""

    start: datetime
    may_lack: bool = False
    """Whether a report may be missing in the gap; False while all its reports have certainly arrived."""
    wanted_at: datetime | None = None
    """When it was noticed that the history is needed; None before that."""
    is_partial: bool = False
    """Whether a history answer covered only the first part of the gap. `start` is the end of that part."""


def id_of(report: Position) -> ReportId:
    """Return the ID of a report."""
    return report.id, report.fix_time


def apply(core: Core, it: Input) -> Core:
    """Return the core after an input. Inputs change the core only in this function."""
    if it.is_snapshot:
        return it.core
    ride_state, guard, clock, earlier = core
    if (report := it.right_report) is None:
        behind = core.clock_error
        guard = disarmed(guard, it.until, behind)
        if it.until is None:
            earlier = None
        if it.guard and not (guard and guard.is_done):
            earlier = waiting(ride_state, earlier, guard)
            guard = placed(it.guard, ride_state, behind)
        return core._replace(guard=guard, earlier=earlier)
    now = it.received_at
    if guard:
        guard = after_report(guard, report, ride_state, now, is_prompt=it.is_prompt)
    if earlier:
        earlier = after_report(earlier, report, ride_state, now, is_prompt=it.is_prompt)
        if earlier.is_done:
            guard, earlier = earlier, None
    if not it.counts_total:
        report = report._replace(total_distance=None)
    return Core(
        apply_report(ride_state, report, now, is_complete=it.is_complete),
        guard,
        clock_after(clock, report, now),
        earlier,
    )


class Log(NamedTuple):
    """The inputs of a tracker after a settled core. Earlier inputs can no longer change that core."""

    settled: Core = Core()
    time: datetime | None = None
    """Time of the settled core; None if nothing was settled yet."""
    number: int = 0
    inputs: tuple[Input, ...] = ()
    gap: Gap | None = None
    late_at: datetime | None = None
    """When the most recent late report was received."""

    @property
    def core(self) -> Core:
        """Return the core after all inputs."""
        return self.inputs[-1].core if self.inputs else self.settled

    @property
    def end(self) -> Key:
        """Return the sort key of the last input or, without inputs, of the settled core."""
        settled = self.time or NOWHERE.time, self.number, 0
        return self.inputs[-1].key if self.inputs else settled

    @property
    def rides_since(self) -> datetime | None:
        """Return the time from which on the rides of the core replace the rides in the database.

        A ride of the core that is older replaces only the stored ride with the same
        start.
        """
        if start := start_of_ride(self.settled.ride_state):
            return start
        return self.time or (self.inputs[0].time if self.inputs else None)

    def has_settled(self, it: Input) -> bool:
        """Return whether an input is not newer than the last settled input."""
        return bool(self.time) and it.key[:2] <= (self.time, self.number)

    def at_end(self, it: Input) -> Input:
        """Return the input with a sort key after all inputs of the log."""
        time, number, order = self.end
        return it._replace(time=time, number=max(number, it.number), order=order + 1)

    def with_input(self, new: Input) -> Log:
        """Append an input, and compute the core after it."""
        new = new._replace(core=apply(self.core, new))
        return self._replace(inputs=(*self.inputs, new))

    def split_after_ride(self, since: datetime) -> tuple[Log, Sequence[Input]]:
        """Return the log before the ride that follows the ride at `since`, and the inputs from that start on.

        If no ride follows, return the whole log and no inputs.
        """
        states = [it.core.ride_state for it in self.inputs]
        of_next = (bool(it.ride) and it.was_riding(since) for it in states)
        end = next((i for i, is_it in enumerate(of_next) if is_it), len(states))
        return self._replace(inputs=self.inputs[:end]), self.inputs[end:]

    def with_inputs(
        self, new: Sequence[Input], answered: frozenset[ReportId] = frozenset()
    ) -> Log:
        """Insert new reports, and replay from the first changed input on.

        Ignore reports that the log has, or that are not newer than the last settled
        input. `answered` has the IDs of the reports in a history answer. Between two of
        these reports, no report is missing.
        """
        kept, fresh = list(self.inputs), dict[ReportId | None, Input]()
        stored = {(it.number, it.time) for it in kept if it.is_snapshot}
        if answered and any((it.number, it.time) in stored for it in new):
            # The answer contains the last report that the stored core includes. Drop this
            # core, because a replay of the reports computes it again.
            kept, stored = [it for it in kept if not it.is_snapshot], set()
        known = {it.id for it in kept}
        for it in new:
            if it.id not in known and (it.number, it.time) not in stored:
                fresh.setdefault(it.id, it)
        merged = self._in_order([*kept, *fresh.values()])
        merged = [it for it in merged if it.id in known or not self.has_settled(it)]
        merged = _with_totals(merged)
        if answered:
            merged = self._with_complete(merged, answered)
        pairs = enumerate(zip_longest(self.inputs, merged))
        first = next((i for i, (a, b) in pairs if a is not b), None)
        if first is None:
            return self
        return self._replace(inputs=self._replayed(merged, first))

    def _in_order(self, inputs: list[Input]) -> list[Input]:
        """Correct the times of a clock that was set back, and return the inputs in order.

        A report that repeats a fix gets the time of its message.
        """
        inputs.sort(key=attrgetter("number"))
        state = self.settled.ride_state
        errors = _errors_of_clock(inputs, self.settled)
        times = {state.measured_at}
        for number, (it, error) in enumerate(zip(inputs, errors, strict=True)):
            if it.behind != error:
                it = inputs[number] = it._replace(behind=error)
            if (report := it.right_report) and not (it.is_pinned and not it.behind):
                is_new = report.is_fix and report.fix_time not in times
                time = time_of(report, it.received_at, is_new=is_new)
                times.add(report.fix_time)
                if time not in (None, it.time):
                    inputs[number] = it._replace(time=time)
        inputs.sort(key=attrgetter("key"))
        return inputs

    def _with_complete(
        self, inputs: list[Input], answered: frozenset[ReportId]
    ) -> list[Input]:
        """Set `is_complete` of a report in the answer if the report before it is in the answer, or before the gap."""
        # The settled inputs end at the start of the gap at the latest.
        start, was_answered = self.gap and self.gap.start, True
        for number, it in enumerate(inputs):
            if it.report:
                is_answered = it.id in answered
                if is_answered and was_answered and not it.is_complete:
                    inputs[number] = it._replace(is_complete=True)
                was_answered = is_answered or bool(start and it.time <= start)
        return inputs

    def _replayed(self, inputs: list[Input], first: int) -> tuple[Input, ...]:
        core = inputs[first - 1].core if first else self.settled
        for number in range(first, len(inputs)):
            core = apply(core, inputs[number])
            inputs[number] = inputs[number]._replace(core=core)
        return tuple(inputs)

    def cut(self, now: datetime, *, is_silent: bool) -> Log:
        """Settle inputs that can no longer change.

        Call this method before an update, because at that time the database has the
        rides of these inputs.
        """
        if not self.inputs:
            return self
        excess = len(self.inputs) - _MAX_INPUTS
        # If the clock was set back, `late_at` may be in the future: ignore it then.
        if self.late_at and self.late_at <= now < self.late_at + _LATE_GROUP:
            return self._cut_at(excess - 1) if excess > 0 else self
        is_silent = is_silent and now - self.inputs[-1].received_at >= SILENT_AFTER
        if is_silent and not self.gap:
            # Silence ended the ride, and no report is missing: settle all inputs, except
            # of a clock that fell back, because its first report proves no error.
            return self._cut_at(len(self.inputs) - 1)
        newest = self.inputs[-1].time
        if excess <= 0 and newest - self.inputs[0].time < _SETTLES_AFTER + _CUT_EVERY:
            return self
        limit = newest - _SETTLES_AFTER
        state = self.core.ride_state
        if state.ride:
            limit = min(limit, state.ride.started_at - STANDS_AFTER)
        if state.candidate:
            limit = min(limit, state.candidate.time - STANDS_AFTER)
        if self.gap:
            limit = min(limit, self.gap.start)
        last = max(self._last_rest(limit), excess - 1)
        return self._cut_at(last) if last >= 0 else self

    def _last_rest(self, limit: datetime) -> int:
        """Return the index of the last input up to `limit` after which the bike is at rest, or -1."""
        end = bisect_right(self.inputs, limit, key=attrgetter("time"))
        cores = ((i, self.inputs[i].core) for i in reversed(range(end)))
        return next((i for i, core in cores if core.ride_state.is_at_rest), -1)

    def _cut_at(self, number: int) -> Log:
        last, rest = self.inputs[number], self.inputs[number + 1 :]
        if over := last.core.ride_state.rides:
            rest = tuple(it._replace(core=_without(it.core, over)) for it in rest)
        return self._replace(
            settled=_without(last.core, over),
            time=last.time,
            number=last.number,
            inputs=rest,
        )

    def stored(self) -> Log:
        """Return the log to store. It contains no reports: the history has them."""
        if not self.inputs:
            return self
        if self.gap is None:
            return self._cut_at(len(self.inputs) - 1)._replace(late_at=None)
        log, gap = self, self.gap
        if (number := self._last_rest(gap.start)) >= 0:
            log = self._cut_at(number)
        gap = gap._replace(start=min(gap.start, log.time or gap.start))
        armings = [it for it in log.inputs if it.report is None and not it.is_snapshot]
        kept = (it._replace(core=Core()) for it in armings[-1:])
        snapshot = self.at_end(Input(is_snapshot=True, core=self.core))
        return log._replace(inputs=(*kept, snapshot), gap=gap, late_at=None)

    def restored(self) -> Log:
        """Return this log, as read from the database, with the core of each input computed again."""
        return self._replace(inputs=self._replayed(list(self.inputs), 0))


def time_of(
    report: Position, received_at: datetime, *, is_new: bool
) -> datetime | None:
    """Return the fix time of a report with a new fix, otherwise its message time; None if it is unknown."""
    received_at = report.server_time or received_at
    sent_at = report.device_time or report.fix_time
    return held(report.fix_time if is_new and report.fix_time else sent_at, received_at)


def _without(core: Core, over: tuple[object, ...]) -> Core:
    """Return the core without the rides `over`, which were settled."""
    if not over:
        return core
    state = core.ride_state
    rides = tuple(it for it in state.rides if it not in over)
    return core._replace(ride_state=state._replace(rides=rides))


def clock_after(clock: Clock | None, report: Position, now: datetime) -> Clock | None:
    """Return the known error of the tracker's clock after a report; None if the report arrived within five minutes.

    If a tracker's clock is behind, all its reports seem to be late by the same amount.
    If a tracker buffered reports, they arrive together, so each is late by a different
    amount.
    """
    sent_at = report.device_time or report.fix_time
    if sent_at is None:
        return clock
    delay = (report.server_time or now) - sent_at
    if delay < CLOCK_BEHIND:
        return None
    new, behind = delay.total_seconds(), 0.0
    if clock:
        apart = abs((sent_at - clock.sent_at).total_seconds())
        if apart < _SAME_DELAY_SECONDS / _SAME_DELAY:
            return clock
        if abs(new - clock.delay) <= _SAME_DELAY * apart + _SAME_DELAY_SECONDS:
            behind = min(new, clock.delay)
    return Clock(sent_at, new, behind)


def _errors_of_clock(inputs: Sequence[Input], before: Core) -> list[float]:
    """Return the seconds by which the time of each input is too early; 0 unless the tracker's clock was set back.

    The inputs are in the order of their numbers; `before` is the core before them. Late
    reports, and reports after the clock was set back, have earlier times than the
    reports or armings before them. Late reports arrive together, or continue the
    reports from before an arming. Reports after the clock was set back arrive at the
    same intervals as they were sent.
    """
    errors, error, first = [0.0] * len(inputs), 0.0, 0
    clock: Clock | None = None
    armed = before.guard
    fix = before.ride_state.newest_fix
    newest = fix.time if fix and not before.clock else None
    for number, it in enumerate(inputs):
        armed = it.guard or armed
        time = it.report and (it.report.fix_time or it.report.device_time)
        if not (it.report and time):
            continue
        if armed and newest and time > newest + _CONTINUES_WITHIN:
            newest = max(newest, armed.after)
        last, clock = clock, clock_after(clock, it.report, it.received_at)
        if clock is None:
            newest, error = max(newest or time, time), 0.0
        elif newest is None or time > newest:
            # This report is newer than all earlier reports: their clock was behind,
            # too, or its error no longer changes their order. Leave times unchanged
            # until a report arrives without delay.
            newest = None
        elif clock.behind:
            error = error or clock.behind
            errors[first : number + 1] = [error] * (number + 1 - first)
            newest, first = time + timedelta(seconds=error), number
        elif clock is not last:
            first = number
    return errors


def _with_totals(inputs: list[Input]) -> list[Input]:
    """Set `counts_total`: totals can be used if their reports came in the order of the fixes.

    For a late fix, the server adds its distance from a newer fix to the total, so all
    later totals are too large.
    """
    numbers = [it.number for it in inputs if it.report]
    highest = accumulate(numbers, max, initial=-_NO_NUMBER)
    lowest = [*accumulate(reversed(numbers), min, initial=_NO_NUMBER)][-2::-1]
    counts = (a < it < b for a, it, b in zip(highest, numbers, lowest, strict=False))
    for number, it in enumerate(inputs):
        if it.report and it.counts_total is not (is_counted := next(counts)):
            inputs[number] = it._replace(counts_total=is_counted)
    return inputs
