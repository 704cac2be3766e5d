"""Whatever a tracker reports while it is guarded: it is triggered once, and for a reason."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given, strategies as st

from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.distance import Fix, meters
from custom_components.bike_tracker.tracking.guard import Guard
from custom_components.bike_tracker.tracking.history import HistoryAnswer
from custom_components.bike_tracker.tracking.occurrences import UpdateContext
from custom_components.bike_tracker.tracking.state import TrackerState

from ..long import examples
from .conftest import NOW, ListOfDevices, a_device, a_position

every = examples(60)

MINUTE = timedelta(minutes=1)
PLACE = Fix(NOW, 47.9, 7.8, 5.0)

_gaps = st.sampled_from([0.2, 1, 1, 1, 5, 31, 600])
_meters = st.sampled_from([0, 0, 0, 30, -40, 60, 140, 160, -250, 2_000, 90_000])
_says = st.fixed_dictionaries(
    {
        "motion": st.none() | st.booleans(),
        "speed": st.none() | st.sampled_from([0.0, 0.0, 2.0, 15.0]),
        "accuracy": st.sampled_from([0.0, 5.0, 50.0]),
        "is_fix": st.sampled_from([True, True, True, False]),
    }
)


@st.composite
def reports(draw: st.DrawFn) -> list[Position]:
    """Draw what a tracker reports, in the order of its clock."""
    time, drawn = NOW, list[Position]()
    many = st.lists(st.tuples(_gaps, _meters, _says), min_size=1, max_size=20)
    for number, (gap, off, says) in enumerate(draw(many), 1):
        time += timedelta(minutes=gap)
        latitude = PLACE.latitude + off / 111_195
        times = {"fix_time": time, "device_time": time}
        drawn.append(a_position(number, latitude=latitude, **times, **says))
    return drawn


def _standing() -> TrackerState:
    """Return the state of a bike that stands."""
    state = TrackerState()
    for number, ago in enumerate((3, 2, 1)):
        time = NOW - ago * MINUTE
        report = a_position(number - 9, fix_time=time, device_time=time)
        state = state.with_reports([report], UpdateContext(time), report.id)
    return state


def _guards(
    said: list[Position], state: TrackerState, *, late: timedelta = timedelta()
) -> list[Guard]:
    """Return the guard of that bike, armed now, and as it is after each report.

    A repeated report changes nothing.
    """
    state = state.armed(NOW, None)
    guards = [state.guard]
    for report in said:
        assert report.device_time is not None
        context = UpdateContext(report.device_time + late)
        state = state.with_reports([report], context, report.id)
        guards.append(state.guard)
        assert state.with_reports([report], context).guard == state.guard
    return [guard for guard in guards if guard]


@every
@given(reports())
def test_for_a_reason(said: list[Position]) -> None:
    """It says that it moves, or is not where it was."""
    guards = _guards(said, _standing())
    for report, (before, guard) in zip(said, pairwise(guards), strict=True):
        if guard.triggered and not before.triggered:
            assert report.latitude is not None
            off = meters(PLACE, PLACE._replace(latitude=report.latitude))
            assert report.motion or off > 49
            assert guard.triggered.since == report.fix_time


@every
@given(reports())
def test_no_ride_off_is_missed(said: list[Position]) -> None:
    """Whatever came before: when it moves farther away than fixes err it is fired."""
    last = said[-1].fix_time
    assert last is not None
    times = dict.fromkeys(("fix_time", "device_time"), last + 6 * MINUTE)
    gone = a_position(99, latitude=PLACE.latitude + 1, motion=True, **times)
    assert _guards([*said, gone], _standing())[-1].triggered


@every
@given(reports())
def test_older_reports(said: list[Position]) -> None:
    """What was measured before it was armed triggers nothing, whenever it comes."""
    span = timedelta(days=10)
    older = [
        report._replace(fix_time=report.fix_time - span, device_time=time - span)
        for report in said
        if report.fix_time and (time := report.device_time)
    ]
    assert not _guards(older, _standing(), late=span)[-1].triggered


@dataclass
class Evening:
    """A bike that was ridden home and is guarded; times are minutes after the arming."""

    first_poll: int
    """When its account was set up."""
    clock_off: int
    """Hours that the house's clock is off."""
    right_at: int
    """When that clock is put right."""
    outage: tuple[int, int]
    portion: int
    """Minutes that the first answer of the history has."""
    late: int
    """Minutes that the history is asked for later than the first poll."""
    theft: int | None
    """When it is moved by a thief, for two reports."""
    distance: int
    """Meters."""

    def report(self, minute: int) -> Position:
        """Return what is reported then."""
        is_theft = self.theft is not None and 0 <= minute - self.theft < 2
        metres = self.distance if is_theft else max(0, -12 - minute) * 200
        time = NOW + minute * MINUTE
        return a_position(
            100 + minute,
            fix_time=time,
            device_time=time,
            server_time=time,
            latitude=PLACE.latitude + metres / 111_195,
            motion=is_theft or minute < -12,
        )

    def is_triggered(self) -> bool:
        """Return whether the guard is triggered in the end."""
        account, read = Account("Bikes", {}), ListOfDevices().read
        recovering, first_gap_at = True, None
        for minute in range(self.first_poll, 45):
            off = timedelta(hours=self.clock_off if minute < self.right_at else 0)
            now = NOW + minute * MINUTE + off
            if minute in range(*self.outage):
                recovering = True
            else:
                device = a_device(position_id=100 + minute)
                moment = UpdateContext(now, recovering=recovering, has_history=True)
                account.apply_poll(read(device), {"red": self.report(minute)}, moment)
                recovering = False
            if minute == 0:
                assert account.arm("red", now + MINUTE / 2)
            if account.gaps and minute not in range(*self.outage):
                first_gap_at = minute if first_gap_at is None else first_gap_at
                if minute >= first_gap_at + self.late:
                    self._answer(account, minute, now)
        guard = account.trackers["red"].state.guard
        return guard is not None and guard.triggered is not None

    def _answer(self, account: Account, minute: int, now: datetime) -> None:
        gap = account.gaps["red"]
        start, end = gap.start, max(gap.known, now)
        for until in (start + self.portion * MINUTE, end):
            reports = [
                report
                for report in map(self.report, range(-40, minute + 1))
                if report.fix_time and start <= report.fix_time <= until
            ]
            answer = HistoryAnswer(reports, until)
            moment = UpdateContext(now, has_history=True)
            account.apply_history("red", answer, moment)


@every
@given(
    st.builds(
        Evening,
        first_poll=st.sampled_from([-40, -20, -8, -2]),
        clock_off=st.sampled_from([0, 0, -8, 8, -200, 200]),
        right_at=st.sampled_from([2, 25, 60]),
        outage=st.tuples(st.integers(3, 20), st.integers(3, 38)),
        portion=st.integers(1, 20),
        late=st.integers(0, 5),
        theft=st.none() | st.integers(6, 30),
        distance=st.sampled_from([0, 300, 3_000]),
    )
)
def test_clocks_outages_and_histories(evening: Evening) -> None:
    """A theft triggers and nothing else, whatever of it came late, in parts, by what clock."""
    assert evening.is_triggered() is (evening.theft is not None)
