"""When rides start and end, and how far they go."""

from datetime import timedelta
from typing import Any

import pytest

from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.occurrences import UpdateContext
from custom_components.bike_tracker.tracking.ride_state import Ride
from custom_components.bike_tracker.tracking.routes import decode
from custom_components.bike_tracker.tracking.state import Tracker

from .conftest import NOW, Read, a_device, a_position
from .house import METER, House, minutes, story

UNKNOWN: dict[str, Any] = {"motion": None, "speed": None}
STANDS = {"motion": False, "speed": 0.0}
MOVES = {"motion": True}
NO_ACCURACY = {"accuracy": 0.0}


def lived(legs: str, every: float = 60, **usually: Any) -> House:
    """Return a house that polled each report of a story."""
    house = House(has_history=False)
    house.polls(story(legs, every, **usually))
    return house


@pytest.mark.parametrize(
    ("legs", "usually", "summary"),
    [
        # A ride starts where the bike stood and ends where it stands.
        ("stand 3, ride 10 @15, stand 4", {}, "started 3, 0.0 km"),
        ("stand 3, ride 10 @15, stand 6", {}, "started 3, ended 13, 2.5 km"),
        # The first report of all starts no ride.
        ("ride 1 @15, stand 9", {}, "started 0, ended 1, 0.2 km"),
        # The start is the fix before, unless that is old.
        ("stand 0, sleep 4, ride 1 @15, stand 6", {}, "started 0, ended 5, 0.2 km"),
        ("stand 0, sleep 5, ride 1 @15, stand 6", {}, "started 6, ended 6, 0.2 km"),
        # Two minutes at a traffic light are one ride, twenty are two.
        (
            "ride 5 @15, stand 2, ride 5 @15, stand 6",
            {},
            "started 0, ended 12, 2.5 km",
        ),
        (
            "ride 5 @15, stand 4, ride 5 @15, stand 6",
            {},
            "started 0, ended 14, 2.5 km",
        ),
        (
            "ride 5 @15, stand 20, ride 5 @15, stand 6",
            {},
            "started 0, ended 5, started 25, ended 30, 2.5 km",
        ),
        (
            "ride 5 @15, stand 1, sleep 19, ride 5 @15, stand 6",
            {},
            "started 0, ended 5, started 26, ended 30, 2.5 km",
        ),
        # A tracker that was silent for half an hour ended the ride before.
        (
            "ride 5 @15, sleep 31, ride 2 @15, stand 6",
            {},
            "started 0, ended 5, started 37, ended 38, 1.7 km",
        ),
        # Motion on the spot is no ride; before one it is the start.
        ("stand 3, ride 2 @0, stand 9", MOVES, "0.0 km"),
        # Always reported motion counts once, then the place does.
        ("stand 30", MOVES, "0.0 km"),
        ("stand 30, ride 5 @15, stand 20", MOVES, "started 30, ended 35, 1.2 km"),
        (
            "stand 30, ride 5 @15, stand 20",
            {"speed": 9.0},
            "started 30, ended 39, 1.2 km",
        ),
        # A tracker that says that it stands is believed a report later.
        ("stand 3, ride 10 @15, stand 6", STANDS, "started 3, ended 13, 2.5 km"),
        # Its place alone starts nothing: only if it is there with the next report.
        ("stand 3, sleep 60, jump 3000, stand 1", STANDS, "0.0 km"),
        (
            "stand 3, sleep 60, jump 3000, stand 9",
            STANDS,
            "started 64, ended 64, 3.0 km",
        ),
        # A red light, or a visit, with the first reports.
        (
            "stand 20, jump 230, stand 2, ride 4 @15, stand 6",
            {},
            "started 20, ended 26, 1.2 km",
        ),
        (
            "stand 3, jump 230, stand 20, ride 4 @15, stand 6",
            {},
            "started 3, ended 4, started 23, ended 27, 1.2 km",
        ),
        # The lost report of an arrival belongs to the ride: up to a kilometer, a day.
        (
            "ride 4 @15, sleep 60, jump 900, stand 60",
            {},
            "started 0, ended 4, 1.9 km",
        ),
        # A fix that jumped, on the way and at rest.
        ("stand 3, jump 5000, stand 1, jump -5000, stand 9", UNKNOWN, "0.0 km"),
        (
            "ride 3 @15, jump 90000, ride 1 @0, jump -90000, ride 2 @15, stand 9",
            UNKNOWN,
            "started 0, ended 6, 1.2 km",
        ),
        # A train is confirmed by the next report; nothing is faster than one.
        ("jump 2500, stand 9", UNKNOWN, "started 0, ended 1, 2.5 km"),
        ("jump 6000, stand 9", UNKNOWN, "0.0 km"),
    ],
)
def test_rides(legs: str, usually: dict[str, Any], summary: str) -> None:
    """Each start and end is fired with its time, and each ride is booked."""
    assert lived(legs, **usually).summary == summary


