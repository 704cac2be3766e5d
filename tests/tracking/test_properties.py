"""In whatever order lists, positions and messages come: it ends in what the last say."""

from collections import Counter
from collections.abc import Mapping
from copy import replace
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from hypothesis import example, given, strategies as st

from custom_components.bike_tracker.api.models import Device, Position
from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.occurrences import UpdateContext
from custom_components.bike_tracker.tracking.state import Changes, Tracker, Trackers

from ..long import examples
from .conftest import (
    NOW,
    Listing,
    ListOfDevices,
    a_device,
    a_position,
    no_fix,
    remembering,
)

every = examples(40)

UNIQUE_IDS = ["red", "blue", "green"]
RED = sum(b"red")
NEWEST = 3
COMPLETE = a_position(9, battery_level=9, motion=True)

numbers = st.integers(min_value=1, max_value=NEWEST)
seldom = st.sampled_from([False, False, False, True])
moments = st.none() | st.integers(0, 3).map(lambda hours: NOW + timedelta(hours=hours))
says: dict[str, st.SearchStrategy[Any]] = {
    "battery_level": st.none() | numbers,
    "motion": st.none() | st.booleans(),
}
latitudes = st.sampled_from([47.0, 48.0])

devices = st.builds(
    a_device,
    st.sampled_from(UNIQUE_IDS),
    id=st.none() | st.integers(min_value=1, max_value=9),
    name=st.sampled_from("ab"),
    position_id=st.none() | numbers,
    last_update=moments,
)
positions = st.builds(a_position, numbers, latitude=latitudes, **says) | st.builds(
    no_fix, numbers, **says
)
by_tracker = st.fixed_dictionaries({}, optional=dict.fromkeys(UNIQUE_IDS, positions))


@dataclass
class Poll:
    """One poll: what the service says, and what becomes of it."""

    listed: list[Device]
    positions: dict[str, Position]
    """What the service would answer with for whom it is asked about."""
    recovering: bool
    interrupted: bool
    """The list was read, and nothing was taken in."""
    apart: bool
    """The list is another one each time, as where another account has trackers."""

    def read(self, reader: ListOfDevices) -> Listing:
        """Return the list as the client reads it."""
        listed = reader.read(*self.listed)
        return dict(listed) if self.apart else listed


@dataclass
class Message:
    """One message of the live connection."""

    devices: list[Device]
    positions: list[Position]
    recovering: bool
    during_a_poll: bool
    """It comes when the last poll has begun."""


lists = st.lists(devices, max_size=4, unique_by=lambda device: device.unique_id)
polls = st.builds(Poll, lists, by_tracker, seldom, seldom, seldom)
timed_positions = st.builds(
    lambda position, moment, device_id: replace(
        position, fix_time=position.latitude and moment, device_id=device_id
    ),
    positions,
    moments,
    numbers,
)
messages = st.builds(
    Message,
    st.lists(devices, max_size=3),
    st.lists(timed_positions, max_size=3),
    seldom,
    st.booleans(),
)
histories = st.lists(polls | messages, max_size=8)


@dataclass
class LookAtEverything:
    """What is to be known, found out anew each time from all there is."""

    received: dict[str, list[Position]] = field(default_factory=dict)

    def wanted(self, now: Mapping[str, Device]) -> dict[int, Device]:
        """Return the devices that announce another position than the last one received."""
        ids = Counter(device.id for device in now.values())
        return {
            device.id: device
            for unique_id, device in now.items()
            if device.id is not None
            and ids[device.id] == 1
            and device.position_id is not None
            and (
                not (received := self.received.get(unique_id))
                or received[-1].id != device.position_id
            )
        }

    def agrees(self, trackers: Trackers) -> None:
        """Hold what is known against what the last positions said."""
        for unique_id, tracker in trackers.items():
            received, position = self.received.get(unique_id, []), tracker.position
            if not received:
                assert position is None
                continue
            levels = [it.battery_level for it in received if it.battery_level]
            places = [_place(it) for it in received if it.latitude is not None]
            assert position is not None
            assert position.id == received[-1].id
            assert position.motion == received[-1].motion
            assert position.battery_level == (levels[-1] if levels else None)
            assert _place(position) == (places[-1] if places else (None, None, None))


def _place(position: Position) -> tuple[Any, ...]:
    return position.latitude, position.longitude, position.fix_time


