"""Rides that the service's own history makes exact: each fired once, whatever came before."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any
from unittest.mock import Mock

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.bike_tracker.api.models import Device, Position
from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.distance import Fix
from custom_components.bike_tracker.tracking.history import HistoryAnswer, replayed
from custom_components.bike_tracker.tracking.occurrences import UpdateContext
from custom_components.bike_tracker.tracking.ride_detection import end_ride
from custom_components.bike_tracker.tracking.ride_state import Ride, RideState
from custom_components.bike_tracker.tracking.state import TrackerState

from ..tools.rides.home import ride_of
from .conftest import NOW, Listener, a_device, a_position

every = settings(deadline=None, derandomize=True, max_examples=200)
_SECOND = timedelta(seconds=1)
_HOUR = timedelta(hours=1)


@dataclass
class House:
    """Who is told of one tracker, keeps a ride book, and may be killed at any time."""

    state: TrackerState = field(default_factory=TrackerState)
    has_history: bool = True
    fired: list[tuple[str, Ride]] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    book: list[Ride] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)
    listener: Listener = field(default_factory=Listener)

    def at(
        self, now: datetime, *, is_complete: bool = False, away: bool = False
    ) -> UpdateContext:
        """Return a moment of this house."""
        return UpdateContext(now, away, is_complete, self.has_history)

    def report(self, position: Position, now: datetime, **how: bool) -> None:
        """Take in a report of a poll, or of a message if nothing lacks."""
        self.look(self.state.with_report(position, self.at(now, **how)))

    def answer(
        self, reports: Iterable[Position], now: datetime, until: datetime | None = None
    ) -> None:
        """Take in all of these from the gap's start on."""
        assert self.state.gap
        start, until = self.state.gap.start, until or now
        found = [it for it in reports if start <= time_of(it) <= until]
        for part in HistoryAnswer(found, until).parts():
            self.look(self.state.with_history(part, self.at(now)))

    def wait(self, now: datetime) -> None:
        """Let time pass."""
        self.look(self.state.after_time(self.at(now)))

    def look(self, state: TrackerState) -> None:
        """Tell what was not told, and write down what the book does not have."""
        self.state = state
        for occurrence in self.listener.fired(state):
            if occurrence.type == "alarm_raised":
                self.alarms.append(occurrence.attributes["alarm"])
            elif "ride" in occurrence.type:
                kind = occurrence.type.removeprefix("ride_")
                self.fired.append((kind, ride_of(occurrence)))
        if (log := state.rides) and (since := log.since):
            rides = {it.started_at: it for it in self.book if it.started_at < since}
            rides |= {it.started_at: it for it in log.rides}
            self.book = [ride for ride in rides.values() if ride.distance]
        if state.ride_state and state.ride_state.shown_total is not None:
            self.totals.append(state.ride_state.shown_total)

    @property
    def kinds(self) -> list[str]:
        """Return the kinds of what was told."""
        return [kind for kind, _ in self.fired]


def minutes(after: float) -> datetime:
    """Return when so many minutes had passed."""
    return NOW + timedelta(minutes=after)


def time_of(report: Position) -> datetime:
    """Return when its place was measured."""
    assert report.fix_time
    return report.fix_time


def reports_of(*legs: tuple[float, float], every: float = 10) -> list[Position]:
    """Return a report each ten seconds, of so many minutes at so many km/h each."""
    time, metres, reports = NOW, 0.0, list[Position]()
    for length, speed in ((0, 0), *legs):
        end = time + timedelta(minutes=length)
        while time <= end:
            reports.append(
                a_position(
                    len(reports) + 1,
                    fix_time=time,
                    device_time=time,
                    latitude=47.9 + metres / 111_195,
                    speed=abs(speed),
                    motion=speed != 0,
                    total_distance=None,
                )
            )
            time += timedelta(seconds=every)
            metres += speed / 3.6 * every
    return reports


def test_exact_in_the_end() -> None:
    """Polls saw a report a minute; the end is fired with that, and the book becomes exact."""
    reports = reports_of((5, 0), (10, 15), (7, 0))
    house = House()
    for report in reports[::6]:
        house.report(report, time_of(report))
    assert house.kinds == ["started", "ended"]
    assert house.state.gap
    assert house.state.gap.start == minutes(5)
    [before] = house.book
    fired = house.fired[-1][1]
    assert fired.described(is_over=True) == before.described(is_over=True)
    house.answer(reports, time_of(report) + _SECOND)
    assert house.kinds == ["started", "ended"]
    _, true = replayed(RideState(), reports, minutes(60))
    assert before not in house.book
    assert house.book == list(true.values())
    assert house.totals == sorted(house.totals)