@pytest.mark.parametrize(
    ("meters", "accuracy", "starts"),
    [
        *((29, 5.0, False), (31, 5.0, True), (89, 15.0, False), (91, 15.0, True)),
        *((49, 0.0, False), (51, 0.0, True), (19, 0.5, False), (21, 0.5, True)),
    ],
)
def test_noise(meters: float, accuracy: float, starts: bool) -> None:
    """A place is another one beyond three times both accuracies, at least 20 or 50 m."""
    house = lived(f"stand 3, jump {meters}, stand 1", accuracy=accuracy, **UNKNOWN)
    assert house.kinds == ["started"] * starts


@pytest.mark.parametrize(
    ("accuracy", "meters", "goes"),
    [(0.0, 140, False), (0.0, 160, True), (5.0, 25, False), (5.0, 35, True)],
)
def test_drift_of_a_parked_bike(accuracy: float, meters: float, goes: bool) -> None:
    """A standing bike without accuracy may be seen 150 m away."""
    house = lived(f"stand 3, jump {meters}, stand 10", accuracy=accuracy)
    assert bool(house.kinds) is goes


@pytest.mark.parametrize(("hours", "rides"), [(20, 1), (25, 2)])
def test_drift_is_forgotten(hours: int, rides: int) -> None:
    """A fix that was 400 m off hides short rides for a day of right fixes."""
    quiet = "sleep 59, stand 1, " * hours
    house = lived(
        f"ride 4 @15, stand 9, jump 400, stand 1, jump -400, stand 2, {quiet}"
        "sleep 59, jump 700, stand 10"
    )
    assert house.kinds.count("ended") == rides


def test_drift_is_forgotten_after_a_ride() -> None:
    """Drift at one place is no reason to hide a ride from another one."""
    house = lived(
        "stand 9, jump 400, stand 1, jump -400, stand 2, ride 4 @15, stand 60,"
        "sleep 59, jump 700, stand 10"
    )
    assert house.kinds.count("ended") == 2


def test_motion_on_the_spot() -> None:
    """It is motion, and the start of a ride that follows within five minutes."""
    reports = story("stand 5, ride 2 @0, ride 5 @15, stand 6")
    moves = [
        it._replace(motion=True) if number in (6, 7) else it
        for number, it in enumerate(reports)
    ]
    house = House(has_history=False)
    house.polls(moves[:8])
    assert (house.kinds, house.others) == ([], ["started_moving"])
    house.polls(moves[8:])
    assert house.summary == "started 5, ended 12, 1.2 km"
    house = House(has_history=False)
    house.polls([*moves[:8], *story("stand 30")[8:]])
    assert house.summary == "0.0 km"


@pytest.mark.parametrize("is_fix", [True, False])
def test_motion_without_a_fix(is_fix: bool) -> None:
    """A tracker in a cellar reports motion at its own time; half an hour later it stands."""
    house = lived("stand 3")
    last = house.state.position
    assert last
    for number, minute in enumerate((60, 70, 80), 9):
        motion = last._replace(
            id=number, device_time=minutes(minute), motion=True, is_fix=is_fix
        )
        house.poll(motion._replace(server_time=minutes(minute)), minutes(minute))
    assert house.others == ["started_moving"]
    assert house.state.ride_state.ride
    assert house.state.ride_state.ride.started_at == minutes(60)
    house.wait(minutes(89))
    is_silent = [house.state.is_silent]
    house.wait(minutes(90))
    assert [*is_silent, house.state.is_silent] == [False, True]
    assert house.kinds == []


def test_late_messages_without_a_fix() -> None:
    """Motion that was reported before the last report counts no more."""
    house = lived("stand 20")
    last = house.state.position
    assert last
    late = last._replace(id=3, device_time=minutes(10), motion=True, is_fix=False)
    house.hear([late], minutes(20), is_complete=True)
    assert house.state.ride_state.ride is None