@every
@given(remembered=by_tracker, polls=st.lists(polls, max_size=6))
def test_any_polls(remembered: dict[str, Position], polls: list[Poll]) -> None:
    """What is known, wanted and news is what looking at everything would find."""
    account, reader = Account("Bikes", remembering(**remembered)), ListOfDevices()
    everything = LookAtEverything({key: [it] for key, it in remembered.items()})
    for poll in polls:
        listed = poll.read(reader)
        wanted = account.wanted(listed)
        assert wanted == everything.wanted(listed)
        if poll.interrupted:
            continue
        # None of them is older than what is known, unless the list announces it.
        found = {
            device.unique_id: position
            for device in wanted.values()
            if (position := poll.positions.get(device.unique_id))
            and position.id in (device.position_id, NEWEST)
        }
        _poll(account, listed, found, recovering=poll.recovering)
        for unique_id, position in found.items():
            everything.received.setdefault(unique_id, []).append(position)
        known = {key: tracker.device for key, tracker in account.trackers.items()}
        assert known == listed
        everything.agrees(account.trackers)


# A place without a time comes between a fix and an older one.
_hour_later = a_position(1, fix_time=NOW + timedelta(hours=1))
_back = [
    Poll([a_device("red", id=1)], {}, False, False, False),
    Message([], [_hour_later], False, False),
    Message([], [a_position(2, fix_time=None), a_position(2)], False, False),
]


@every
@example(history=_back)
@given(history=histories)
def test_any_history_ends_in_the_last_poll(history: list[Poll | Message]) -> None:
    """It is the truth: as if no message had ever come, and no other poll.

    The first list after a message may lag behind it.
    """
    account, other = Account("Bikes", {}), Account("Bikes", {})
    reader = _live_through(account, history)
    red = a_device("red", position_id=9, last_update=NOW)
    last, is_wanted = reader.read(red, a_device("blue", id=1)), False
    for _ in range(2):
        is_wanted = RED in account.wanted(last)
        _poll(account, last, {"red": COMPLETE} if is_wanted else {})
    _poll(other, last, {"red": COMPLETE})
    assert {key: it.device for key, it in account.trackers.items()} == last
    position = account.trackers["red"].position
    assert position and position.id == 9
    if is_wanted:
        assert position == other.trackers["red"].position


@every
@given(history=histories)
def test_any_history_ends_in_the_last_message(history: list[Poll | Message]) -> None:
    """If it came later than all else, until the second poll after it."""
    account = Account("Bikes", {})
    reader = _live_through(account, history)
    listed = reader.read(a_device("red", position_id=1), a_device("blue"))
    for _ in range(2):
        _poll(account, listed, {})
    later = NOW + timedelta(days=1)
    said = a_device("red", status="offline", position_id=10, last_update=later)
    place = replace(COMPLETE, id=10, device_id=RED, fix_time=later)
    account.apply_message([said], [place], UpdateContext(NOW))
    assert account.trackers["red"].device == said
    assert account.trackers["red"].position == place
    assert account.wanted(listed) == {}
    _poll(account, listed, {"red": a_position(1, latitude=1.0)})
    assert account.trackers["red"].position == place
    assert account.wanted(listed).keys() == {RED}


def _live_through(account: Account, history: list[Poll | Message]) -> ListOfDevices:
    """Take in all of it."""
    reader, during = ListOfDevices(), list[Message]()
    for event in history:
        if isinstance(event, Poll):
            listed = event.read(reader)
            account.wanted(listed)
            if not event.interrupted:
                _poll(account, listed, event.positions, recovering=event.recovering)
        elif event.during_a_poll:
            during.append(event)
        else:
            _hear(account, event)
    for message in during:
        _hear(account, message)
    return reader


def _poll(
    account: Account,
    listed: Listing,
    found: Mapping[str, Position],
    *,
    recovering: bool = False,
) -> None:
    before, context = account.trackers, UpdateContext(NOW, recovering=recovering)
    picture = dict(before)
    _is_news(account, account.apply_poll(listed, found, context), before, picture)


def _hear(account: Account, message: Message) -> None:
    before = account.trackers
    picture, context = dict(before), UpdateContext(NOW, recovering=message.recovering)
    changes = account.apply_message(message.devices, message.positions, context)
    _is_news(account, changes, before, picture)
    assert changes.before.keys() == changes.after.keys()
    for unique_id in changes.keys:
        _never_goes_back(before[unique_id], account.trackers[unique_id])


def _never_goes_back(before: Tracker, now: Tracker) -> None:
    assert now.device.moment >= before.device.moment
    assert (now.device.position_id or 0) >= (before.device.position_id or 0)
    if before.position and now.position and now.position.fix_time:
        assert now.position.moment >= before.position.moment


def _is_news(
    account: Account, changes: Changes, before: Trackers, picture: Trackers
) -> None:
    """Hold news against a look at everything."""
    now = account.trackers
    assert before == picture
    assert changes.before is before
    assert changes.after is now
    differ = {
        key for key in before.keys() | now.keys() if before.get(key) != now.get(key)
    }
    assert changes.keys == differ
    assert (now is before) is (not differ)
    assert all(now[key] is before[key] for key in before.keys() - differ)
