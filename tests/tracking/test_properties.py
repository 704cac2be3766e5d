"""In whatever order lists, positions and messages come: it ends in what the last say."""

from collections import Counter
from collections.abc import Mapping
from copy import replace
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from hypothesis import given, strategies as st

from custom_components.bike_tracker.api.models import Device, Position
from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.occurrences import UpdateContext
from custom_components.bike_tracker.tracking.state import (
    Changes,
    Tracker,
    Trackers,
    TrackerState,
)

from ..long import examples
from .conftest import NOW, Listing, ListOfDevices, a_device, a_position, remembering

# The same examples each time: a test that fails one day and passes the next helps nobody.
every = examples(40)

UNIQUE_IDS = ["red", "blue", "green"]
NEWEST = 3
numbers = st.integers(min_value=1, max_value=NEWEST)
seldom = st.sampled_from([False, False, False, True])

devices = st.builds(
    a_device,
    st.sampled_from(UNIQUE_IDS),
    id=st.none() | st.integers(min_value=1, max_value=9),
    name=st.sampled_from("ab"),
    position_id=st.none() | numbers,
)
lists = st.lists(devices, max_size=4, unique_by=lambda device: device.unique_id)
with_fix = st.builds(
    a_position,
    numbers,
    latitude=st.sampled_from([47.0, 48.0]),
    battery_level=st.none() | numbers,
    motion=st.none() | st.booleans(),
)
without_fix = st.builds(
    # Of a named tuple, Hypothesis would make up what has a default.
    partial(Position, 1),
    numbers,
    battery_level=st.none() | numbers,
    motion=st.none() | st.booleans(),
)
positions = with_fix | without_fix
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


polls = st.lists(st.builds(Poll, lists, by_tracker, seldom, seldom, seldom), max_size=6)


@dataclass
class LookAtEverything:
    """What is to be known, found out anew each time from all there is."""

    received: dict[str, list[Position]]
    listed: dict[str, Device] = field(default_factory=dict)

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

    def take(self, found: dict[str, Position]) -> None:
        """Hear positions."""
        for unique_id, position in found.items():
            self.received.setdefault(unique_id, []).append(position)

    def agrees(self, trackers: Trackers) -> None:
        """Hold what is known against what the last list and positions said."""
        assert {key: tracker.device for key, tracker in trackers.items()} == self.listed
        for unique_id, tracker in trackers.items():
            received = self.received.get(unique_id, [])
            if not received:
                assert tracker.position is None
                continue
            levels = [position.battery_level for position in received]
            expected = (
                (received[-1].id, received[-1].motion),
                next((level for level in levels[::-1] if level is not None), None),
                _last_place(received),
            )
            position = tracker.position
            assert position is not None
            assert expected == (
                (position.id, position.motion),
                position.battery_level,
                _place(position),
            )


def _last_place(received: list[Position]) -> tuple[Any, ...]:
    fixes = [position for position in received if position.latitude is not None]
    return _place(fixes[-1]) if fixes else (None, None, None)


def _place(position: Position) -> tuple[Any, ...]:
    return position.latitude, position.longitude, position.fix_time


@every
@given(remembered=by_tracker, polls=polls)
def test_any_polls(remembered: dict[str, Position], polls: list[Poll]) -> None:
    """What is known, wanted and news is what looking at everything would find."""
    account = Account("Bikes", remembering(**remembered))
    reader = ListOfDevices()
    all_of_it = LookAtEverything(
        {unique_id: [position] for unique_id, position in remembered.items()}
    )
    for poll in polls:
        listed = _listing(reader, poll)
        wanted = account.wanted(listed)
        assert wanted == all_of_it.wanted(listed)
        if poll.interrupted:
            continue
        # None of them is older than what is known, unless the list announces it.
        found = {
            device.unique_id: position
            for device in wanted.values()
            if (position := poll.positions.get(device.unique_id))
            and position.id in (device.position_id, NEWEST)
        }
        before = account.trackers
        picture = dict(before)
        changes = account.apply_poll(
            listed, found, UpdateContext(NOW, recovering=poll.recovering)
        )

        all_of_it.take(found)
        all_of_it.listed = dict(listed)
        all_of_it.agrees(account.trackers)
        assert before == picture
        _is_news(changes, before, account.trackers)


@every
@given(polls=polls)
def test_any_polls_end_in_the_last_one(polls: list[Poll]) -> None:
    """Whatever came before, in the end it is as if only the last had ever come."""
    account, other = Account("Bikes", {}), Account("Bikes", {})
    reader = ListOfDevices()
    for poll in polls:
        account.apply_poll(
            _listing(reader, poll),
            poll.positions,
            UpdateContext(NOW, recovering=poll.recovering),
        )
    last = reader.read(a_device("red", position_id=1), a_device("blue"))
    complete = a_position(9, battery_level=9, motion=True)

    for each in (account, other):
        each.apply_poll(last, {"red": complete, "blue": complete}, UpdateContext(NOW))

    # How far it came depends on where it was.
    assert _without_track(account.trackers) == _without_track(other.trackers)


def _without_track(trackers: Trackers) -> Trackers:
    """Return the trackers without what depends on what was before."""
    return {
        key: tracker._replace(state=TrackerState(tracker.position))
        for key, tracker in trackers.items()
    }