@pytest.mark.parametrize(("polled", "ended"), [(29, 0), (30, 1)])
def test_silence(polled: int, ended: int) -> None:
    """Half an hour after its last report a tracker counts as silent, its ride as over."""
    house = lived("stand 3, ride 5 @15")
    house.wait(minutes(8 + polled))
    assert house.kinds.count("ended") == ended
    assert bool(Tracker(a_device(), house.state).ride_under_way) is not bool(ended)
    house.wait(minutes(99))
    assert house.summary == "started 3, ended 8, 1.2 km"


@pytest.mark.parametrize(
    ("legs", "usually", "kilometers"),
    [
        ("ride 5 @15, stand 1, jump 200, stand 1", {}, 1.45),
        ("ride 5 @15, stand 2, jump 100, stand 1", NO_ACCURACY, 1.25),
        ("ride 5 @15, stand 2, jump 25, stand 1", {}, 1.275),
    ],
    ids=["a place in doubt", "drift", "last meters"],
)
def test_last_place(legs: str, usually: dict[str, Any], kilometers: float) -> None:
    """A silent bike is where it was seen last, unless that is drift."""
    house = lived(legs, **usually)
    house.wait(minutes(99))
    assert house.book[0].distance == pytest.approx(kilometers, abs=0.001)
    assert house.totals[-1] == pytest.approx(kilometers, abs=0.001)


def test_silence_that_was_none() -> None:
    """A ride that a wrong clock ended goes on, and is fired once."""
    reports = story("stand 5, ride 10 @15, stand 9")
    house = House(has_history=False)
    for report in reports:
        house.poll(report)
        house.wait(minutes(9_999))
    assert house.kinds == ["started", "ended"]
    assert [it.distance for it in house.book] == [pytest.approx(2.5)]


def test_places_and_speed() -> None:
    """A ride knows its places, their addresses, its highest speed and its route."""
    reports = story("stand 3, ride 2 @15, ride 2 @24, stand 9")
    reports[0] = reports[0]._replace(address="Old Lane")
    reports[8] = reports[8]._replace(address="New Lane")
    reports[5] = reports[5]._replace(speed=900.0)
    house = House(has_history=False)
    house.polls(reports)
    [ride] = house.book
    assert ride.start and ride.end and ride.route
    assert (ride.start.address, ride.end.address) == ("Old Lane", "New Lane")
    assert ride.maximum_speed == 24
    meters = [0, 1_300]
    assert decode(ride.route) == [
        (pytest.approx(47.9 + it * METER, abs=1e-5), 7.8) for it in meters
    ]
    assert ride.described(is_over=True) == {
        "started_at": minutes(3).isoformat(),
        "ended_at": minutes(7).isoformat(),
        "distance": 1.3,
        "duration": 240,
        "maximum_speed": 24.0,
    }


def test_no_speed() -> None:
    """Without a reported speed the maximum is unknown."""
    [ride] = lived("ride 3 @15, stand 9", speed=None).book
    assert ride.described(is_over=True)["maximum_speed"] is None


def test_route_grows() -> None:
    """The route of a ride under way ends at the last place."""
    house = lived("stand 3, ride 3 @15")
    ride = house.state.ride_state.ride
    assert ride and ride.route
    assert decode(ride.route)[-1][0] == pytest.approx(47.9 + 750 * METER, abs=1e-5)


# The server's total


@pytest.mark.parametrize(
    ("added", "counts"),
    [(0.3, 0.3), (0.1, 0.25), (-900, 0.25), (1.4, 0.25), (5_000, 0.25), (None, 0.25)],
)
def test_total_of_the_server(added: float | None, counts: float) -> None:
    """It knows the bends between polls, but a reset, a jump and a detour are none."""
    first, *_, last = story("stand 0, ride 1 @15", total_distance=1_000.0)
    house = House(has_history=False)
    house.poll(first)
    house.poll(last._replace(total_distance=added and 1_000 + added))
    assert house.totals == [1_000, pytest.approx(1_000 + counts)]


