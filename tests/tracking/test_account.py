"""How device lists, positions, messages and history answers change an account."""

from datetime import datetime
from itertools import chain
from typing import Any
from unittest.mock import Mock

import pytest

from custom_components.bike_tracker.api.models import Device, Position
from custom_components.bike_tracker.tracking import Account, is_outdated
from custom_components.bike_tracker.tracking.history import HistoryAnswer, UpdateContext
from custom_components.bike_tracker.tracking.log import Clock, Log
from custom_components.bike_tracker.tracking.state import TrackerState, merged

from .conftest import NOW, RED_ID, Service, a_device, a_position, no_fix
from .house import House, lived, minutes, story

type Time = datetime | None

EARLIER, LATER = minutes(-60), minutes(-30)
ANNOUNCED = a_device(position_id=1, last_update=NOW)
OF_TRACKER = {"charge": True, "lock": False, "battery_voltage": 3.9, "firmware": "1.2"}
KNOWN = a_position(1, address="Lane", power_voltage=12.3, **OF_TRACKER)


def test_tracker_that_leaves_the_list(service: Service) -> None:
    """If a tracker returns to the list, it has its last place, unless the tracker was forgotten."""
    both = a_device("red", position_id=1), a_device("blue", position_id=1)
    service.poll(*both, red=a_position(1), blue=a_position(1))
    changes = service.poll(both[1])
    assert changes.keys == {"red"}
    assert changes.after == service.account.trackers
    assert changes.after.keys() == {"blue"}
    assert service.poll(*both).after["red"].state.position == a_position(1)
    assert service.poll().keys == {"red", "blue"}
    service.account.forget("red")
    assert service.account.states.keys() == {"blue"}
    wanted = service.account.wanted(service.read(*both))
    assert [device.unique_id for device in wanted.values()] == ["red"]
    assert service.poll(*both).after["red"].state.position is None


def test_contacts(service: Service) -> None:
    """If half of the trackers changed only their time of contact, `contacts` has these, and the rest get positions."""
    names = [f"bike{number}" for number in range(18)]
    silent, others = names[::2], names[1::2]
    service.poll(*map(a_device, names))
    contacts = (a_device(it, last_update=LATER) for it in silent)
    reported = (a_device(it, position_id=1) for it in others)
    found = dict.fromkeys(others, a_position(1))
    assert service.poll(*contacts, *reported, **found).contacts == set(silent)
    assert all(service.account.states[it].position for it in others)


# Positions that are requested or kept


@pytest.mark.parametrize(
    ("device", "known", "outdated"),
    [
        (a_device(), None, False),
        (a_device(), a_position(1), False),
        (ANNOUNCED, None, True),
        (ANNOUNCED, a_position(1), False),
        (ANNOUNCED, a_position(2), True),
        (a_device(position_id=2), a_position(1), True),
        (ANNOUNCED, a_position(1, is_readable=False), True),
        # A fix is faulty if it is more than a day later than the last contact.
        (ANNOUNCED, a_position(1, fix_time=minutes(25 * 60)), True),
        (ANNOUNCED, a_position(1, fix_time=minutes(23 * 60)), False),
        (a_device(position_id=1), a_position(1, fix_time=minutes(25 * 60)), False),
        (ANNOUNCED, a_position(1, fix_time=None), False),
    ],
)
def test_outdated(device: Device, known: Position | None, outdated: bool) -> None:
    """A position is requested if the list announces a position other than the known one, or the known one is faulty."""
    assert is_outdated(device, known) is outdated


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (no_fix(2, motion=True), KNOWN._replace(motion=True)),
        (no_fix(2, battery_level=0), KNOWN._replace(battery_level=0, motion=None)),
        (no_fix(2, lock=True, charge=False), {"lock": True, "charge": False}),
        (no_fix(2, battery_voltage=0, power_voltage=0), {"battery_voltage": 0}),
        (no_fix(2, firmware="1.3"), {"firmware": "1.3", "power_voltage": 12.3}),
        (a_position(2, battery_level=None), KNOWN),
        (a_position(2, address="Road"), {"address": "Road", "lock": False}),
        (a_position(2, latitude=48.1), {"address": None, "latitude": 48.1}),
        (a_position(2, longitude=8.1), {"address": None, "longitude": 8.1}),
        (a_position(2, alarm="sos"), KNOWN._replace(alarm="sos")),
    ],
)
def test_merged(said: Position, expected: Position | dict[str, Any]) -> None:
    """If a report lacks the place or a value, the known one is kept, except motion and alarms. The address is kept as long as the place stays the same."""
    position = merged(KNOWN, said)
    if isinstance(expected, Position):
        expected = expected._replace(id=2)._asdict()
    assert expected.items() <= position._asdict().items()
    assert merged(position._replace(alarm="sos"), said).alarm == said.alarm


