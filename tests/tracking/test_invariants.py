"""Invariants of the log, of stored rides, of the guard and of fired events. They hold in random stories."""

from datetime import datetime, timedelta
from random import Random
from typing import Any

from hypothesis import given, strategies as st

from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.tracking.history import HistoryAnswer, history_input
from custom_components.bike_tracker.tracking.log import Input, Log, apply

from ..long import examples
from ..tools.rides.home import Service
from .conftest import NOW, a_position
from .house import SECOND, Bike, House, lived, minutes, time_of, true_rides

every = examples(60)
_HOUR = timedelta(hours=1)
_ARMINGS = {"arm", "disarm", "disarm cut_off"}


# Random stories: scripts of legs and steps, as in house.py

_legs = st.sampled_from(
    [
        *("stand 1", "stand 3", "stand 6", "stand 12", "stand 2 motion=yes"),
        *("stand 2 is_fix=no", "stand 1 is_fix=no motion=yes", "stand 1 latitude=none"),
        *("stand 1 alarm=vibration", "stand 1 alarm=powerCut", "stand 9 accuracy=50"),
        *("ride 1 @15", "ride 3 @15", "ride 3 @-15", "ride 9 @18", "ride 5 @-9"),
        *("ride 2 @15 alarm=tow", "ride 3 @12 speed=none motion=none"),
        *("sleep 5", "sleep 31", "sleep 700", "wait 2", "wait 31"),
        *("jump 30", "jump -60", "jump 200", "jump -400", "jump 2000", "jump -90000"),
        *("bike age=9", "bike age=0", "bike behind=180", "bike behind=-90"),
        *("bike behind=0", "bike every=10", "bike every=60"),
    ]
)
_house = st.sampled_from(
    [
        *("receive poll", "receive sixth", "receive live", "receive hold"),
        *("receive outage", "deliver newest", "deliver at once", "deliver in order"),
        *("history", "history rows=20", "history rows=0", "request", "request lacks=3"),
        *("request lacks=1", "respond", "respond", "arm", "arm", "disarm", "kill"),
        *("disarm cut_off", "dusk"),
        *("clock 45", "clock -45", "clock 480", "clock -20000", "clock 20000"),
        "clock 0",
    ]
)
_says = st.fixed_dictionaries(
    {},
    optional={
        "motion": st.sampled_from([None, True, False]),
        "speed": st.sampled_from([None, 0.0, 9.0]),
        "accuracy": st.sampled_from([0.0, 15.0]),
        "server_time": st.none(),
    },
)


@every
@given(st.lists(_legs | _legs | _house, max_size=30), _says, st.booleans())
def test_any_story(script: list[str], says: dict[str, Any], has_history: bool) -> None:
    """After each step of a random story, the log, stored rides and fired events are consistent (see `_hold`).

    A triggered guard stays triggered, and a kill changes no stored value. In the end,
    each ride that started has ended.
    """
    house = House(Service(has_history), bike=Bike(says))
    for step in script:
        before = house.state
        house.live(step)
        _hold(house)
        triggered = before.guard and before.guard.triggered
        if triggered and not before.rearming and step not in _ARMINGS:
            guard = house.state.guard
            assert guard and guard.triggered
            # Compare only cause and time, because the database rounds the distance.
            same = guard.triggered[:2] == triggered[:2]
            assert same or triggered.cause == "alarm"
        if step == "kill":
            kept = "guard", "announced", "occurrences", "alarms", "changed_by"
            kept_too = "position", "moving", "online", "rearming", "last_theft"
            for name in kept + kept_too:
                old, new = getattr(before, name), getattr(house.state, name)
                assert _rounded(new) == _rounded(old)
    house.live("clock 0, receive poll, stand 1")
    assert house.state.position and house.state.position.id == len(house.bike.sent)
    house.live("history, stand 40")
    house.wait(NOW + timedelta(days=90))
    _hold(house)
    assert house.kinds.count("ended") == house.kinds.count("started")


def _rounded(value: Any) -> Any:
    """Return a value whose numbers are rounded as in the database."""
    if isinstance(value, tuple):
        return tuple(map(_rounded, value))
    if isinstance(value, dict):
        return {key: _rounded(it) for key, it in value.items()}
    return round(value, 7) if isinstance(value, float) else value


def _hold(house: House) -> None:
    """Check the invariants of the log, announced rides, stored rides and totals."""
    log, core = house.state.log, house.state.log.settled
    for it in log.inputs:
        core = apply(core, it)
        assert it.core == core
    assert len(log.inputs) <= 1_000
    assert [*core.ride_state.rides] == sorted(core.ride_state.rides)
    guard = log.core.guard
    assert bool(house.state.guard) is bool(guard and guard.is_shown)
    is_open = sum(it.is_open for it in house.state.announced)
    assert house.kinds.count("started") - house.kinds.count("ended") == is_open <= 1
    booked = [ride.started_at for ride in house.book]
    assert len(booked) == len(set(booked))
    assert all(it.distance and it.started_at <= it.moved_at for it in house.book)
    assert house.totals == sorted(house.totals)