def test_total_of_drift() -> None:
    """The server's total of a parked bike grows; its rides do not."""
    house = House(has_history=False)
    reports = story("stand 30, ride 1 @18", **UNKNOWN)
    for number, report in enumerate(reports):
        off = number % 2 * 15 if number < 31 else 0
        latitude = (report.latitude or 0) + off * METER
        total = 0.015 * number + (0.3 if number > 30 else 0)
        house.poll(report._replace(latitude=latitude, total_distance=total))
    assert house.totals[30] == 0
    assert house.totals[-1] == pytest.approx(0.315, abs=0.02)


def test_placeholder_before_the_first_fix() -> None:
    """The way from 0/0 that servers add to the first fix does not count."""
    nowhere = a_position(
        1, latitude=None, fix_time=None, device_time=NOW, total_distance=0.0
    )
    first = a_position(3, fix_time=minutes(2), total_distance=5_432.1)
    house, other = House(), House()
    house.poll(nowhere, NOW)
    house.poll(nowhere._replace(id=2, total_distance=5_432.1), minutes(1))
    house.poll(first)
    other.poll(first)
    assert (house.totals[-1], other.totals[-1]) == (0, 5_432.1)


# Clocks


@pytest.mark.parametrize("ahead", [timedelta(minutes=4), timedelta(days=4_000)])
def test_clock_that_is_ahead(ahead: timedelta) -> None:
    """Fixes from the future are as old as their receipt, and no ride is lost."""
    house = House(has_history=False)
    for report in story("stand 3, ride 5 @15, stand 9"):
        time = (report.fix_time or NOW) + ahead
        house.poll(report._replace(fix_time=time, device_time=time), report.server_time)
    assert house.kinds == ["started", "ended"]
    assert house.book[0].distance == pytest.approx(1.25)


def test_repeated_fix_confirms_nothing() -> None:
    """A heartbeat that sends a fix that jumped again proves no ride."""
    reports = story("stand 3, jump 15000, stand 1, jump -15000, stand 3")
    house = House(has_history=False)
    house.polls(reports[:5])
    for number in range(20):
        time = minutes(5 + number)
        again = reports[4]._replace(id=50 + number, device_time=time, server_time=time)
        house.poll(again, time)
    later = minutes(60)
    house.poll(reports[5]._replace(id=99, fix_time=later, device_time=later), later)
    assert house.summary == "0.0 km"


def test_report_without_a_time() -> None:
    """A place without a time is no fix."""
    house = lived("stand 3")
    known = house.state.ride_state
    house.poll(a_position(99, latitude=48.5, fix_time=None), minutes(4))
    assert house.state.ride_state == known


# In an account


def ride_in(account: Account, read: Read) -> Ride | None:
    """Let a bike set off in an account."""
    for report in story("stand 0, ride 2 @15"):
        context = UpdateContext(report.fix_time or NOW)
        devices = read(a_device(position_id=report.id))
        account.apply_poll(devices, {"red": report}, context)
    return account.trackers["red"].ride_under_way


def test_ends_with_a_poll_that_brings_nothing(account: Account, read: Read) -> None:
    """The clock ends the ride of a silent tracker, once, and not while it comes back."""
    ride = ride_in(account, read)
    assert ride
    devices = read(a_device(position_id=3))
    assert not account.apply_poll(devices, {}, UpdateContext(minutes(31))).keys
    back = UpdateContext(minutes(33), recovering=True)
    assert not account.apply_poll(devices, {}, back).keys
    changes = account.apply_poll(devices, {}, UpdateContext(minutes(33)))
    assert changes.keys == {"red"}
    assert changes.after["red"].ride_under_way is None
    over = changes.after["red"].ride
    assert over and over[:3] == ride[:3]
    assert not account.apply_poll(devices, {}, UpdateContext(minutes(34))).keys


def test_reports_again_with_the_poll_that_would_end_it(
    account: Account, read: Read
) -> None:
    """The report counts, not the silence."""
    ride_in(account, read)
    there = story("sleep 33, jump 1500, ride 1 @15")[-1]._replace(id=4)
    context = UpdateContext(minutes(33))
    account.apply_poll(read(a_device(position_id=4)), {"red": there}, context)
    occurrences = account.trackers["red"].state.occurrences
    kinds = [it.type for it in occurrences if it.type.startswith("ride_")]
    assert kinds == ["ride_started", "ride_ended", "ride_started"]


def test_report_that_says_nothing_new() -> None:
    """The same report without its address changes nothing."""
    house = lived("stand 3", address="Old Lane")
    state, last = house.state, house.state.position
    assert last
    house.poll(last._replace(address=None))
    assert house.state == state
