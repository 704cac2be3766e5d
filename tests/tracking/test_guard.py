"""What triggers the guard of a bike, and what does not."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from custom_components.bike_tracker.api import Position
from custom_components.bike_tracker.tracking import (
    Account,
    Moment,
    Past,
    Remembered,
    Triggered,
)

from .conftest import NOW, ListOfDevices, a_device, a_position, no_fix

METRE = 1 / 111_195
MINUTE = timedelta(minutes=1)
PLACE = 47.9


class Bike:
    """A bike whose tracker reports each minute, and stands at first."""

    def __init__(self, behind: timedelta = timedelta(), **said: Any) -> None:
        """Say of accuracy, speed and motion what the tracker always says."""
        self._behind = behind
        self.account = Account(Remembered())
        self.now = NOW
        self._said = {"motion": False, **said}
        self._read = ListOfDevices().read
        self._number = 0
        for _ in range(3):
            self.report()

    @property
    def triggered(self) -> Triggered | None:
        """Return what triggered the guard."""
        guard = self.account.trackers["red"].story.guard
        return guard and guard.triggered

    def arm(self) -> None:
        """Guard it, halfway to the next report."""
        assert self.account.arm("red", self.now + MINUTE / 2)

    def report(
        self,
        metres: float = 0,
        *,
        age: timedelta = timedelta(),
        of: Callable[..., Position] = a_position,
        **said: Any,
    ) -> Triggered | None:
        """Report that it is so far away; return what triggered the guard."""
        self.now += MINUTE
        time = self.now - self._behind - age
        fix = {"fix_time": time, "latitude": PLACE + metres * METRE}
        fix = {**fix, **self._said} if of is a_position else {}
        self._number += 1
        position = of(self._number, **{**fix, "device_time": time, **said})
        self._poll(position)
        return self.triggered

    def _poll(self, position: Position) -> None:
        device = a_device(position_id=position.id)
        self.account.take(self._read(device), {"red": position}, Moment(self.now))


@pytest.fixture
def bike() -> Bike:
    """Return a guarded bike."""
    bike = Bike()
    bike.arm()
    return bike


def recall(bike: Bike, reports: list[Position]) -> None:
    """Take in what the service's history tells."""
    moment = Moment(bike.now, has_history=True)
    bike.account.take_past("red", Past(reports, bike.now), moment)


def test_rides_off(bike: Bike) -> None:
    """The first report tells that it is elsewhere, when, and how far."""
    triggered = bike.report(120, motion=True)
    assert triggered is not None
    assert (triggered.cause, triggered.since) == ("place", bike.now)
    assert triggered.described()["distance"] == 120
    assert triggered.heard_at == bike.now


def test_rides_off_and_tells_no_motion() -> None:
    """Its speed is enough."""
    bike = Bike(motion=None, speed=0.0)
    bike.arm()
    assert bike.report(120, speed=3.0)


def test_begins_to_move(bike: Bike) -> None:
    """It says so, wherever it is."""
    triggered = bike.report(5, motion=True)
    assert triggered is not None
    assert triggered.cause == "motion"


def test_moves_without_a_place(bike: Bike) -> None:
    """It was where it was seen last, and moves since that message."""
    triggered = bike.report(of=no_fix, motion=True)
    assert triggered == Triggered("motion", bike.now, 0, bike.now)


def test_moved_all_the_time() -> None:
    """What it always said says nothing."""
    bike = Bike(motion=True)
    bike.arm()
    assert not bike.report()
    assert not bike.report(motion=None)
    assert not bike.report(motion=False)
    assert not bike.report(motion=None)
    assert bike.report()


def test_carried_off(bike: Bike) -> None:
    """The second report tells, if that is there too."""
    assert not bike.report(200)
    triggered = bike.report(210)
    assert triggered is not None
    assert triggered.cause == "place"


def test_seen_elsewhere_once(bike: Bike) -> None:
    """Positions that jump are not believed, however often."""
    for metres in (200, 0, -800, 900, 0, 300, 0):
        assert not bike.report(metres)


def test_seen_elsewhere_three_times(bike: Bike) -> None:
    """It is believed, wherever that was."""
    assert not bike.report(200)
    assert not bike.report(-800)
    assert bike.report(500)


def test_position_that_is_sent_again(bike: Bike) -> None:
    """It confirms nothing."""
    assert not bike.report(200)
    time = bike.now
    for _ in range(5):
        assert not bike.report(200, fix_time=time)
    assert bike.report(200)