@every
@given(
    clock=st.sampled_from([0, 0, -480, 480, -12_000, 12_000]),
    right_at=st.sampled_from([2, 25, 60]),
    outage=st.tuples(st.integers(3, 20), st.integers(0, 18)),
    late=st.integers(0, 5),
    portion=st.integers(1, 20),
    theft=st.none() | st.integers(6, 30),
    distance=st.sampled_from([0, 300, 3_000]),
)
def test_any_evening(
    clock: int,
    right_at: int,
    outage: tuple[int, int],
    late: int,
    portion: int,
    theft: int | None,
    distance: int,
) -> None:
    """A theft triggers the guard once, and nothing else triggers it, despite wrong clocks, outages and late answers."""
    begin, lasts = outage
    end, answer_at = begin + lasts, begin + lasts + late
    events = [(right_at, "clock 0"), (begin, "receive outage"), (end, "receive poll")]
    if theft:
        events += [(theft, f"jump {distance}"), (theft + 2, f"jump {-distance}")]
    house = lived(f"clock {clock}, ride 20 @12, stand 12, arm")
    for minute in range(45):
        for event in (it for at, it in events if at == minute):
            house.live(event)
        moves = theft is not None and 0 <= minute - theft < 2
        house.live("stand 1 motion=yes" if moves else "stand 1")
        if minute >= answer_at:
            until = min(begin + portion, minute)
            house.live(f"history until={32 + until}, history")
    assert len(house.triggered) == (theft is not None)


# Random reports

_gaps = st.sampled_from([0.2, 1, 1, 1, 4, 5, 10, 31, 600])
_meters = st.sampled_from([0, 0, 10, -60, 60, 250, -250, 250, 2_000, 90_000])
_values = st.fixed_dictionaries(
    {
        "motion": st.none() | st.booleans(),
        "speed": st.none() | st.sampled_from([0.0, 0.0, 2.0, 15.0, 100.0]),
        "accuracy": st.sampled_from([0.0, 5.0, 50.0]),
        "total_distance": st.none() | st.floats(0, 1_000),
        "is_fix": st.sampled_from([True, True, True, False]),
    }
)


@st.composite
def _reports(draw: st.DrawFn) -> list[Position]:
    """Draw random reports of some days. In the end, the bike stands."""
    time, meters, reports = NOW, 0, list[Position]()
    steps = draw(st.lists(st.tuples(_gaps, _meters, _values), min_size=2, max_size=30))
    stands: dict[str, Any] = {"motion": False, "speed": 0.0}
    for gap, step, says in (*steps, (40, 0, stands), (1, 0, stands)):
        time += timedelta(minutes=gap)
        meters += step
        fields = {"latitude": 47.9 + meters / 111_195, **says}
        fields |= dict.fromkeys(("fix_time", "device_time", "server_time"), time)
        reports.append(a_position(len(reports) + 1, **fields))
    return reports


def _inputs(reports: list[Position]) -> list[Input]:
    return [history_input(it, minutes(99_999)) for it in reports]


@every
@given(_reports(), st.randoms(use_true_random=False))
def test_any_order(reports: list[Position], random: Random) -> None:
    """While no input is settled, the core does not depend on the order and grouping in which reports arrive."""
    expected = Log().with_inputs(_inputs(reports)).core
    log, left = Log(), _inputs(reports)
    random.shuffle(left)
    while left:
        count = random.randint(1, 4)
        log, left = log.with_inputs(left[:count]), left[count:]
        log = log.with_inputs(_inputs(reports[:2])) if log.inputs[1:] else log
    assert log.core == expected


@every
@given(_reports(), st.randoms(use_true_random=False), st.booleans())
def test_any_parts(reports: list[Position], random: Random, is_prompt: bool) -> None:
    """If polls show only some reports, the history adds the rest. In the end, the stored rides have the true times."""
    house, before, now = House(), 0, NOW
    coming = list[tuple[list[Position], datetime]]()
    for number, report in enumerate(reports):
        is_last = number == len(reports) - 1
        if number and not is_last and random.random() < 0.6:
            continue
        now = time_of(report)
        is_missing = number > before + 1
        house.poll(report, is_complete=not is_missing, recovering=is_missing)
        before = number
        if coming and random.random() < 0.5:
            house.apply(HistoryAnswer(*coming.pop()), now)
        if house.state.gap and is_prompt:
            house.answer(reports[: number + 1], now)
        elif house.state.gap and not coming and random.random() < 0.5:
            coming = [(reports[: number + 1], now)]
    for _ in range(9):
        if house.state.gap:
            house.answer(reports, now + SECOND)
    house.wait(NOW + timedelta(days=90))
    _hold(house)
    quiet = time_of(reports[0])
    true = [it for it in true_rides(reports, now + _HOUR) if it.moved_at > quiet]
    assert [it[:2] for it in house.book] == [it[:2] for it in true]