def test_server_that_lags_behind(service: Service) -> None:
    """A position with an older fix does not move the bike, unless the list announces that position."""
    service.poll(a_device(position_id=1), red=a_position(1, fix_time=NOW))
    device, older = a_device(position_id=3), a_position(2, fix_time=EARLIER)
    service.poll(device, red=older)
    assert service.red().state.position == a_position(1, fix_time=NOW)
    service.poll(device, red=older._replace(id=3))
    assert service.red().state.position == older._replace(id=3)


# Messages


def test_message(service: Service) -> None:
    """The device and positions in a message apply at once. The device then has the ID of the newest position."""
    service.poll(a_device(position_id=1), a_device("blue"), red=a_position(1))
    service.hear(a_device(status="offline", last_update=LATER))
    online = service.red().state.online
    assert online and not online.value
    twice = a_position(2, fix_time=LATER)
    changes = service.hear(twice, twice, a_position(3, latitude=48.0, fix_time=NOW))
    assert changes.keys == {"red"}
    device, state = service.red()
    assert (device.position_id, device.status) == (3, "offline")
    assert state.position and state.position.latitude == 48.0


@pytest.mark.parametrize(
    ("known", "said", "counts"),
    [
        (LATER, None, False),
        (LATER, EARLIER, False),
        (LATER, LATER, True),
        (None, LATER, True),
    ],
)
def test_older_devices(known: Time, said: Time, counts: bool) -> None:
    """The newest device in a message replaces the known device, unless it is older than the known device."""
    service = Service()
    service.poll(a_device(last_update=known))
    new = a_device(status="offline", last_update=said)
    service.hear(new, a_device(last_update=EARLIER))
    assert (service.red().device.status == "offline") is counts


@pytest.mark.parametrize(
    ("known", "said", "counts"),
    [
        (a_position(5, fix_time=LATER), a_position(9, fix_time=EARLIER), False),
        (a_position(5, fix_time=LATER), a_position(4, fix_time=LATER), False),
        (a_position(5, fix_time=LATER), a_position(5, fix_time=LATER), False),
        (a_position(5, fix_time=LATER), a_position(6, fix_time=LATER), True),
        (a_position(5, fix_time=LATER), a_position(6, fix_time=NOW), True),
        (a_position(5, fix_time=LATER), a_position(4, fix_time=NOW), True),
        (a_position(5, fix_time=LATER), no_fix(6), True),
        (a_position(5, fix_time=LATER), no_fix(4), False),
        # If the known report has no fix, the new report needs a higher ID or a fix.
        (no_fix(5), no_fix(4), False),
        (no_fix(5), no_fix(6), True),
        (no_fix(5), a_position(2), True),
    ],
)
def test_older_positions(known: Position, said: Position, counts: bool) -> None:
    """An older fix does not replace the known position. If fix times are equal or missing, a higher ID is required."""
    service = Service()
    service.poll(a_device(position_id=5), red=known)
    service.hear(said._replace(battery_level=1))
    position = service.red().state.position
    assert position and (position.battery_level == 1) is counts


def test_seen_at(service: Service) -> None:
    """The known error of the clock is added to the time of the newest believed fix, but not of another place."""
    service.poll(a_device(), red=a_position(fix_time=EARLIER))
    tracker = service.red()
    state, core = tracker.state, tracker.state.log.core
    slow = Log(core._replace(clock=Clock(EARLIER, 900, 900)))
    doubted = a_position(latitude=48.0, fix_time=LATER)
    assert tracker.state.seen_at == EARLIER
    assert not TrackerState().clock_error
    for position, seen_at in (
        (None, None),
        (doubted, LATER),
        (state.position, minutes(-45)),
    ):
        changed = state._replace(log=slow, position=position)
        assert changed.seen_at == seen_at
    assert TrackerState(position=doubted).seen_at == LATER


def test_repeated_late_report(service: Service) -> None:
    """A late report changes the tracker once. If the service sends it again a minute later, nothing changes."""
    late = a_position(2, fix_time=minutes(-45))
    service.poll(a_device(), red=a_position(1, fix_time=EARLIER))
    service.hear(a_position(3, fix_time=LATER))
    assert service.hear(late).keys == {"red"}
    again = UpdateContext(minutes(1))
    assert not service.account.apply_message([], [late], again).keys


@pytest.mark.parametrize(
    ("known", "said", "announced"), [(1, 5, 5), (1, None, 1), (None, 5, 5), (2, 1, 2)]
)
def test_device_without_its_position(
    service: Service, known: int | None, said: int | None, announced: int | None
) -> None:
    """A newer position ID in a message is stored before its position is known. An older or missing ID is ignored."""
    found = {"red": a_position(known)} if known else {}
    service.poll(a_device(position_id=known), **found)
    service.hear(a_device(position_id=said, status="offline", last_update=LATER))
    device, position = service.red().device, service.red().state.position
    assert (device.position_id, device.status) == (announced, "offline")
    assert (position and position.id) == known