def test_tracker_that_does_not_say_whether_it_moves() -> None:
    """The second report elsewhere tells."""
    bike = Bike(motion=None)
    bike.arm()
    assert not bike.report(200)
    assert bike.report(500)


def test_far_away(bike: Bike) -> None:
    """One report is enough, if it can be there by now."""
    assert not bike.report(1_500)
    assert not bike.report(0)
    bike.now += 10 * MINUTE
    assert bike.report(1_500)


@pytest.mark.parametrize(
    ("said", "near", "away"),
    [({"accuracy": 5.0}, 49, 51), ({"accuracy": 30.0}, 179, 181), ({}, 149, 151)],
)
def test_how_far(said: dict[str, Any], near: float, away: float) -> None:
    """It is what the accuracies explain, and more where none is told."""
    bike = Bike(**{"accuracy": 0.0, **said}, speed=5.0)
    bike.arm()
    assert not bike.report(near)
    assert bike.report(away)


def test_positions_that_drift() -> None:
    """A tracker that errs more than it says is believed no more than one that says nothing."""
    bike = Bike()
    for metres in (100, 0, 0):
        bike.report(metres)
    bike.arm()
    for _ in range(5):
        assert not bike.report(120)
    assert not bike.report(160)
    assert bike.report(160)


def test_positions_that_stray() -> None:
    """Where walls reflect its signals for minutes it has to be for longer."""
    bike = Bike()
    for metres in (100, 100, 0, 0, 200, 200, 0, 0, 0):
        bike.report(metres)
    bike.arm()
    for _ in range(2):
        assert not any(bike.report(200) for _ in range(10))
        assert not bike.report(0)
    told = [bool(bike.report(200)) for _ in range(11)]
    assert told == [False] * 10 + [True]


@pytest.mark.parametrize(
    "word",
    [
        *("vibration", "shock", "movement", "tow", "tampering", "removing"),
        *("powerCut", "geofenceExit", "jamming", "lowBattery,tow"),
    ],
)
def test_alarm(bike: Bike, word: str) -> None:
    """That the tracker noticed somebody is enough."""
    triggered = bike.report(alarm=word)
    assert triggered == Triggered("alarm", bike.now, 0, bike.now)


def test_other_alarms(bike: Bike) -> None:
    """They say nothing of a thief."""
    for word in ("lowBattery", "sos", "geofenceEnter", "what"):
        assert not bike.report(alarm=word)


def test_alarm_of_an_older_position(bike: Bike) -> None:
    """It counts by the time of its message."""
    position = a_position(fix_time=bike.now - MINUTE, alarm="tow")
    position = position._replace(device_id=sum(b"red"))
    for number, is_told in ((-2, False), (-1, True)):
        time = bike.now + MINUTE * (number + 2)
        reported = position._replace(id=number, device_time=time)
        bike.account.hear([], [reported], Moment(bike.now + MINUTE))
        assert bool(bike.triggered) is is_told


def test_once(bike: Bike) -> None:
    """It stays triggered, as it was."""
    triggered = bike.report(200, motion=True)
    assert triggered
    assert bike.report(900, motion=True, alarm="tow") == triggered
    assert bike.report(0) == triggered


@pytest.mark.parametrize(
    ("begins", "said", "is_told"),
    [
        (7, {"motion": True}, True),
        (7, {"motion": False}, False),
        (7, {"motion": True, "latitude": PLACE}, False),
        (7, {"motion": True, "fix_time": None}, False),
        # It may have been armed on its last metres.
        (2, {"motion": True}, False),
    ],
)
def test_brought_back(
    bike: Bike, begins: int, said: dict[str, Any], is_told: bool
) -> None:
    """The service's history tells of a ride of which nothing was heard."""
    armed_at = bike.now
    bike.now += 9 * MINUTE
    assert not bike.report()
    past = [
        a_position(
            50 + number,
            **{
                "fix_time": armed_at + (begins + number) * MINUTE,
                "latitude": PLACE + 400 * METRE,
                **said,
            },
        )
        for number in range(2)
    ]
    recall(bike, past)
    triggered = bike.triggered
    assert (triggered is not None) is is_told
    if triggered:
        assert (triggered.cause, round(triggered.distance)) == ("place", 400)
        assert triggered.since == armed_at + begins * MINUTE