def test_over_by_the_clock() -> None:
    """A history without addresses says no more; what comes late goes on with it."""
    reports, house = reports_of((5, 0), (15, 15)), House()
    for report in reports[:70:6]:
        house.report(report._replace(address="Roonstraße"), time_of(report))
    house.wait(minutes(45))
    house.answer(reports[:70:6], minutes(45))
    assert house.book
    house.report(reports[66]._replace(fix_time=None), minutes(46), away=True)
    house.report(reports[90], minutes(46))
    assert not house.book
    assert house.kinds == ["started", "ended"]


@pytest.mark.parametrize(("off", "more"), [(0.0, 0.0), (30.0, 0.03), (300.0, 0.0)])
def test_last_metres(off: float, more: float) -> None:
    """They belong to a ride once it is over, unless they are drift."""
    place = Fix(NOW, 47.9, 7.8, 6.0)
    seen = place._replace(latitude=47.9 + off / 111_195)
    ride = Ride(NOW, NOW, 2.0)
    track, [(kind, fired)] = end_ride(
        RideState(total=7.0, anchor=place, last_fix=seen, ride=ride)
    )
    assert kind == "ended"
    assert fired.distance == pytest.approx(2 + more, abs=1e-4)
    assert track.total == pytest.approx(7 + more, abs=1e-4)
    assert track.last == track.ended == fired


@pytest.mark.parametrize("worked", [False, True])
def test_service_without_a_history(worked: bool) -> None:
    """Nothing is to be asked for, a week after it had one."""
    house = House(has_history=worked)
    for report in reports_of((5, 0), (10, 15), (7, 0))[::6]:
        house.report(report, time_of(report))
    house.has_history = False
    for days in (0, 6, 8):
        now = minutes(days * 24 * 60 + 30)
        house.report(report._replace(fix_time=now), now)
        assert bool(house.state.gap) is (worked and days < 7)
    assert house.kinds == ["started", "ended"]
    assert len(house.book) == 1