def test_poll_wins(service: Service) -> None:
    """The first list after a message replaces the message's device, but not its position.

    The next list replaces the position, too. Both lists are the same as the list before
    the message.
    """
    listed, account = a_device(position_id=1, last_update=EARLIER), service.account
    service.poll(listed, red=a_position(1))
    service.hear(
        a_device(position_id=1, status="offline", last_update=LATER),
        a_position(2, fix_time=NOW, latitude=48.0),
    )
    assert account.wanted(service.read(listed)) == {}
    service.poll(listed)
    assert service.red().device.status == "online"
    assert service.red().state.position == account.states["red"].position
    assert account.wanted(service.read(listed)).keys() == {RED_ID}
    assert service.poll(listed, red=a_position(1)).keys == {"red"}
    position = service.red().state.position
    assert service.red().device == listed
    assert position and position.id == 1


def test_message_of_a_tracker_that_left(service: Service) -> None:
    """If a tracker has left the list, a message about it changes nothing."""
    service.poll(a_device(), a_device("blue"))
    service.hear(a_device(status="offline"), a_position(1))
    assert service.poll(a_device("blue")).keys == {"red"}
    assert service.hear(a_device(), a_position(2)).keys == set()
    service.poll(a_device(name="Red again"), a_device("blue"))
    assert service.red().device.name == "Red again"


# Histories, time and errors


def test_gaps_of_an_account() -> None:
    """A restart keeps the gap of a tracker. A history answer closes it, and removing the tracker deletes it."""
    house, reports = House(), story("stand 5, ride 9 @15, stand 7")
    house.polls(reports)
    account, now = house.account, minutes(21)
    answer = HistoryAnswer(reports, now)
    again = Account("Bikes", dict(account.states))
    assert again.gaps == account.gaps
    assert again.gaps.keys() == {"red"}
    again.forget("red")
    assert (again.gaps, again.states) == ({}, {})
    state = account.states["red"].with_history(answer, now)
    assert not account.apply_history("blue", state, now).keys
    assert account.apply_history("red", state, now).keys == {"red"}
    assert account.gaps == {}


def test_ends_with_a_poll_that_brings_nothing() -> None:
    """A poll without a report ends the ride of a tracker that was silent for half an hour.

    The first poll after an outage does not end it, and later polls change nothing.
    """
    account, devices = lived("ride 2 @15").account, {"red": a_device(position_id=3)}
    steps = ((3, False), (31, False), (33, True), (33, False), (34, False))
    contexts = [UpdateContext(minutes(at), is_back) for at, is_back in steps]
    changes = [*chain(*(account.apply_poll(devices, {}, it) for it in contexts))]
    assert [bool(it.keys) for it in changes] == [True, False, False, True, False]
    before, after = changes[2].after["red"], changes[3].after["red"]
    assert before.state.ride_under_way
    assert (after.state.ride_under_way, after.state.is_under_way) == (None, False)
    assert after.state.ride and after.state.ride[:3] == before.state.ride_under_way[:3]
    assert after.state.ride.route is after.state.ride.route


def test_steps_of_a_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    """A poll of many trackers is applied in steps. Updates between two steps keep their effect."""
    monkeypatch.setattr(f"{Account.__module__}._APPLIED_AT_ONCE", 1)
    service, context = Service(), UpdateContext(NOW)
    account, red, blue = service.account, a_device(position_id=1), a_device("blue")
    listed = service.read(red, blue := blue._replace(position_id=1), a_device("old"))
    found = {key: a_position(device_id=listed[key].id) for key in ("red", "blue")}
    steps = account.apply_poll(listed, found, context)
    assert [len(it.keys) for it in steps] == [1, 1, 1]
    listed = service.read(*(it._replace(status="offline") for it in (red, blue)))
    steps = account.apply_poll(listed, {}, context)
    first, *_ = next(steps).keys - {"old"}
    assert account.trackers.keys() == {"red", "blue"}
    newer = a_position(2, fix_time=minutes(1), device_id=listed["red"].id)
    answer = HistoryAnswer([newer], minutes(1))
    for key in ("red", "blue"):
        assert account.arm(key, NOW)
        state = account.states[key].with_history(answer, NOW)
        account.apply_history(key, state, NOW)
    assert [it.keys for it in steps] == [{"red", "blue"} - {first}]
    for it in account.trackers.values():
        assert it.state.guard
        assert (it.device.status, it.device.position_id) == ("offline", 2)
    assert listed[first].id not in account.wanted(listed)


def test_error_costs_one_tracker(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If an unexpected error occurs while a report is applied, it is logged, and the tracker keeps its state."""
    known = a_position()
    service.poll(a_device(), red=known)
    monkeypatch.setattr(TrackerState, "with_reports", Mock(side_effect=RuntimeError))
    assert not service.poll(a_device(position_id=2), red=a_position(2)).keys
    assert service.red().state.position is known
    assert "Bikes: Unexpected error updating a tracker" in caplog.text
