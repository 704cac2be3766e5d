"""What a list and positions change."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from custom_components.bike_tracker.tracking.account import Account, is_outdated
from custom_components.bike_tracker.tracking.occurrences import UpdateContext
from custom_components.bike_tracker.tracking.state import merged

from .conftest import NOW, Read, a_device, a_position, no_fix


def test_empty_list(account: Account, read: Read) -> None:
    """Nobody is listed; where they were is known when they come back."""
    account.apply_poll(
        read(a_device(position_id=1)), {"red": a_position(1)}, UpdateContext(NOW)
    )
    changes = account.apply_poll(read(), {}, UpdateContext(NOW))
    assert changes.after == account.trackers == {}
    assert changes.keys == {"red"}
    assert not account.wanted(read())

    changes = account.apply_poll(read(a_device(position_id=1)), {}, UpdateContext(NOW))
    assert changes.after["red"].position == a_position(1)


def test_forgotten_tracker(account: Account, read: Read) -> None:
    """It comes back as one that was never known; the others stay as they are."""
    both = a_device("red", position_id=1), a_device("blue", position_id=1)
    account.apply_poll(
        read(*both), {"red": a_position(1), "blue": a_position(1)}, UpdateContext(NOW)
    )
    account.apply_poll(read(both[1]), {}, UpdateContext(NOW))
    account.forget("red")
    assert account.states.keys() == {"blue"}

    devices = read(*both)
    wanted = account.wanted(devices)
    assert [device.unique_id for device in wanted.values()] == ["red"]
    changes = account.apply_poll(devices, {}, UpdateContext(NOW))
    assert changes.after["red"].position is None


# Which position counts


@pytest.mark.parametrize(
    ("announced", "known", "outdated"),
    [
        (None, None, False),
        (None, 1, False),
        (1, None, True),
        (1, 1, False),
        (1, 2, True),
        (2, 1, True),
    ],
)
def test_outdated(announced: int | None, known: int | None, outdated: bool) -> None:
    """A position is outdated once another one is announced."""
    position = None if known is None else a_position(known)
    assert is_outdated(a_device(position_id=announced), position) is outdated


@pytest.mark.parametrize(
    ("known", "received_at", "outdated"),
    [
        ({"is_readable": False}, NOW, True),
        ({"fix_time": NOW + timedelta(hours=25)}, NOW, True),
        ({"fix_time": NOW + timedelta(hours=23)}, NOW, False),
        ({"fix_time": NOW + timedelta(hours=25)}, None, False),
        ({"fix_time": None}, NOW, False),
    ],
)
def test_position_of_a_service_that_was_not_well(
    known: dict[str, Any], received_at: datetime | None, outdated: bool
) -> None:
    """It is wanted again: its time cannot be read, or is after the tracker was received."""
    device = a_device(position_id=1, last_update=received_at)
    assert is_outdated(device, a_position(1, **known)) is outdated


@pytest.mark.parametrize("battery_level", [None, 0, 12])
def test_message_without_a_fix(battery_level: int | None) -> None:
    """The place and its time stay; battery, motion and ID are those of the message."""
    known = a_position(1, address="Kaiserstraße 1")
    message = no_fix(2, battery_level=battery_level, motion=True)
    position = merged(known, message)
    assert (position.latitude, position.longitude) == (47.9, 7.8)
    assert (position.accuracy, position.fix_time) == (known.accuracy, known.fix_time)
    assert position.address == "Kaiserstraße 1"
    assert (position.id, position.motion) == (2, True)
    assert position.battery_level == (80 if battery_level is None else battery_level)


@pytest.mark.parametrize("battery_level", [0, 12])
def test_message_without_a_battery_level(battery_level: int) -> None:
    """The battery is as full as it was, an empty one too."""
    known = a_position(1, battery_level=battery_level)
    position = merged(known, a_position(2, latitude=48.1, battery_level=None))
    assert position == a_position(2, latitude=48.1, battery_level=battery_level)


@pytest.mark.parametrize(
    ("position_id", "hours", "is_taken"),
    [
        pytest.param(3, -1, True, id="announced: an older fix counts"),
        pytest.param(2, -1, False, id="another one, and older: the server lags"),
        pytest.param(2, 1, True, id="another one, and newer"),
    ],
)
def test_server_that_lags_behind(
    account: Account, read: Read, position_id: int, hours: int, is_taken: bool
) -> None:
    """A bike does not go back in time, unless the list says so."""
    known = a_position(1, fix_time=NOW)
    account.apply_poll(
        read(a_device("red", position_id=1)), {"red": known}, UpdateContext(NOW)
    )
    other = a_position(position_id, fix_time=NOW + timedelta(hours=hours))
    devices = read(a_device("red", position_id=3))
    account.apply_poll(devices, {"red": other}, UpdateContext(NOW))
    assert (account.trackers["red"].position == other) is is_taken


@pytest.mark.parametrize(("known", "other"), [(None, NOW), (NOW, None), (None, None)])
def test_lagging_shows_by_times(
    account: Account, read: Read, known: datetime | None, other: datetime | None
) -> None:
    """Where one of them has none, what the service says counts."""
    first, second = a_position(1, fix_time=known), a_position(2, fix_time=other)
    account.apply_poll(
        read(a_device("red", position_id=1)), {"red": first}, UpdateContext(NOW)
    )
    account.apply_poll(
        read(a_device("red", position_id=3)), {"red": second}, UpdateContext(NOW)
    )
    position = account.trackers["red"].position
    assert position is not None
    assert position.id == 2
