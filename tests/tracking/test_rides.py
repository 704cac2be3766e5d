"""When a ride starts and ends, and how far it goes, report by report."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.occurrences import UpdateContext
from custom_components.bike_tracker.tracking.ride_detection import (
    apply_report,
    end_ride,
    silent_at,
)
from custom_components.bike_tracker.tracking.ride_state import (
    Ride,
    RideEvent,
    RideState,
)
from custom_components.bike_tracker.tracking.state import Tracker

from .conftest import NOW, Read, a_device, a_position

# Degrees of latitude.
_METRE = 1 / 111_195


class Bike:
    """A bike whose tracker reports by hand, and what is told of it."""

    def __init__(self, **usually: Any) -> None:
        """Stand at its place, with other values in the fields of each report."""
        self.ride_state = RideState()
        self.fired: list[str] = []
        self.time = NOW
        self.metres = 0.0
        self._usually = {"motion": None, "accuracy": 5.0, **usually}
        # One that says that it stands says that it moves, too.
        self._rides = {"speed": 15.0} if usually.get("speed") == 0 else {}
        self._id = 0
        self.report()

    def wait(self, minutes: float) -> Bike:
        """Let time pass."""
        self.time += timedelta(minutes=minutes)
        return self

    def report(self, metres: float | None = None, **fields: Any) -> Bike:
        """Report now from so many metres to the north of the start."""
        self.metres = self.metres if metres is None else metres
        self._id += 1
        values = {
            "fix_time": self.time,
            "device_time": fields.get("fix_time", self.time),
            "latitude": 47.9 + self.metres * _METRE,
            **self._usually,
            **fields,
        }
        position = a_position(self._id, **values)
        return self._become(apply_report(self.ride_state, position, self.time))

    def fall_silent(self) -> Bike:
        """Let it be silent for longer than anybody waits."""
        return self._become(end_ride(self.ride_state))

    def _become(self, received: tuple[RideState, list[RideEvent]]) -> Bike:
        self.ride_state, news = received
        for kind, self.ride in news:
            self.fired.append(kind)
        return self

    def ride_on(self, minutes: int, *, speed: float = 15, **fields: Any) -> Bike:
        """Report each minute from a place farther on."""
        for _ in range(minutes):
            farther = self.metres + speed / 3.6 * 60
            self.wait(1).report(farther, **{**self._rides, **fields})
        return self

    def stand(self, minutes: int, **fields: Any) -> Bike:
        """Report each minute from the same place."""
        for _ in range(minutes):
            self.wait(1).report(**fields)
        return self


def is_silent(track: RideState, now: datetime) -> bool:
    """Return whether nobody waits any longer for the next report."""
    at = silent_at(track)
    return at is not None and at <= now


def minutes(after: float) -> datetime:
    """Return when so many minutes had passed."""
    return NOW + timedelta(minutes=after)


def test_ride() -> None:
    """It starts where the bike stood and ends where it stands; the report in between tells."""
    bike = Bike(speed=0.0)
    bike.stand(3).ride_on(1, speed=15)
    assert bike.fired == ["started"]
    assert bike.ride.started_at == minutes(3)
    bike.ride_on(9, speed=15).stand(4)
    assert bike.fired == ["started"]
    bike.stand(1)
    assert bike.fired == ["started", "ended"]
    assert bike.ride.moved_at == minutes(13)
    assert bike.ride.distance == pytest.approx(2.5)
    assert bike.ride.duration == 600
    assert bike.ride_state.last == bike.ride_state.ended == bike.ride
    assert bike.ride_state.total == pytest.approx(2.5)


def test_first_and_last_place() -> None:
    """It goes from where the bike stood to where it moved to last."""
    bike = Bike(speed=0.0).stand(3)
    stood = bike.ride_state.anchor
    bike.ride_on(4).report(bike.metres + 9, motion=False)
    came_to = bike.ride_state.anchor
    bike.stand(6)
    assert (bike.ride.start, bike.ride.end) == (stood, came_to)
    here = bike.ride_state.last_fix
    bike.stand(6, motion=True).stand(6)
    assert bike.ride.distance == 0
    assert bike.ride.start == bike.ride.end
    assert here is not None
    assert bike.ride.end is not None
    assert bike.ride.end[1:3] == here[1:3]


@pytest.mark.parametrize(
    ("fields", "starts"),
    [
        ({"motion": True}, True),
        ({"speed": 3.0}, True),
        ({"speed": 3.0, "motion": False}, True),
        ({"speed": 2.9}, False),
        ({"speed": 2.9, "motion": False}, False),
        ({"metres": 9_000, "motion": False, "speed": None}, False),
        ({"metres": 9_000, "motion": None, "speed": 0.0}, False),
        ({"metres": 100, "motion": None, "speed": 0.1}, True),
    ],
)
def test_first_sign(fields: dict[str, Any], starts: bool) -> None:
    """The first report that shows movement tells it."""
    bike = Bike(motion=False, speed=0.0)
    bike.stand(3).wait(1).report(**fields)
    assert bike.fired == ["started"] * starts


@pytest.mark.parametrize(
    ("metres", "accuracy", "starts"),
    [
        (29, 5.0, False),
        (31, 5.0, True),
        (89, 15.0, False),
        (91, 15.0, True),
        (49, 0.0, False),
        (51, 0.0, True),
        (19, 0.5, False),
        (21, 0.5, True),
    ],
)
def test_place_alone(metres: float, accuracy: float, starts: bool) -> None:
    """One that does not say whether it moves does so if the accuracies do not explain it."""
    bike = Bike(accuracy=accuracy).stand(3).wait(1).report(metres)
    assert bike.fired == ["started"] * starts


@pytest.mark.parametrize(("pause", "start"), [(5, 0), (6, 6)])
def test_start(pause: int, start: int) -> None:
    """It is the last fix before, unless that was long ago."""
    bike = Bike().wait(pause).report(300)
    assert bike.ride.started_at == minutes(start)


@pytest.mark.parametrize(("pause", "rides"), [(2, 1), (4, 1), (20, 2)])
@pytest.mark.parametrize("reports", [True, False])
def test_stops(pause: int, rides: int, reports: bool) -> None:
    """A traffic light ends no ride; a visit does, reported or not."""
    bike = Bike(speed=0.0).ride_on(5)
    if reports:
        bike.stand(pause)
    else:
        bike.report().wait(pause)
    bike.ride_on(5).stand(10)
    assert bike.fired == ["started", "ended"] * rides


@pytest.mark.parametrize("says", [{"motion": True}, {"speed": 15.0}, {}])
def test_a_report_every_ten_minutes(says: dict[str, Any]) -> None:
    """What moves from report to report is one ride."""
    bike = Bike()
    for number in range(1, 6):
        bike.wait(10).report(number * 2_000, **says)
    bike.wait(10).report(motion=False, speed=0.0)
    assert bike.fired == ["started", "ended"]
    assert bike.ride.distance == pytest.approx(10)
    assert (bike.ride.started_at, bike.ride.moved_at) == (minutes(10), minutes(50))


def test_long_silence_under_way() -> None:
    """Who is received again after long has ended the ride before."""
    bike = Bike(speed=15.0).ride_on(5).wait(31).report(9_000)
    assert bike.fired == ["started", "ended", "started"]
    bike.ride_on(1).stand(6, speed=0.0)
    assert bike.ride.started_at == minutes(36)
    assert bike.ride.distance == pytest.approx(8, abs=0.1)


def test_silence_by_the_clock() -> None:
    """Half an hour after the last fix nobody waits any longer."""
    bike = Bike().ride_on(5)
    assert not is_silent(bike.ride_state, minutes(34))
    bike.wait(29).report(fix_time=minutes(5), device_time=minutes(34), is_fix=False)
    assert is_silent(bike.ride_state, minutes(35))
    bike.fall_silent()
    assert bike.fired == ["started", "ended"]
    assert bike.ride.moved_at == minutes(5)
    assert not is_silent(bike.ride_state, minutes(99))
    assert not is_silent(RideState(), minutes(99))


def test_theft_that_fails() -> None:
    """What never left its place is told, and is not kept as a ride."""
    bike = Bike(motion=False).ride_on(5).stand(6)
    last = bike.ride_state.last
    bike.stand(1, motion=True)
    assert bike.fired == ["started", "ended", "started"]
    assert bike.ride_state.ride is not None
    bike.stand(6)
    assert bike.fired == ["started", "ended"] * 2
    assert (bike.ride.distance, bike.ride_state.last) == (0, last)
    assert (bike.ride_state.ride, bike.ride_state.ended) == (None, bike.ride)


@pytest.mark.parametrize("always", [{"motion": True}, {"speed": 9.0}])
def test_tracker_that_always_says_it_moves(always: dict[str, Any]) -> None:
    """Its word counts once, then what is seen of its place."""
    bike = Bike(**always).stand(30)
    assert bike.fired == []
    bike.ride_on(5).stand(60)
    assert bike.fired == ["started", "ended"]
    assert bike.ride.moved_at - minutes(35) < timedelta(minutes=5)


def test_maximum_speed() -> None:
    """The highest that was reported; none at all is unknown."""
    bike = Bike(speed=0.0).wait(1).report(200, speed=17.0)
    bike.wait(1).report(400, speed=23.46).wait(1).report(600, speed=900.0)
    bike.wait(1).report(800, speed=12.0).stand(6)
    assert bike.ride.maximum_speed == 23.46
    assert bike.ride.described(is_over=True) == {
        "started_at": minutes(0).isoformat(),
        "ended_at": minutes(4).isoformat(),
        "distance": 0.8,
        "duration": 240,
        "maximum_speed": 23.5,
    }
    bike.wait(1).report(1_000, motion=True, speed=None).stand(6)
    assert bike.ride.distance == pytest.approx(0.2)
    assert bike.ride.described(is_over=True)["maximum_speed"] is None


def test_bends_of_a_long_way() -> None:
    """What the server counted shows that there was no time for a stop."""
    for added, rides in ((0.25, 2), (1.2, 1)):
        bike = Bike(speed=15.0, total_distance=0.0)
        bike.wait(1).report(250, total_distance=0.25)
        bike.wait(17).report(500, total_distance=0.25 + added)
        assert bike.fired.count("started") == rides


# What is said of the first report of all


@pytest.mark.parametrize("place", [{}, {"latitude": None, "fix_time": None}])
def test_first_word(place: dict[str, Any]) -> None:
    """It is no change: it never moved before, so nothing starts with it."""
    first = {"motion": True, "speed": 20.0, "device_time": NOW}
    bike = Bike(**first, **place)
    assert (bike.fired, bike.ride_state.ride) == ([], None)


# Reports that say themselves that the bike stands


def parked(**usually: Any) -> Bike:
    """Return a bike that rode a kilometre, and then stood for ten minutes."""
    return Bike(**{"motion": False, "speed": 0.0, **usually}).ride_on(4).stand(10)


def test_somewhere_else_only_with_the_next_report() -> None:
    """One report alone starts nothing; two are a ride of which all is told together."""
    bike = Bike(motion=False, speed=0.0).stand(3).wait(60).report(3_000)
    assert (bike.fired, bike.ride_state.total) == ([], 0)
    bike.wait(60).report()
    assert bike.fired == ["started", "ended"]
    assert bike.ride == bike.ride_state.last
    assert bike.ride.started_at == bike.ride.moved_at == minutes(63)
    assert bike.ride.distance == bike.ride_state.total == pytest.approx(3)
    assert bike.stand(60).fired == ["started", "ended"]


def test_ride_before_it_could_be_fired() -> None:
    """One that rides off right after is told of a ride before that one."""
    bike = Bike(motion=False, speed=0.0).stand(3).wait(60).report(3_000)
    bike.wait(60).report(3_250, speed=15.0)
    assert bike.fired == ["started", "ended", "started"]
    assert bike.ride_state.total == pytest.approx(3.25)


@pytest.mark.parametrize(("metres", "light"), [(230, 1), (230, 2), (1_200, 2)])
def test_red_light_with_the_first_reports(metres: float, light: int) -> None:
    """Two minutes at a traffic light right after setting off are one ride."""
    bike = Bike(motion=False, speed=0.0).stand(20).wait(1).report(metres).stand(light)
    bike.ride_on(4).stand(6)
    assert bike.fired == ["started", "ended"]
    assert bike.ride.started_at == minutes(20)
    assert bike.ride.distance == pytest.approx(1 + metres / 1_000)


@pytest.mark.parametrize("metres", [230, 1_200])
def test_visit_with_the_first_reports(metres: float) -> None:
    """Twenty minutes are two rides."""
    bike = Bike(motion=False, speed=0.0).stand(3).wait(1).report(metres).stand(20)
    assert bike.fired == ["started", "ended"]
    bike.ride_on(4).stand(6)
    assert bike.fired == ["started", "ended"] * 2


def test_ride_of_which_two_stops_were_seen() -> None:
    """A red light in the south and the goal in the north are a ride."""
    bike = parked().wait(5).report(600).wait(5).report(1_480)
    for _ in range(3):
        bike.wait(5).report()
    assert bike.fired == ["started", "ended"] * 2
    assert bike.ride.distance == pytest.approx(0.48)


def test_tracker_that_always_says_it_stands() -> None:
    """Its place alone tells of its rides, a report later."""
    bike = Bike(motion=False, speed=0.0).stand(3)
    for number in range(1, 11):
        bike.wait(1).report(number * 250)
    assert bike.fired == ["started"]
    bike.stand(6)
    assert bike.fired == ["started", "ended"]
    assert (bike.ride.started_at, bike.ride.moved_at) == (minutes(3), minutes(13))
    assert bike.ride.distance == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("metres", "hours", "fired"),
    [
        (100, 1, []),
        (900, 1, []),
        (1_100, 1, ["started", "ended"]),
        (900, 23, []),
        (900, 25, ["started", "ended"]),
    ],
)
def test_lost_report_of_the_arrival(
    metres: float, hours: int, fired: list[str]
) -> None:
    """What it went after the last report belongs to that ride, if that may be."""
    bike = Bike(motion=False, speed=0.0).ride_on(4)
    bike.wait(hours * 60).report(bike.metres + metres)
    assert bike.fired == ["started", "ended"]
    before, total = bike.ride, bike.ride_state.total
    assert total == pytest.approx(1)
    bike.wait(60).report()
    assert bike.fired == ["started", "ended", *fired]
    assert bike.ride_state.total == pytest.approx(1 + metres / 1_000)
    last = bike.ride_state.last
    assert last == bike.ride_state.ended
    assert last is not None
    if fired:
        assert last == bike.ride
        assert last.distance == pytest.approx(metres / 1_000)
    else:
        assert last.distance == bike.ride_state.total
        assert last.end == bike.ride_state.anchor
        assert last._replace(distance=before.distance, end=before.end) == before


@pytest.mark.parametrize(
    ("accuracy", "metres", "goes"),
    [(0.0, 140, False), (0.0, 160, True), (5.0, 25, False), (5.0, 35, True)],
)
def test_drift_of_a_parked_bike(accuracy: float, metres: float, goes: bool) -> None:
    """It is as much as the accuracies explain, and 150 m where none is told."""
    bike = parked(accuracy=accuracy).wait(1).report(1_000 + metres).wait(8).report()
    went = 1 + metres / 1_000 if goes else 1
    assert bike.ride_state.total == pytest.approx(went)


def test_tracker_whose_fixes_drift() -> None:
    """What was seen to be off while it stood is believed no more, as far as a kilometre."""
    bike = parked()
    for metres in (1_100, 1_000, 1_090, 1_090, 1_000, 1_000):
        bike.wait(1).report(metres)
    assert bike.fired == ["started", "ended"]
    assert bike.ride_state.total == pytest.approx(1)
    assert bike.ride_state.drift == pytest.approx(100)
    bike.wait(1).report(1_400).wait(8).report(1_400)
    assert bike.fired == ["started", "ended"]
    assert bike.ride_state.total == pytest.approx(1)
    bike.wait(1).report(3_400).wait(8).report(3_400)
    assert bike.fired == ["started", "ended"] * 2
    assert bike.ride.distance == pytest.approx(2)


def a_fix_that_is_off(**usually: Any) -> Bike:
    """Return a parked bike of which one fix was 400 m off."""
    return parked(**usually).wait(1).report(1_400).wait(1).report(1_000).stand(1)


@pytest.mark.parametrize(("hours", "rides"), [(20, 1), (25, 2)])
def test_drift_is_forgotten_after_a_day(hours: int, rides: int) -> None:
    """One fix that was off hides short rides for a day of right ones, no longer."""
    bike = a_fix_that_is_off()
    for _ in range(hours):
        bike.wait(60).report()
    bike.wait(60).report(1_700).stand(9)
    assert bike.fired == ["started", "ended"] * rides


def test_drift_is_forgotten_with_its_place() -> None:
    """What was off in one place is no excuse in another one."""
    bike = a_fix_that_is_off().ride_on(4)
    assert bike.ride_state.drift == 0
    bike.stand(60).wait(60).report(2_700).stand(9)
    assert bike.fired == ["started", "ended"] * 3


# Messages that tell of no newer place


def a_message(bike: Bike, **fields: Any) -> Bike:
    """Report without a new fix."""
    return bike.report(fix_time=minutes(0), device_time=bike.time, **fields)


@pytest.mark.parametrize("is_fix", [True, False])
def test_motion_without_a_fix(is_fix: bool) -> None:
    """A tracker in a cellar tells that somebody moves it, at its own time."""
    bike = Bike(motion=False).wait(60)
    a_message(bike, motion=True, is_fix=is_fix)
    assert bike.fired == ["started"]
    assert bike.ride.started_at == minutes(60)
    assert not is_silent(bike.ride_state, minutes(89))
    assert is_silent(bike.ride_state, minutes(90))
    for _ in range(9):
        a_message(bike.wait(10), motion=True, is_fix=is_fix)
    assert bike.fired == ["started"]
    assert is_silent(bike.ride_state, bike.time)
    bike.fall_silent()
    a_message(bike.wait(10), motion=True)
    a_message(bike.wait(10), motion=None)
    assert bike.fired == ["started", "ended"]
    a_message(bike.wait(10), motion=False)
    a_message(bike.wait(10), motion=True)
    assert bike.fired == ["started", "ended", "started"]


def test_late_messages() -> None:
    """What was reported before the last report changes nothing."""
    bike = Bike(motion=False).stand(20)
    track = bike.ride_state
    bike.report(9_000, fix_time=minutes(10), device_time=minutes(10), motion=True)
    bike.report(fix_time=minutes(20), device_time=None, motion=True)
    assert bike.ride_state == track
    a_message(bike.wait(10), motion=False, is_fix=False)
    track = bike.ride_state
    bike.report(fix_time=minutes(0), device_time=minutes(25), motion=True, is_fix=False)
    assert bike.ride_state == track


def test_report_without_a_time() -> None:
    """Nobody knows when it was there."""
    bike = Bike()
    track = bike.ride_state
    bike.wait(1).report(500, fix_time=None)
    assert bike.ride_state == track
    track, news = apply_report(RideState(), a_position(fix_time=None), NOW)
    assert (track, news) == (RideState(), [])


# Fixes that jump


def test_jump() -> None:
    """One that is back with the next report was nowhere else."""
    bike = Bike().stand(3)
    bike.wait(1).report(5_000).wait(1).report(0).stand(9)
    assert bike.fired == []
    bike.ride_on(3).wait(1).report(90_000).wait(1).report(1_200).stand(9)
    assert bike.fired == ["started", "ended"]
    assert bike.ride_state.total == pytest.approx(1.2)


def test_jump_of_a_clock_that_is_ahead() -> None:
    """A heartbeat that sends the fix again confirms nothing, whatever its clock says."""
    ahead = timedelta(hours=2)
    bike = Bike(motion=False, fix_time=NOW + ahead)
    bike.wait(1).report(15_000, fix_time=bike.time + ahead)
    there = bike.time + ahead
    for _ in range(120):
        bike.wait(1).report(fix_time=there, device_time=bike.time + ahead)
    assert bike.ride_state.candidate is not None
    bike.wait(1).report(0, fix_time=bike.time + ahead)
    assert (bike.fired, bike.ride_state.total) == ([], 0)


def test_train() -> None:
    """A place that the next report confirms counts."""
    bike = Bike().wait(1).report(2_500)
    assert bike.fired == []
    bike.wait(1).report(2_600)
    assert bike.fired == ["started"]
    assert bike.ride_state.total == pytest.approx(2.6)


def test_aeroplane() -> None:
    """Faster than any train is no ride; it is somewhere else then."""
    bike = Bike().wait(1).report(6_000).wait(1).report(6_010).stand(9)
    assert (bike.fired, bike.ride_state.total) == ([], 0)
    bike.ride_on(1)
    assert bike.ride_state.total == pytest.approx(0.25, abs=0.02)


# The server's total


@pytest.mark.parametrize(
    ("added", "counts"),
    [(0.3, 0.3), (0.1, 0.25), (-900, 0.25), (1.1, 0.25), (5_000, 0.25), (None, 0.25)],
)
def test_total_of_the_server(added: float | None, counts: float) -> None:
    """It knows the bends; a reset, a jump, and what nobody rides in a minute, are none."""
    bike = Bike(total_distance=1_000.0)
    assert bike.ride_state.total == 1_000
    total = None if added is None else 1_000 + added
    bike.wait(1).report(250, total_distance=total)
    assert bike.ride_state.total == pytest.approx(1_000 + counts)


def test_total_of_drift() -> None:
    """What the server adds while a bike stands is none of its way."""
    bike = Bike()
    for number in range(60):
        bike.wait(1).report(number % 2 * 15, total_distance=number * 0.015)
    assert (bike.fired, bike.ride_state.total) == ([], 0)
    bike.wait(1).report(315, total_distance=0.885 + 0.31)
    assert bike.ride_state.total == pytest.approx(0.315)


def test_placeholder_before_the_first_fix() -> None:
    """The way from 0/0 that servers count is none."""
    nowhere = a_position(
        1, latitude=None, fix_time=None, device_time=NOW, total_distance=0.0
    )
    track, _ = apply_report(RideState(), nowhere, NOW)
    track, _ = apply_report(track, nowhere._replace(total_distance=5_432.1), NOW)
    first = a_position(2, fix_time=NOW, total_distance=5_432.1)
    for before, total in ((track, 0), (RideState(), 5_432.1)):
        after, _ = apply_report(before, first, NOW)
        assert after.total == total


def test_total_shown() -> None:
    """It never falls, also where the history took some off."""
    assert RideState().shown_total is None
    bike = Bike(total_distance=7.0)
    assert bike.ride_state.shown_total == 7
    bike.ride_state = bike.ride_state._replace(highest_total=8)
    bike.ride_on(2)
    assert bike.ride_state.shown_total == 8
    bike.ride_on(4)
    assert bike.ride_state.shown_total == bike.ride_state.total == pytest.approx(8.5)


# Addresses


def test_address_of_the_start() -> None:
    """It is the last one of the place, though not each report carries one."""
    bike = Bike(speed=0.0, address="Old Lane").stand(1)
    bike.stand(1, address=None).wait(1).report(9, accuracy=4.0, address=None)
    bike.ride_on(3, address=None)
    assert bike.ride.start is not None
    assert bike.ride.start.address == "Old Lane"


def test_address_of_the_end() -> None:
    """It may come with a later report, and the next ride starts there."""
    bike = Bike(speed=0.0, address="Old Lane").ride_on(3, address=None)
    bike.stand(1, address=None).stand(1, address="New Lane").stand(9, address=None)
    assert bike.fired == ["started", "ended"]
    assert bike.ride.end is not None
    assert bike.ride.end.address == "New Lane"
    bike.ride_on(3, address=None)
    assert bike.ride.start is not None
    assert bike.ride.start.address == "New Lane"


# Clocks


@pytest.mark.parametrize(("ahead", "counts"), [(4, 4), (6, 0)])
def test_clock_that_is_a_little_ahead(ahead: int, counts: int) -> None:
    """Up to five minutes are as the tracker says."""
    bike = Bike(fix_time=minutes(ahead))
    assert bike.ride_state.last_fix is not None
    assert bike.ride_state.last_fix.time == minutes(counts)


def test_clock_that_is_ahead() -> None:
    """Fixes from the future are as old as the news of them, and no later one is lost."""
    bike = Bike(fix_time=NOW + timedelta(days=4_000))
    assert bike.ride_state.last_fix is not None
    assert bike.ride_state.last_fix.time == NOW
    bike.wait(1).report(250, fix_time=minutes(1))
    assert bike.fired == ["started"]


# In an account


def ride_in(account: Account, read: Read) -> list[Ride]:
    """Let a bike set off in an account."""
    for number in range(3):
        position = a_position(
            number + 1,
            fix_time=minutes(number),
            latitude=47.9 + number * 250 * _METRE,
            motion=number > 0,
            total_distance=8.0 + number,
        )
        devices = read(a_device(position_id=number + 1))
        account.apply_poll(devices, {"red": position}, UpdateContext(minutes(number)))
    track = account.trackers["red"].state.ride_state
    return [track.ride] if track and track.ride else []


def fired(tracker: Tracker) -> list[str]:
    """Return what happened to a tracker."""
    return [
        item.type.removeprefix("ride_")
        for item in tracker.state.occurrences
        if "ride" in item.type
    ]


def test_ends_with_a_poll_that_brings_nothing(account: Account, read: Read) -> None:
    """The clock ends a ride of a tracker that fell silent, once."""
    [ride] = ride_in(account, read)
    devices = read(a_device(position_id=3))
    assert not account.apply_poll(devices, {}, UpdateContext(minutes(31))).keys
    assert not account.apply_poll(
        devices, {}, UpdateContext(minutes(33), recovering=True)
    ).keys
    changes = account.apply_poll(devices, {}, UpdateContext(minutes(33)))
    assert changes.keys == {"red"}
    track = changes.after["red"].state.ride_state
    assert track is not None
    assert track.last == ride
    assert not account.apply_poll(devices, {}, UpdateContext(minutes(34))).keys


def test_reports_again_with_the_poll_that_would_end_it(
    account: Account, read: Read
) -> None:
    """What it reports counts, and not that it was silent."""
    ride_in(account, read)
    there = a_position(
        4, fix_time=minutes(33), latitude=47.9 + 1_500 * _METRE, motion=True
    )
    changes = account.apply_poll(
        read(a_device(position_id=4)), {"red": there}, UpdateContext(minutes(33))
    )
    assert fired(changes.after["red"]) == ["started", "ended", "started"]
