"""Whose position has to be asked for."""

from custom_components.bike_tracker.api import Changes, Device
from custom_components.bike_tracker.tracking import Account, Moment

from .conftest import NOW, Read, a_device, a_position


def names(wanted: dict[int, Device]) -> set[str]:
    """Return whose positions are wanted."""
    assert all(device.id == device_id for device_id, device in wanted.items())
    return {device.unique_id for device in wanted.values()}


def test_new_tracker_with_a_position(account: Account, read: Read) -> None:
    """One that announces a position is asked for, one that does not is not."""
    devices = read(a_device("red", position_id=1), a_device("blue"))
    assert names(account.wanted(devices)) == {"red"}


def test_known_position(account: Account, read: Read) -> None:
    """What is known is not asked for again, whatever else changes."""
    account.apply_poll(
        read(a_device(position_id=1)), {"red": a_position(1)}, Moment(NOW)
    )
    for devices in (
        read(a_device(position_id=1)),
        read(a_device(position_id=1, name="other", status="offline")),
        read(a_device(position_id=1), a_device("blue")),
    ):
        assert not account.wanted(devices)
        account.apply_poll(devices, {}, Moment(NOW))


def test_another_position(account: Account, read: Read) -> None:
    """Another ID is another position, a smaller one too."""
    account.apply_poll(
        read(a_device(position_id=7)), {"red": a_position(7)}, Moment(NOW)
    )
    for position_id in (8, 6):
        devices = read(a_device(position_id=position_id))
        assert names(account.wanted(devices)) == {"red"}
        account.apply_poll(devices, {"red": a_position(position_id)}, Moment(NOW))


def test_position_that_is_announced_no_more(account: Account, read: Read) -> None:
    """There is nothing to ask for, and the known one stays."""
    account.apply_poll(
        read(a_device(position_id=1)), {"red": a_position(1)}, Moment(NOW)
    )
    devices = read(a_device(position_id=None))
    assert not account.wanted(devices)
    account.apply_poll(devices, {}, Moment(NOW))
    assert account.trackers["red"].position == a_position(1)


def test_position_that_did_not_come(account: Account, read: Read) -> None:
    """It is wanted until it comes, although the list says nothing new."""
    for _ in range(3):
        devices = read(a_device(position_id=1))
        assert names(account.wanted(devices)) == {"red"}
        account.apply_poll(devices, {}, Moment(NOW))
    devices = read(a_device(position_id=1))
    account.apply_poll(devices, {"red": a_position(1)}, Moment(NOW))
    assert not account.wanted(devices)


def test_another_position_than_the_announced(account: Account, read: Read) -> None:
    """A server whose list and positions disagree is asked again."""
    devices = read(a_device(position_id=2))
    account.apply_poll(devices, {"red": a_position(1)}, Moment(NOW))
    assert names(account.wanted(devices)) == {"red"}


def test_list_that_was_read_in_vain(account: Account, read: Read) -> None:
    """What an interrupted poll had wanted is wanted by the next one."""
    account.apply_poll(
        read(a_device(position_id=1)), {"red": a_position(1)}, Moment(NOW)
    )
    account.wanted(read(a_device(position_id=2)))
    devices = read(a_device(position_id=2))
    assert names(account.wanted(devices)) == {"red"}


def test_asking_changes_nothing(account: Account, read: Read) -> None:
    """However often it is asked what is wanted, it is the same."""
    account.apply_poll(
        read(a_device(position_id=1)), {"red": a_position(1)}, Moment(NOW)
    )
    before = account.trackers
    devices = read(a_device(position_id=2))
    for _ in range(2):
        assert names(account.wanted(devices)) == {"red"}
    assert account.trackers is before


def test_list_from_anywhere(account: Account, read: Read) -> None:
    """A list that does not follow the last one is looked at as a whole."""
    account.apply_poll(
        read(a_device("red", position_id=1), a_device("blue", position_id=1)),
        {"red": a_position(1), "blue": a_position(1)},
        Moment(NOW),
    )
    now = {
        "red": a_device("red", position_id=1),
        "blue": a_device("blue", position_id=2),
    }
    devices = Changes({}, now, now.keys())
    assert names(account.wanted(devices)) == {"blue"}


# Internal IDs


def test_tracker_without_an_internal_id(account: Account, read: Read) -> None:
    """It cannot be asked for until it has one."""
    devices = read(a_device(id=None, position_id=1))
    assert not account.wanted(devices)
    account.apply_poll(devices, {}, Moment(NOW))
    devices = read(a_device(id=7, position_id=1))
    assert account.wanted(devices) == {7: devices.after["red"]}


def test_internal_id_that_two_trackers_have(account: Account, read: Read) -> None:
    """It leads to neither of them, nor to one of which nothing is wanted."""
    blue = a_device("blue", id=7)
    assert not account.wanted(read(a_device(id=7, position_id=1), blue))
    devices = read(a_device(id=7, position_id=1), a_device("blue", id=8))
    assert names(account.wanted(devices)) == {"red"}


def test_others_beside_an_internal_id_that_two_have(
    account: Account, read: Read
) -> None:
    """All other trackers are found."""
    devices = read(
        a_device("red", id=7, position_id=1),
        a_device("blue", id=7, position_id=2),
        a_device("green", id=8, position_id=3),
        a_device("black", id=None, position_id=3),
        a_device("white", id=None, position_id=3),
    )
    assert names(account.wanted(devices)) == {"green"}
