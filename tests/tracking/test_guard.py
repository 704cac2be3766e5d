"""What triggers the guard of a bike, and what does not."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.guard import Triggered
from custom_components.bike_tracker.tracking.history import HistoryAnswer
from custom_components.bike_tracker.tracking.occurrences import (
    Occurrence,
    OccurrenceType,
    UpdateContext,
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
        self.account = Account("Bikes", {})
        self.now = NOW
        self._said = {"motion": False, **said}
        self._read = ListOfDevices().read
        self._sent: list[Position] = []
        for _ in range(3):
            self.report()

    @property
    def triggered(self) -> Triggered | None:
        """Return what triggered the guard."""
        guard = self.account.trackers["red"].state.guard
        return guard and guard.triggered

    def occurrences(self, kind: OccurrenceType) -> list[Occurrence]:
        """Return what happened to it of one type."""
        story = self.account.trackers["red"].state
        return [item for item in story.occurrences if item.type == kind]

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
        self.send(metres, age=age, of=of, **said)
        return self.poll()

    def send(
        self,
        metres: float = 0,
        *,
        age: timedelta = timedelta(),
        of: Callable[..., Position] = a_position,
        **said: Any,
    ) -> None:
        """Report that it is so far away, while nobody polls."""
        self.now += MINUTE
        time = self.now - self._behind - age
        fix = {"fix_time": time, "latitude": PLACE + metres * METRE}
        fix = {**fix, **self._said} if of is a_position else {}
        number = len(self._sent) + 1
        self._sent.append(of(number, **{**fix, "device_time": time, **said}))

    def poll(self, *, recovering: bool = False) -> Triggered | None:
        """Poll for the newest report; return what triggered the guard."""
        position = self._sent[-1]
        device = a_device(position_id=position.id, last_update=self.now)
        moment = UpdateContext(self.now, recovering=recovering, has_history=True)
        self.account.apply_poll(self._read(device), {"red": position}, moment)
        return self.triggered

    def come_back(self) -> Triggered | None:
        """Poll after an outage, and ask for the history."""
        self.poll(recovering=True)
        gap = self.account.gaps["red"]
        past = [
            item for item in self._sent if item.fix_time and item.fix_time >= gap.start
        ]
        moment = UpdateContext(self.now, has_history=True)
        self.account.apply_history("red", HistoryAnswer(past, self.now), moment)
        return self.triggered


@pytest.fixture
def bike() -> Bike:
    """Return a guarded bike."""
    bike = Bike()
    bike.arm()
    return bike


def test_rides_off(bike: Bike) -> None:
    """The first report tells that it is elsewhere, when, and how far."""
    triggered = bike.report(120, motion=True)
    assert triggered is not None
    assert (triggered.cause, triggered.since) == ("place", bike.now)
    assert triggered.described()["distance"] == 120
    [occurrence] = bike.occurrences("guard_triggered")
    assert (occurrence.since, occurrence.noticed_at) == (triggered.since, bike.now)


def test_begins_to_move(bike: Bike) -> None:
    """It says so, wherever it is."""
    triggered = bike.report(5, motion=True)
    assert triggered is not None
    assert triggered.cause == "motion"


def test_first_word() -> None:
    """A tracker that never said whether its bike moves had not said that it stands."""
    bike = Bike(motion=None)
    bike.arm()
    bike.report(motion=True)
    assert bike.triggered is None


def test_noise_of_a_receiver(bike: Bike) -> None:
    """A speed of 2 km/h, of which the service makes motion, is none."""
    assert not any(bike.report(20, motion=True, speed=2.0) for _ in range(5))
    assert bike.report(20, motion=True, speed=4.0)


def test_tracker_that_always_says_it_moves() -> None:
    """That proves nothing where it said so before; a speed does."""
    bike = Bike(motion=True)
    bike.arm()
    assert not bike.report(20)
    assert not bike.report(60)
    assert bike.report(60, speed=9.0)


def test_carried_off(bike: Bike) -> None:
    """The second report tells, if that is there too."""
    assert not bike.report(200)
    triggered = bike.report(210)
    assert triggered is not None
    assert triggered.cause == "place"


def test_seen_elsewhere_three_times(bike: Bike) -> None:
    """It is believed, wherever that was."""
    assert not bike.report(200)
    assert not bike.report(-800)
    assert bike.report(500)


def test_tracker_that_does_not_say_whether_it_moves() -> None:
    """The second report elsewhere tells."""
    bike = Bike(motion=None)
    bike.arm()
    assert not bike.report(200)
    assert bike.report(500)


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


def test_positions_that_stray() -> None:
    """Where walls reflect its signals for minutes it has to be for longer."""
    bike = Bike()
    for metres in (100, 100, 0, 0, 200, 200, 0, 0, 0):
        bike.report(metres)
    bike.arm()
    for _ in range(2):
        assert not any(bike.report(200) for _ in range(10))
        assert not bike.report(0)
    fired = [bool(bike.report(200)) for _ in range(11)]
    assert fired == [False] * 10 + [True]


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
    assert triggered is not None
    assert triggered[:3] == ("alarm", bike.now, 0)


def test_alarm_that_lasts() -> None:
    """Reports repeat it, and nobody did it again: it counts once it was over."""
    bike = Bike(alarm="powerCut")
    bike.arm()
    assert not bike.report()
    # One that comes late, and was sent for something else, does not say that it was over.
    late = a_position(-1, fix_time=NOW, alarm="sos")._replace(device_id=sum(b"red"))
    bike.account.apply_message([], [late], UpdateContext(bike.now))
    assert not bike.report()
    assert not bike.report(alarm=None)
    assert bike.report()


def test_alarm_of_an_older_position(bike: Bike) -> None:
    """It counts by the time of its message."""
    position = a_position(fix_time=bike.now - MINUTE, alarm="tow")
    position = position._replace(device_id=sum(b"red"))
    for number, is_fired in ((-2, False), (-1, True)):
        time = bike.now + MINUTE * (number + 2)
        reported = position._replace(id=number, device_time=time)
        bike.account.apply_message([], [reported], UpdateContext(bike.now + MINUTE))
        assert bool(bike.triggered) is is_fired


@pytest.mark.parametrize(
    ("before", "said", "cause"),
    [
        (8, {"motion": True}, "place"),
        (8, {"motion": False}, "place"),
        (8, {"motion": True, "latitude": PLACE}, "motion"),
        (8, {"latitude": PLACE}, None),
        (8, {"latitude": PLACE, "alarm": "tow"}, "alarm"),
        (0, {"motion": True}, "place"),
        (0, {"latitude": PLACE, "motion": True}, "motion"),
    ],
)
def test_ridden_and_brought_back_in_an_outage(
    bike: Bike, before: int, said: dict[str, Any], cause: str | None
) -> None:
    """What the history tells counts as if it had come in time."""
    for _ in range(before):
        bike.report()
    noticed_at = bike.now + MINUTE
    for number in range(2):
        bike.send(400 + number, **said)
    for _ in range(9):
        bike.send()
    assert not bike.poll(recovering=True)
    triggered = bike.come_back()
    assert (triggered and triggered.cause) == cause
    if triggered and said.get("motion"):
        assert triggered.since == noticed_at


@pytest.mark.parametrize(
    ("seen", "is_triggered"),
    [((400, 400), True), ((400, 0, 400), False), ((400, -400), False)],
)
def test_carried_off_in_an_outage(
    bike: Bike, seen: tuple[float, ...], *, is_triggered: bool
) -> None:
    """The history has the report before the one that is in doubt."""
    bike.report()
    bike.report()
    for metres in seen:
        bike.send(metres)
    assert not bike.poll(recovering=True)
    assert bool(bike.come_back()) is is_triggered


def test_tracker_received_by_a_wrong_clock() -> None:
    """The guard is not deaf where the clock was put right before it was armed."""
    bike = Bike()
    wrong = timedelta(hours=8)
    bike.now -= wrong
    bike.report(age=-wrong)
    bike.now += wrong
    bike.arm()
    assert bike.report(200, motion=True)


def test_new_account_of_a_parked_bike() -> None:
    """A fix that is received late is no wrong clock: the way home triggers nothing."""
    bike = Bike()
    bike.now += timedelta(hours=3)
    bike.arm()
    bike.report(300, age=timedelta(minutes=40), motion=True, alarm="tow")
    bike.report(600, age=timedelta(minutes=40), motion=False)
    assert not bike.report(600, age=timedelta(minutes=40), motion=True)
    assert not bike.report(600)
    assert bike.report(800, motion=True)


@pytest.mark.parametrize("minutes", [25, 45, 90])
def test_arrival_lost(minutes: int) -> None:
    """It is guarded where it is received again, however long that takes."""
    bike = Bike()
    for metres in (300, 600, 900):
        bike.report(metres, motion=True, speed=18.0)
    bike.arm()
    for number in range(5):
        bike.now += timedelta(minutes=minutes if not number else 59)
        bike.poll()
        assert not bike.report(1_300)
    assert bike.report(1_500, motion=True)


def test_where_it_was_seen(bike: Bike) -> None:
    """What triggered it says where, and which alarm it was."""
    bike.report(120, motion=True, address="Canal")
    triggered = bike.triggered
    assert triggered
    assert triggered.described() == {
        "cause": "place",
        "since": bike.now.isoformat(),
        "distance": 120,
        "address": "Canal",
        "seen_latitude": PLACE + 120 * METRE,
        "seen_longitude": 7.8,
    }
    bike.account.disarm("red")
    bike.arm()
    bike.report(alarm="shock")
    assert bike.triggered
    assert bike.triggered.alarm == "vibration"


def test_who_did_it(bike: Bike) -> None:
    """The name stays until the next one."""
    account, now = bike.account, bike.now
    account.arm("red", now, "Ada")
    bike.report()
    assert account.trackers["red"].state.changed_by == "Ada"
    account.disarm("red", "Bob")
    assert account.trackers["red"].state.changed_by == "Bob"
    account.arm("red", now)
    assert account.trackers["red"].state.changed_by is None


def test_carried_off_elsewhere_after_it_drifted() -> None:
    """Drift at one place is no excuse where it was carried to."""
    bike = Bike()
    for metres in (100, 100, 0, 0, 200, 200, 0, 0, 0):
        bike.report(metres)
    for metres in (900, 1_800, 2_700):
        bike.report(metres, motion=True, speed=50.0)
    for _ in range(10):
        bike.report(2_700)
    bike.arm()
    bike.report(2_700)
    bike.report(2_900)
    assert bike.report(2_900)


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
    fired = [bike.report(300 * n, motion=True, speed=18.0) for n in range(2, 9)]
    assert [bool(triggered) for triggered in fired] == [False] * 5 + [True] * 2


def test_arrival_that_is_not_reported() -> None:
    """It is guarded where it is received again, or triggered if it moves by then."""
    for stands in (True, False):
        bike = Bike()
        bike.report(300, motion=True, speed=18.0)
        bike.arm()
        bike.now += timedelta(hours=1)
        for _ in range(3):
            assert bool(bike.report(900, motion=not stands)) is not stands
            bike.now += timedelta(hours=1)
        assert bike.report(1_100, motion=True)


def test_without_a_place() -> None:
    """It cannot be armed."""
    account, read = Account("Bikes", {}), ListOfDevices().read
    account.apply_poll(read(a_device(position_id=1)), {}, UpdateContext(NOW))
    assert account.arm("red", NOW) is None
    account.apply_poll(
        read(a_device(position_id=1)), {"red": no_fix(1)}, UpdateContext(NOW)
    )
    assert account.arm("red", NOW) is None


# Armed again


@pytest.mark.parametrize("first", [True, False])
def test_armed_again_means_from_here(first: bool) -> None:
    """The place is the last one that two reports confirm, whatever is still in doubt."""
    bike = Bike()
    if first:
        bike.arm()
    bike.report(210)
    assert bool(bike.report(210)) is first
    bike.account.disarm("red")
    assert bike.account.arm("red", bike.now + MINUTE / 10)
    assert not any(bike.report(210) for _ in range(4))
    bike.report(420)
    triggered = bike.report(420)
    assert triggered
    assert triggered.described()["distance"] == 210


def test_moved_just_before_it_is_armed() -> None:
    """It is guarded where two reports see it, the first from before the arming."""
    bike = Bike()
    bike.report(210)
    bike.arm()
    assert not any(bike.report(210) for _ in range(4))
    bike.report(420)
    assert bike.report(420)


@pytest.mark.parametrize("hours", [0, 3])
def test_clock_that_is_behind(hours: int) -> None:
    """Each report of such a tracker is late by the same time."""
    bike = Bike(behind=timedelta(hours=hours))
    bike.arm()
    assert not bike.report()
    assert bike.report(120, motion=True)


def test_late_reports_of_a_right_clock() -> None:
    """Reports that were buffered come together: those from before trigger nothing."""
    bike = Bike()
    bike.now += timedelta(hours=1)
    for minutes in (40, 35, 30):
        bike.report(900 - 20 * minutes, age=timedelta(minutes=minutes), motion=True)
        bike.now -= MINUTE
    bike.arm()
    assert not bike.report(300, age=timedelta(minutes=20), motion=True)


def test_moving_bike_is_not_armed_again() -> None:
    """The alarm stays until the bike has stood for five minutes; then it is guarded."""
    bike = Bike()
    bike.arm()
    for count in range(1, 4):
        assert bike.report(300 * count, motion=True, speed=18.0)
    bike.arm()
    state = bike.account.trackers["red"].state
    assert state.rearming
    assert bike.triggered
    assert bike.report(1_200, motion=True, speed=18.0)
    fired = [bool(bike.report(1_200)) for _ in range(6)]
    assert fired == [True] * 4 + [False] * 2
    state = bike.account.trackers["red"].state
    assert state.guard
    assert (state.rearming, round(state.guard.place.latitude, 4)) == (None, 47.9108)
    assert bike.report(1_500, motion=True, speed=18.0)
    assert len(bike.occurrences("guard_triggered")) == 2


def test_rearming_is_withdrawn() -> None:
    """Disarming ends it."""
    bike = Bike()
    bike.arm()
    bike.report(300, motion=True, speed=18.0)
    bike.arm()
    bike.account.disarm("red")
    for _ in range(7):
        bike.report(300)
    assert bike.account.trackers["red"].state.guard is None


@pytest.mark.parametrize(
    ("metres", "cause"), [(0, "motion"), (120, "place")], ids=["motion", "place"]
)
def test_theft_after_an_alarm(bike: Bike, metres: float, cause: str) -> None:
    """Vibration first, theft second: each triggers, once."""
    assert bike.report(alarm="vibration")
    assert bike.report(alarm="tow") == bike.report()
    bike.report(metres, motion=True)
    bike.report(metres + 200, motion=True)
    fired = [it.attributes["cause"] for it in bike.occurrences("guard_triggered")]
    assert fired == ["alarm", cause]


def test_tracker_that_left_the_list(bike: Bike) -> None:
    """It is not armed, and can be disarmed."""
    account = bike.account
    account.apply_poll({}, {}, UpdateContext(bike.now))
    assert account.arm("red", bike.now) is None
    assert account.states["red"].guard
    assert not account.disarm("red").keys
    assert account.states["red"].guard is None


def test_triggered_stays(bike: Bike) -> None:
    """A history that explains what triggered it changes nothing."""
    bike.report(200)
    triggered = bike.report(200)
    assert triggered
    for _ in range(9):
        assert bike.report() == triggered
    assert len(bike.occurrences("guard_triggered")) == 1


def test_armed_after_a_fix_that_jumped() -> None:
    """Two fixes that jumped to different places move no guard."""
    bike = Bike()
    bike.report(210)
    bike.report(290)
    bike.arm()
    assert not any(bike.report() for _ in range(9))
    assert bike.report(200, motion=True)