@pytest.mark.parametrize("at_once", [1_000, 100])
def test_rides_of_a_day_without_home_assistant(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """Each is fired with its own times, oldest first, after the one that goes on."""
    monkeypatch.setattr(f"{HistoryAnswer.__module__}._MAX_REPORTS", at_once)
    rides = [(10, 15), (60, 0), (10, -15), (300, 0), (8, 20), (8, 0), (8, -20), (8, 0)]
    reports = reports_of((5, 0), *rides, (3, 12))
    # The bike reports on until the answer comes.
    house, last = House(), reports[-3]
    house.report(reports[0], NOW)
    house.report(last, time_of(last), away=True)
    assert house.kinds == ["started"]
    assert house.state.gap
    assert house.state.gap.start == NOW
    house.answer(reports, time_of(reports[-1]) + _SECOND)
    assert house.kinds == ["started"] + ["started", "ended"] * 4
    starts = [ride.started_at for kind, ride in house.fired[1:] if kind == "started"]
    assert starts == sorted(starts)
    assert len(house.book) == 4
    assert house.state.ride_state
    assert house.state.ride_state.ride


@pytest.mark.parametrize("counts", [True, False])
def test_round_trip_between_two_polls(counts: bool) -> None:
    """The server's count tells that there was one, where it counts."""
    reports = [
        report._replace(total_distance=min(number * 0.06, 0.6) if counts else None)
        for number, report in enumerate(reports_of((1, 20), (1, -20), (1, 0)))
    ]
    house, last = House(), reports[-1]
    house.report(reports[0], NOW)
    house.report(last, time_of(last))
    assert (house.state.gap is not None) is counts
    if counts:
        house.answer(reports, time_of(last) + _SECOND)
        house.report(last._replace(id=99, fix_time=minutes(10)), minutes(10))
        house.wait(minutes(11))
        assert house.kinds == ["started", "ended"]


@pytest.mark.parametrize("back", [15, -15], ids=["there", "and back"])
@pytest.mark.parametrize("ahead", [0, 1], ids=["", "by a clock ahead"])
def test_service_that_ignores_since_when_it_is_asked(back: float, ahead: float) -> None:
    """Its newest report is no history: a ride stays as polls saw it, and is fired at once."""
    reports = reports_of((5, 0), (10, 15), (10, back), (20, 0))
    houses = House(), House(has_history=False)
    for house in houses:
        for report in reports[::6]:
            now = time_of(report) - timedelta(minutes=ahead)
            house.report(report, now)
            if gap := house.state.gap:
                answer = HistoryAnswer([report], max(now, gap.known))
                house.look(house.state.with_history(answer, house.at(now)))
    asked, never = houses
    assert asked.kinds == ["started", "ended"]
    assert asked.fired == never.fired
    assert asked.book == never.book
    assert asked.totals[-1] == never.totals[-1]


def test_history_in_portions() -> None:
    """What lacks after the first one is asked for from there on."""
    reports = reports_of((5, 0), (10, 15), (60, 0), (10, -15), (9, 0))
    house, last = House(), reports[-1]
    house.report(reports[0], NOW)
    house.report(last, time_of(last), away=True)
    house.answer(reports, minutes(95), until=minutes(40))
    assert house.state.gap
    assert house.state.gap.start == minutes(40)
    assert house.kinds == []
    house.answer(reports, minutes(96))
    assert house.kinds == ["started", "ended"] * 2


def test_portion_that_ends_with_a_ride() -> None:
    """The next one lacks nothing of it, where the tracker slept meanwhile."""
    *reports, last = reports_of((5, 0), (10, 15), (105, 0))
    house, reports = House(), reports[:90]
    house.report(reports[0], NOW)
    house.report(reports[-1], time_of(reports[-1]), away=True)
    house.wait(minutes(46))
    house.report(last, time_of(last))
    for found, until in (reports, minutes(60)), ([last], minutes(121)):
        answer, moment = HistoryAnswer(found, until), house.at(minutes(121))
        house.look(house.state.with_history(answer, moment))
    assert house.book == _true([*reports, last], minutes(121))


def test_alarms_of_the_last_hour() -> None:
    """They are fired, but not older ones, and none again, however many there were."""
    reports = [
        report._replace(alarm=f"alarm{number}" if number % 12 == 0 else None)
        for number, report in enumerate(reports_of((30, 0), (60, 15), (30, 0)))
    ]
    house = House()
    for report in reports[-100::12]:
        house.report(reports[0], NOW) if not house.fired else None
        house.report(report, time_of(report), away=True)
    fired = list(house.alarms)
    last = time_of(reports[-1])
    house.answer(reports, last + _SECOND)
    expected = [
        report.alarm
        for report in reports
        if report.alarm and report.fix_time and last - report.fix_time < _HOUR
    ]
    assert len(house.alarms) == len(set(house.alarms))
    assert set(expected) <= set(house.alarms) <= {*expected, *fired}


@pytest.mark.parametrize("ahead", [0, 4])
def test_alarms_on_a_long_ride(ahead: int) -> None:
    """None is fired again, also if the clock of the tracker is a little ahead."""
    house = House()
    reports = [
        report._replace(alarm=f"alarm{number}")
        for number, report in enumerate(reports_of((5, 0), (90, 15), (10, 0), every=60))
    ]
    for report in reports:
        house.report(report, time_of(report) - timedelta(minutes=ahead))
    last = time_of(reports[-1]) + _SECOND
    house.answer(reports, last - timedelta(minutes=ahead), last)
    assert house.alarms == [report.alarm for report in reports]


def test_clock_that_is_ahead() -> None:
    """The history of such a tracker tells of other times: it is not asked for."""
    house = House()
    for report in reports_of((5, 0), (10, 15), (7, 0))[::6]:
        ahead = time_of(report) + timedelta(hours=2)
        late = report._replace(fix_time=ahead, device_time=ahead)
        house.report(late, time_of(report), away=True)
        assert house.state.gap is None
    assert house.kinds == ["started", "ended"]


@pytest.mark.parametrize(
    ("every", "held", "late_after"),
    [(10, range(37, 57), 60), (10, range(37, 57), None), (30, range(15, 16), 16)],
)
def test_dead_zone_while_live_works(
    every: float, held: range, late_after: int | None
) -> None:
    """Reports that come behind a newer one, or never over live, are asked for."""
    reports, house = reports_of((5, 0), (5, 15), (8, 0), every=every), House()
    for number, report in enumerate(reports):
        if number not in held:
            house.report(report, time_of(report), is_complete=True)
        if number == late_after:
            for late in reversed(held):
                moment = house.at(time_of(report), is_complete=True)
                house.look(house.state.with_older_report(reports[late], moment))
    assert house.kinds == ["started", "ended"]
    house.answer(reports, minutes(18))
    assert house.book == _true(reports, minutes(18))


@pytest.mark.parametrize("rows", [100, 0], ids=["first rows", "database lost"])
def test_history_without_what_is_known(rows: int) -> None:
    """What is known of these rides stays; what was before the first becomes exact."""
    reports = reports_of((5, 0), (5, 15), (8, 0), (10, -15), (20, 15), (8, 0))
    house = House()
    for report in reports[::6]:
        house.report(report, time_of(report))
    [first, second] = house.book
    at = minutes(60)
    house.answer(reports[:100] if rows else reports[-30:], at)
    assert house.kinds == ["started", "ended"] * 2
    exact = _true(reports, at)[0] if rows else first
    assert house.book == [exact, second]
    assert house.state.gap is None


# Whatever is reported, whatever of it comes, whenever the history comes

_gaps = st.sampled_from([0.2, 1, 1, 1, 4, 5, 10, 31, 600])
_metres = st.sampled_from([0, 0, 10, -60, 60, 250, -250, 250, 2_000, 90_000])
_says = st.fixed_dictionaries(
    {
        "motion": st.none() | st.booleans(),
        "speed": st.none() | st.sampled_from([0.0, 0.0, 2.0, 15.0, 100.0]),
        "accuracy": st.sampled_from([0.0, 5.0, 50.0]),
        "is_fix": st.sampled_from([True, True, True, False]),
    }
)


@st.composite
def _reports(draw: st.DrawFn) -> list[Position]:
    """Draw what a tracker reports in some days, at last that it stands."""
    time, metres, reports = NOW, 0, list[Position]()
    steps = draw(st.lists(st.tuples(_gaps, _metres, _says), min_size=2, max_size=30))
    stands: dict[str, Any] = {"motion": False, "speed": 0.0}
    for gap, step, says in (*steps, (40, 0, stands), (1, 0, stands)):
        time += timedelta(minutes=gap)
        metres += step
        latitude = 47.9 + metres / 111_195
        fields = {"fix_time": time, "device_time": time, "latitude": latitude, **says}
        reports.append(a_position(len(reports) + 1, **fields))
    return reports


def _true(reports: list[Position], now: datetime) -> list[Ride]:
    """Return the rides that went anywhere, as all reports in order tell them."""
    track, over = replayed(RideState(), reports, now)
    _, changes = end_ride(track)
    rides = [*over.values(), *(ride for _, ride in changes)]
    return [ride for ride in rides if ride.distance]


@every
@given(_reports(), st.randoms(use_true_random=False), st.booleans())
def test_any_part_came_before(
    reports: list[Position], random: Random, is_prompt: bool
) -> None:
    """In the end the rides are those of all reports, each fired once, and no total falls.

    What lacks is told from by the histories, of which some are late and some are lost.
    """
    house, before, now = House(), 0, NOW
    coming: list[tuple[list[Position], datetime]] = []
    for number, report in enumerate(reports):
        is_last = number == len(reports) - 1
        if number and not is_last and random.random() < 0.6:
            continue
        now = time_of(report)
        is_missing = number > before + 1
        house.report(report, now, is_complete=not is_missing, away=is_missing)
        before = number
        if coming and random.random() < 0.5:
            answer = HistoryAnswer(*coming.pop(0))
            house.look(house.state.with_history(answer, house.at(now)))
        if house.state.gap and is_prompt:
            house.answer(reports[: number + 1], now)
        elif house.state.gap and not coming and random.random() < 0.5:
            coming = [(reports[: number + 1], now)]
    if house.state.gap:
        house.answer(reports, now + _SECOND)
    house.wait(now + _HOUR)
    rides = _true(reports, now + _HOUR)
    assert sorted(ride[:4] for ride in house.book) == [ride[:4] for ride in rides]
    assert house.kinds.count("started") == house.kinds.count("ended")
    assert house.totals == sorted(house.totals)


# Of a report that comes late, or of a clock that is wrong, by minutes to weeks.
_CLOCKS = [0, 0, 0, 1, 45, 480, 20_000, -60, -20_000]


@every
@given(_reports(), st.randoms(use_true_random=False))
def test_nothing_is_fired_again(reports: list[Position], random: Random) -> None:
    """Whatever a history has of a gap, up to when, and however late it comes."""
    house, now = House(), NOW
    coming = list[HistoryAnswer]()
    for number, report in enumerate(reports):
        is_known = random.random() < 0.5 or number == len(reports) - 1
        now = time_of(report) + timedelta(minutes=random.choice(_CLOCKS))
        if is_known:
            house.report(report, now, away=random.random() < 0.3)
        else:
            house.wait(now)
        if gap := house.state.gap:
            until = random.choice([now, gap.known, gap.start + timedelta(hours=1)])
            lost = random.choice([0, 0, 0, 0.3, 1])
            found = [
                it
                for it in reports[: number + 1]
                if gap.start <= time_of(it) <= until and random.random() >= lost
            ]
            coming.insert(random.randint(0, len(coming)), HistoryAnswer(found, until))
        if coming and random.random() < 0.5:
            house.look(house.state.with_history(coming.pop(), house.at(now)))
    house.wait(NOW + timedelta(days=30))
    over = [ride.started_at for kind, ride in house.fired if kind == "ended"]
    assert len(over) == len(set(over)) == house.kinds.count("started")
    booked = [ride.started_at for ride in house.book]
    assert len(booked) == len(set(booked))


def test_error_costs_one_tracker(
    account: Account,
    read: Callable[..., Mapping[str, Device]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An unexpected one is logged with the account; the tracker stays as it was."""
    known = a_position(device_time=NOW)
    context = UpdateContext(NOW)
    account.apply_poll(read(a_device()), {"red": known}, context)
    answer = HistoryAnswer([known], NOW)
    with monkeypatch.context() as broken:
        broken.setattr(TrackerState, "with_history", Mock(side_effect=RuntimeError))
        assert not account.apply_history("red", answer, context).keys
    assert account.trackers["red"].position is known
    assert "Bikes: Unexpected error updating a tracker" in caplog.text


def test_ride_that_was_fired_as_over_and_went_on() -> None:
    """The rest is fired as another one; the book knows that it was one."""
    reports = reports_of((5, 0), (50, 15), (12, 0))
    house = House()
    for report in reports[:60:6]:
        house.report(report, time_of(report))
    house.wait(minutes(41))
    house.wait(minutes(42))
    assert house.kinds == ["started", "ended"]
    house.report(reports[300], time_of(reports[300]), away=True)
    house.answer(reports[:301], time_of(reports[300]) + _SECOND)
    for report in reports[301::6]:
        house.report(report, time_of(report))
    house.answer(reports, minutes(69))
    assert house.kinds == ["started", "ended"] * 2
    assert house.book == _true(reports, minutes(69))


@pytest.mark.parametrize("away", [True, False])
def test_ride_that_a_wrong_clock_ended(away: bool) -> None:
    """It goes on with the next report, and is fired and booked once."""
    reports, house = reports_of(*[(5, 0), (10, 15)] * 2, (7, 0)), House()
    for report in reports[::3]:
        house.report(report, time_of(report), is_complete=True)
        house.wait(time_of(report) + timedelta(days=9))
        house.report(report._replace(device_time=minutes(99)), minutes(99), away=away)
    assert house.kinds == ["started", "ended"] * 2
    exact = _true(reports[::3], minutes(99))
    assert [it[:2] for it in house.book] == [it[:2] for it in exact]
    assert house.totals[-1] == pytest.approx(sum(it.distance for it in exact))


def test_no_more_than_seven_days() -> None:
    """Are asked for before the newest report, by whatever clock it was received."""
    house, later = House(), NOW + timedelta(days=20)
    house.report(a_position(1, fix_time=NOW), NOW)
    house.report(a_position(2, fix_time=later), NOW + timedelta(days=99), away=True)
    assert house.state.gap
    assert house.state.gap.start == later - timedelta(days=7) + _HOUR
    house.report(a_position(3, fix_time=later + 2 * _HOUR), later + 2 * _HOUR)
    assert house.state.gap is None


def test_history_of_an_account() -> None:
    """Of a tracker that is listed, once."""
    account, reports = Account("Bikes", {}), reports_of((5, 0), (10, 15), (7, 0))
    now = NOW
    for report in reports[::6]:
        devices, now = {"red": a_device(position_id=report.id)}, time_of(report)
        moment = UpdateContext(now, has_history=True)
        account.apply_poll(devices, {"red": report}, moment)
    answer, moment = HistoryAnswer(reports, now), UpdateContext(now, has_history=True)
    assert account.gaps.keys() == {"red"}
    assert not account.apply_history("blue", answer, moment).keys
    assert account.apply_history("red", answer, moment).keys == {"red"}
    assert account.gaps == {}
    assert not account.apply_history("red", answer, moment).keys


def test_message_that_came_after_the_question() -> None:
    """What it said stays."""
    reports = reports_of((5, 0), (10, 15), (7, 0))
    house = House()
    for report in reports[::6]:
        house.report(report, time_of(report))
    again = report._replace(id=999, device_time=minutes(30), motion=True, is_fix=False)
    house.report(again, minutes(30))
    house.answer(reports, minutes(29))
    assert house.state.ride_state
    assert house.state.ride_state.reported_at == minutes(30)
    assert house.state.ride_state.says_it_moves