@dataclass
class Message:
    """One message of the live connection, and when it comes."""

    devices: list[Device]
    positions: list[Position]
    recovering: bool
    during_a_poll: bool
    """It comes when the next poll has begun."""


moments = st.none() | st.integers(0, 3).map(lambda hours: NOW + timedelta(hours=hours))
timed_devices = st.builds(
    lambda device, moment: replace(device, last_update=moment), devices, moments
)
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
    st.lists(timed_devices, max_size=3),
    st.lists(timed_positions, max_size=3),
    seldom,
    st.booleans(),
)
timed_polls = st.builds(
    lambda poll, listed: replace(poll, listed=listed),
    st.builds(Poll, lists, by_tracker, seldom, seldom, seldom),
    st.lists(timed_devices, max_size=4, unique_by=lambda device: device.unique_id),
)
histories = st.lists(timed_polls | messages, max_size=8)


def _live_through(account: Account, history: list[Poll | Message]) -> ListOfDevices:
    """Take in all of it, and hold each piece of news against a look at everything."""
    reader = ListOfDevices()
    coming: list[Message] = []
    for event in history:
        if isinstance(event, Message) and event.during_a_poll:
            coming.append(event)
        elif isinstance(event, Message):
            _hear(account, event)
        else:
            listed = _listing(reader, event)
            account.wanted(listed)
            if event.interrupted:
                continue
            before = account.trackers
            changes = account.apply_poll(
                listed, event.positions, UpdateContext(NOW, recovering=event.recovering)
            )
            _is_news(changes, before, account.trackers)
    for message in coming:
        _hear(account, message)
    return reader


def _hear(account: Account, message: Message) -> None:
    before = account.trackers
    picture = dict(before)
    changes = account.apply_message(
        message.devices,
        message.positions,
        UpdateContext(NOW, recovering=message.recovering),
    )
    assert before == picture
    assert changes.before.keys() == changes.after.keys()
    _is_news(changes, before, account.trackers)
    for unique_id in changes.keys:
        _never_goes_back(before[unique_id], account.trackers[unique_id])


def _never_goes_back(before: Tracker, now: Tracker) -> None:
    assert now.device.moment >= before.device.moment
    assert (now.device.position_id or 0) >= (before.device.position_id or 0)
    if before.position and now.position and now.position.fix_time:
        assert now.position.moment >= before.position.moment


@every
@given(history=histories)
def test_any_history_ends_in_the_last_poll(history: list[Poll | Message]) -> None:
    """It is the truth: as if no message had ever come, and no other poll.

    The first list after a message may lag behind it.
    """
    account, other = Account("Bikes", {}), Account("Bikes", {})
    reader = _live_through(account, history)
    last = reader.read(
        a_device("red", position_id=9, last_update=NOW), a_device("blue", id=1)
    )
    complete = a_position(9, battery_level=9, motion=True)
    is_fired = False
    for _ in range(2):
        is_fired = sum(b"red") in account.wanted(last)
        account.apply_poll(
            last, {"red": complete} if is_fired else {}, UpdateContext(NOW)
        )
    other.apply_poll(last, {"red": complete}, UpdateContext(NOW))

    assert account.trackers.keys() == {"red", "blue"}
    for unique_id, tracker in account.trackers.items():
        assert tracker.device == last[unique_id]
    position = account.trackers["red"].position
    assert position is not None
    assert position.id == 9
    if is_fired:
        assert position == other.trackers["red"].position


@every
@given(history=histories)
def test_any_history_ends_in_the_last_message(history: list[Poll | Message]) -> None:
    """If it came later than all else, until the second poll after it."""
    account = Account("Bikes", {})
    reader = _live_through(account, history)
    listed = reader.read(a_device("red", position_id=1), a_device("blue"))
    for _ in range(2):
        account.apply_poll(listed, {}, UpdateContext(NOW))
    later = NOW + timedelta(days=1)
    fired = a_device("red", status="offline", position_id=10, last_update=later)
    place = a_position(10, fix_time=later, battery_level=9, motion=True)
    place = replace(place, device_id=sum(b"red"))

    account.apply_message([fired], [place], UpdateContext(NOW))
    assert account.trackers["red"].device == fired
    assert account.trackers["red"].position == place

    assert account.wanted(listed) == {}
    account.apply_poll(listed, {"red": a_position(1, latitude=1.0)}, UpdateContext(NOW))
    assert account.trackers["red"].position == place
    assert account.wanted(listed).keys() == {sum(b"red")}


def _listing(reader: ListOfDevices, poll: Poll) -> Listing:
    listed = reader.read(*poll.listed)
    return dict(listed) if poll.apart else listed


def _is_news(changes: Changes, before: Trackers, now: Trackers) -> None:
    """Hold news against a look at everything."""
    assert changes.before is before
    assert changes.after is now
    assert changes.keys == {
        key for key in before.keys() | now.keys() if before.get(key) != now.get(key)
    }
    assert (now is before) is (not changes.keys)
    assert all(
        now[key] is tracker
        for key, tracker in before.items()
        if key not in changes.keys
    )
