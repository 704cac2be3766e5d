"""First where it was, then where it is."""

import pytest

from custom_components.bike_tracker.tracking import Account, Moment, Remembered

from .conftest import (
    NOW,
    Read,
    a_device,
    a_position,
    holds_back,
    no_fix,
    position_remembered,
    remembering as remembered,
    shown,
)
from .said import moving_since

OLD, NEW = a_position(1), a_position(2, latitude=48.1, battery_level=7)


@pytest.fixture
def remembering() -> Account:
    """Return an account that remembers where the red tracker was."""
    return Account(remembered(red=OLD))


def test_after_a_restart(remembering: Account, read: Read) -> None:
    """A tracker is where it was until it may move, and is asked for at once."""
    devices = read(a_device(position_id=2))
    assert remembering.wanted(devices)
    changes = remembering.take(devices, {"red": NEW}, Moment(NOW, came_back=True))
    assert changes.after["red"].shown == OLD
    assert holds_back(remembering)

    changes = remembering.move()
    assert changes.keys == {"red"}
    assert changes.after["red"].shown == position_remembered(remembering) == NEW
    assert not holds_back(remembering)


def test_new_tracker_after_a_restart(remembering: Account, read: Read) -> None:
    """Who was nowhere may be somewhere at once."""
    devices = read(a_device("red"), a_device("blue", position_id=2))
    changes = remembering.take(devices, {"blue": NEW}, Moment(NOW, came_back=True))
    assert changes.after["blue"].position == NEW
    assert not holds_back(remembering)


def test_after_an_outage(account: Account, read: Read) -> None:
    """Nobody moves with the first list; who moved does when all may."""
    both = a_device("red", position_id=1), a_device("blue", position_id=1)
    account.take(read(*both), {"red": OLD, "blue": OLD}, Moment(NOW))
    changes = account.take(
        read(*both), {"red": NEW, "blue": NEW}, Moment(NOW, came_back=True)
    )
    assert changes.after["red"].shown == changes.after["blue"].shown == OLD
    assert shown(changes.after["red"]).battery_level == 80

    changes = account.move()
    assert changes.keys == {"red", "blue"}
    assert changes.after["red"].shown == changes.after["blue"].shown == NEW


def test_tracker_that_comes_back(account: Account, read: Read) -> None:
    """It is first where it was, while the others move."""
    red, blue = a_device("red", position_id=1), a_device("blue", position_id=1)
    account.take(read(red, blue), {"red": OLD, "blue": OLD}, Moment(NOW))
    account.take(read(blue), {}, Moment(NOW))
    changes = account.take(read(red, blue), {"red": NEW, "blue": NEW}, Moment(NOW))
    assert changes.keys == {"red", "blue"}
    assert changes.after["red"].shown == OLD
    assert changes.after["blue"].shown == NEW
    assert account.move().after["red"].shown == NEW


def test_tracker_that_leaves_before_it_moves(account: Account, read: Read) -> None:
    """Nothing is told of it; once it is back it is where it was, and then moves."""
    red = a_device("red", position_id=1)
    account.take(read(red), {"red": OLD}, Moment(NOW))
    account.take(read(red), {"red": NEW}, Moment(NOW, came_back=True))
    account.take(read(), {}, Moment(NOW))
    assert not account.move().keys
    assert account.take(read(red), {}, Moment(NOW)).after["red"].shown == OLD
    assert holds_back(account)
    assert account.move().after["red"].shown == NEW


def test_restart_before_it_moves(account: Account, read: Read) -> None:
    """The restarted one begins where it was shown, as nobody saw it move."""
    red = a_device("red", position_id=1)
    account.take(read(red), {"red": OLD}, Moment(NOW))
    account.take(read(red), {"red": NEW}, Moment(NOW, came_back=True))

    again = Account(account.remembered)
    changes = again.take(read(red), {}, Moment(NOW, came_back=True))
    assert (changes.after["red"].shown, changes.after["red"].position) == (OLD, NEW)
    assert again.move().after["red"].shown == NEW


def test_only_the_place_is_held_back(account: Account, read: Read) -> None:
    """What it says of itself counts at once, and so does a ride."""
    account.take(read(a_device(position_id=1)), {"red": OLD}, Moment(NOW))
    moving = NEW._replace(motion=True, alarm="tow")
    devices = read(a_device(position_id=2))
    tracker = account.take(devices, {"red": moving}, Moment(NOW, came_back=True)).after[
        "red"
    ]
    assert tracker.shown == OLD
    assert tracker.position == moving
    assert moving_since(tracker) is not None
    assert [alarm.word for alarm in tracker.story.alarms] == ["tow"]
    assert account.move().after["red"].story.alarms == tracker.story.alarms


def test_position_that_is_held_back(account: Account, read: Read) -> None:
    """It is known, so it is not asked for again; a newer one takes its place."""
    account.take(read(a_device(position_id=1)), {"red": OLD}, Moment(NOW))
    devices = read(a_device(position_id=2))
    account.take(devices, {"red": NEW}, Moment(NOW, came_back=True))
    assert not account.wanted(devices)

    devices = read(a_device(position_id=3))
    changes = account.take(devices, {"red": no_fix(3, battery_level=6)}, Moment(NOW))
    assert changes.after["red"].shown == OLD
    position = shown(account.move().after["red"])
    assert (position.id, position.latitude, position.battery_level) == (3, 48.1, 6)


def test_moving_once(account: Account, read: Read) -> None:
    """Where nobody is held back there is no news."""
    account.take(read(a_device(position_id=1)), {"red": OLD}, Moment(NOW))
    before = account.trackers
    changes = account.move()
    assert not changes.keys
    assert changes.before is changes.after is account.trackers is before


def test_forgotten_before_it_may_move(remembering: Account, read: Read) -> None:
    """Nothing of it comes back."""
    remembering.take(
        read(a_device(position_id=2)), {"red": NEW}, Moment(NOW, came_back=True)
    )
    remembering.take(read(), {}, Moment(NOW))
    remembering.forget("red")
    assert not holds_back(remembering)
    remembering.move()
    assert remembering.remembered == Remembered()
