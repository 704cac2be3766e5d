"""Messages enter by the same door as lists, and polls stay the truth."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from custom_components.bike_tracker.api.models import Device, Position
from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.occurrences import UpdateContext
from custom_components.bike_tracker.tracking.state import Changes

from .conftest import NOW, Read, a_device, a_position, no_fix, position_remembered

EARLIER = datetime(2026, 11, 21, 11, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 11, 30, tzinfo=UTC)
ID = sum(b"red")

type Hear = Callable[..., Changes]
type Poll = Callable[..., Changes]


def place(position_id: int, **fields: Any) -> Position:
    """Return a position of the red bike."""
    position = a_position(position_id, **fields)
    return Position(**{**_fields(position), "device_id": ID})


def _fields(position: Position) -> dict[str, Any]:
    return {name: getattr(position, name) for name in Position._fields}


@pytest.fixture
def hear(account: Account) -> Hear:
    """Return a function that takes in what a message says."""

    def _hear(*things: Device | Position, recovering: bool = False) -> Any:
        devices = [thing for thing in things if isinstance(thing, Device)]
        positions = [thing for thing in things if isinstance(thing, Position)]
        return account.apply_message(
            devices, positions, UpdateContext(NOW, recovering=recovering)
        )

    return _hear


@pytest.fixture
def poll(account: Account, read: Read) -> Poll:
    """Return a function that takes in a list, and where the red bike is."""

    def _poll(*devices: Device, found: Position | None = None) -> Any:
        positions = {} if found is None else {"red": found}
        return account.apply_poll(read(*devices), positions, UpdateContext(NOW))

    return _poll


def device_of(account: Account) -> Device:
    """Return what is known of the red bike."""
    return account.trackers["red"].device


def position_of(account: Account) -> Position:
    """Return where the red bike is."""
    position = account.trackers["red"].position
    assert position is not None
    return position


def test_a_device(account: Account, poll: Poll, hear: Hear) -> None:
    """What is said of it is different at once."""
    poll(a_device("red"), a_device("blue"))
    before = account.trackers
    changes = hear(a_device("red", status="offline", last_update=LATER))
    assert changes.keys == {"red"}
    assert changes.before is before
    assert changes.after is account.trackers
    assert device_of(account).status == "offline"
    online = account.trackers["red"].state.online
    assert online and not online.value
    assert account.trackers["blue"] is before["blue"]


def test_a_position(account: Account, poll: Poll, hear: Hear) -> None:
    """It is shown, and announced as the list will announce it."""
    poll(a_device("red", position_id=1), found=place(1))
    changes = hear(place(2, latitude=48.0, fix_time=NOW))
    assert changes.keys == {"red"}
    assert position_of(account).latitude == 48.0
    assert device_of(account).position_id == 2
    assert position_remembered(account) is position_of(account)


@pytest.mark.parametrize(
    ("last_update", "counts"), [(None, False), (EARLIER, False), (LATER, True)]
)
def test_older_devices(
    account: Account, poll: Poll, hear: Hear, last_update: datetime | None, counts: bool
) -> None:
    """What was so before is dropped, what was so at the same time counts."""
    poll(a_device("red", last_update=LATER))
    hear(a_device("red", status="offline", last_update=last_update))
    assert (device_of(account).status == "offline") is counts


@pytest.mark.parametrize(
    ("position_id", "fix_time", "counts"),
    [
        (9, EARLIER, False),
        (1, EARLIER, False),
        (4, LATER, False),
        (5, LATER, False),
        (6, LATER, True),
        (6, NOW, True),
        (4, NOW, True),
        (6, None, True),
        (4, None, False),
    ],
)
def test_older_positions(
    account: Account,
    poll: Poll,
    hear: Hear,
    position_id: int,
    fix_time: datetime | None,
    counts: bool,
) -> None:
    """An older fix is dropped; of the same one the newer ID counts."""
    poll(a_device("red", position_id=5), found=place(5, fix_time=LATER))
    position = no_fix(position_id, battery_level=1)
    if fix_time is not None:
        position = place(position_id, fix_time=fix_time, battery_level=1)
    hear(Position(**{**_fields(position), "device_id": ID}))
    assert (position_of(account).battery_level == 1) is counts


@pytest.mark.parametrize(("position_id", "counts"), [(4, False), (6, True)])
def test_positions_without_a_fix(
    account: Account, poll: Poll, hear: Hear, position_id: int, counts: bool
) -> None:
    """Before the first fix the newer ID counts, and a fix in any case."""
    first = Position(device_id=ID, id=5)
    poll(a_device("red", position_id=5), found=first)
    hear(Position(device_id=ID, id=position_id, battery_level=1))
    assert (position_of(account).battery_level == 1) is counts
    hear(place(2))
    assert position_of(account).latitude == 47.9


def test_the_old_position_beside_a_new_status(
    account: Account, poll: Poll, hear: Hear
) -> None:
    """Servers tell of the device first, or much later, with the position before."""
    poll(a_device("red", position_id=1), found=place(1))
    hear(a_device("red", position_id=1, status="offline", last_update=EARLIER))
    assert (device_of(account).status, position_of(account).id) == ("offline", 1)
    hear(place(2, fix_time=NOW))
    hear(a_device("red", position_id=1, last_update=LATER))
    assert (device_of(account).status, device_of(account).position_id) == ("online", 2)
    assert position_of(account).id == 2


@pytest.mark.parametrize(
    ("known", "said", "announced"), [(1, 5, 5), (1, None, 1), (None, 5, 5)]
)
def test_a_device_before_its_position(
    account: Account,
    poll: Poll,
    hear: Hear,
    known: int | None,
    said: int | None,
    announced: int | None,
) -> None:
    """A newer position that it announces is wanted; none at all is not believed."""
    poll(a_device("red", position_id=known), found=place(1) if known else None)
    hear(a_device("red", position_id=said, last_update=LATER))
    assert device_of(account).position_id == announced


def test_the_poll_wins(account: Account, poll: Poll, hear: Hear, read: Read) -> None:
    """A list that is the same as the one before takes back what a message said.

    The first one after it may lag behind.
    """
    listed = a_device("red", position_id=1, last_update=EARLIER)
    poll(listed, found=place(1))
    hear(
        a_device("red", position_id=1, status="offline", last_update=LATER),
        place(2, fix_time=NOW, latitude=48.0),
    )
    again = read(listed)
    assert account.wanted(again) == {}
    account.apply_poll(again, {}, UpdateContext(NOW))
    assert device_of(account).status == "online"
    assert position_of(account).id == 2
    assert account.wanted(read(listed)).keys() == {ID}
    changes = account.apply_poll(read(listed), {"red": place(1)}, UpdateContext(NOW))
    assert changes.keys == {"red"}
    assert device_of(account) == listed
    assert position_of(account).id == 1


def test_a_tracker_that_goes(account: Account, poll: Poll, hear: Hear) -> None:
    """A message does not keep it, nor bring it back."""
    poll(a_device("red"), a_device("blue"))
    hear(a_device("red", status="offline"), place(1))
    assert poll(a_device("blue")).keys == {"red"}
    assert hear(a_device("red"), place(2)).keys == set()
    poll(a_device("red", name="Red again"), a_device("blue"))
    assert device_of(account).name == "Red again"


def test_a_late_report(account: Account, poll: Poll, hear: Hear) -> None:
    """An older fix is dropped, but its alarm is told, once."""
    poll(a_device("red", position_id=2), found=place(2, fix_time=LATER))
    late = place(3, fix_time=EARLIER, alarm="sos", latitude=1.0)
    for _ in range(2):
        hear(late)
        [alarm] = account.trackers["red"].state.occurrences
        assert (alarm.attributes["alarm"], alarm.since) == ("sos", EARLIER)
        assert position_of(account).id == 2
    poll(a_device("red", position_id=2), found=late)
    assert len(account.trackers["red"].state.alarms) == 1