@pytest.mark.parametrize(
    ("seen", "is_told"),
    [
        ({7: 400, 8: 400}, True),
        ({8: 405}, True),
        # It was back, or jumped to another place, or may have been arriving.
        ({7: 400, 8: 0}, False),
        ({7: 400, 8: -400}, False),
        ({1: 400, 2: 400}, False),
        ({}, False),
    ],
)
def test_carried_off_meanwhile(
    bike: Bike, seen: dict[int, float], is_told: bool
) -> None:
    """The history has the report before the one that is in doubt."""
    armed_at = bike.now
    bike.report()
    bike.now += 8 * MINUTE
    assert not bike.report(400)
    past = [
        a_position(
            50 + minutes,
            fix_time=armed_at + minutes * MINUTE,
            latitude=PLACE + metres * METRE,
        )
        for minutes, metres in seen.items()
    ]
    recall(bike, past)
    assert bool(bike.triggered) is is_told
    if bike.triggered:
        assert (bike.triggered.cause, bike.triggered.since) == ("place", bike.now)


@pytest.mark.parametrize(("minutes", "is_told"), [(9, False), (11, True)])
def test_strayed_meanwhile(minutes: int, is_told: bool) -> None:
    """Where walls reflect its signals it has to have been there for longer."""
    bike = Bike()
    for metres in (100, 100, 0, 0, 200, 200, 0, 0, 0):
        bike.report(metres)
    bike.arm()
    bike.report()
    bike.now += 29 * MINUTE
    assert not bike.report(200)
    before = bike.now - minutes * MINUTE
    recall(bike, [a_position(50, fix_time=before, latitude=PLACE + 200 * METRE)])
    assert bool(bike.triggered) is is_told


def test_disarmed(bike: Bike) -> None:
    """Nothing triggers it."""
    bike.account.disarm("red")
    assert not bike.report(900, motion=True, alarm="tow")


def test_armed_anew(bike: Bike) -> None:
    """It is guarded where it is now, and numbers only grow."""
    before = bike.report(200, motion=True)
    assert before
    told = bike.now + 9 * MINUTE
    bike.account.note_told("red", "guard", told)
    for _ in range(3):
        bike.report(200)
    bike.arm()
    assert not bike.report(200)
    after = bike.report(0, motion=True)
    assert after
    assert after.heard_at > told


def test_older_reports(bike: Bike) -> None:
    """What was measured before it was armed tells better where that was."""
    assert not bike.report(150, age=MINUTE * 0.75, motion=True, alarm="tow")
    for _ in range(3):
        assert not bike.report(150)
    assert bike.report(0, motion=True)


def test_armed_on_arrival() -> None:
    """The report that it stands comes later than the person who arms it."""
    bike = Bike()
    for metres in (300, 600, 900):
        bike.report(metres, motion=True, speed=18.0)
    bike.arm()
    for metres in (1_100, 1_100, 1_105):
        assert not bike.report(metres)
    triggered = bike.report(1_300, motion=True)
    assert triggered is not None
    assert triggered.described()["distance"] == 200


def test_armed_while_it_rides() -> None:
    """Nobody arrives for more than five minutes."""
    bike = Bike()
    bike.report(300, motion=True, speed=18.0)
    bike.arm()
    told = [bike.report(300 * n, motion=True, speed=18.0) for n in range(2, 9)]
    assert [bool(triggered) for triggered in told] == [False] * 5 + [True] * 2


def test_arrival_that_is_not_reported() -> None:
    """It is guarded where it is heard of again, or triggered if it moves by then."""
    for stands in (True, False):
        bike = Bike()
        bike.report(300, motion=True, speed=18.0)
        bike.arm()
        bike.now += timedelta(hours=1)
        for _ in range(3):
            assert bool(bike.report(900, motion=not stands)) is not stands
            bike.now += timedelta(hours=1)
        assert bike.report(1_100, motion=True)


def test_armed_where_it_was_not() -> None:
    """A position that jumped is not where it stands."""
    bike = Bike()
    bike.report(400)
    bike.arm()
    for _ in range(5):
        assert not bike.report(0)


@pytest.mark.parametrize("hours", [-2, 2])
def test_wrong_clock(hours: int) -> None:
    """Times are compared by the tracker's clock; it is guarded after five minutes."""
    bike = Bike(behind=timedelta(hours=hours))
    bike.arm()
    for _ in range(6):
        assert not bike.report()
    assert bike.report(200, motion=True)


def test_message_without_a_time(bike: Bike) -> None:
    """It changes nothing."""
    assert not bike.report(900, fix_time=None, device_time=None, motion=True)


def test_without_a_place() -> None:
    """It cannot be armed."""
    account, read = Account(Remembered()), ListOfDevices().read
    account.take(read(a_device(position_id=1)), {}, Moment(NOW))
    assert account.arm("red", NOW) is None
    account.take(read(a_device(position_id=1)), {"red": no_fix(1)}, Moment(NOW))
    assert account.arm("red", NOW) is None
