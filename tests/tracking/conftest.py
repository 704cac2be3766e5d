"""Fixtures and helpers that create device lists and positions as plain values."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from custom_components.bike_tracker.api.models import Device, Position, timestamp
from custom_components.bike_tracker.tracking import Devices
from custom_components.bike_tracker.tracking.history import UpdateContext
from custom_components.bike_tracker.tracking.state import Changes, Tracker

from ..tools.rides.home import Recorder

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

RED_ID = sum(b"red")


@pytest.fixture(autouse=True)
def integration() -> None:
    """Replace the fixture that prepares Home Assistant: these tests do not need it."""


def checked(changes: Changes) -> Changes:
    """Check that `keys` and `contacts` match the trackers before and after, and return the changes."""
    before, after = changes.before, changes.after
    keys = before.keys() | after.keys()
    differ = {key for key in keys if before.get(key) != after.get(key)}
    assert (after is before) is (not differ)
    assert all(after[key] is before[key] for key in before.keys() - differ)
    both = differ & before.keys() & after.keys()
    contacts = {key for key in both if _is_contact(before[key], after[key])}
    assert changes.contacts == contacts
    assert changes.keys == differ - contacts
    return changes


def _is_contact(before: Tracker, after: Tracker) -> bool:
    """Return whether only the time of the last contact with a tracker changed."""
    device = after.device._replace(last_update=before.device.last_update)
    return before.device == device and before.state is after.state


@dataclass
class Service(Recorder):
    """A service, and an account that receives its lists and messages."""

    _last: Devices = field(default_factory=dict)

    def read(self, *devices: Device) -> Devices:
        """Return the next list as the client would read it.

        A device that did not change is the same object as before. If no device changed,
        the mapping is the same object, too.
        """
        last, now = self._last, {it.unique_id: it for it in devices}
        if now != last:
            same = last.items() & now.items()
            self._last = now | {key: last[key] for key, _ in same}
        return self._last

    def poll(self, *devices: Device, **found: Position) -> Changes:
        """Apply a poll: a device list, and the positions of its trackers."""
        read, context = self.read(*devices), UpdateContext(NOW)
        [changes] = self.account.apply_poll(read, found, context)
        return checked(changes)

    def hear(self, *things: Device | Position) -> Changes:
        """Apply a push message with these devices and positions."""
        devices = [it for it in things if isinstance(it, Device)]
        positions = [it for it in things if isinstance(it, Position)]
        context = UpdateContext(NOW)
        return checked(self.account.apply_message(devices, positions, context))

    def red(self) -> Tracker:
        """Return the red bike."""
        return self.account.trackers["red"]

    def alarms(self) -> list[str]:
        """Return the names of the red bike's alarms that were fired after the last call."""
        return [it.attributes["alarm"] for it in self.news()]


@pytest.fixture
def service() -> Service:
    """Return a service that was not polled yet."""
    return Service()


def a_device(unique_id: str = "red", **fields: Any) -> Device:
    """Return a device that is online and has no position. `fields` replace its values."""
    number = sum(unique_id.encode())
    device = Device(number, unique_id, unique_id, "online", None, None, None, False)
    return device._replace(**fields)


def a_position(position_id: int = 1, **fields: Any) -> Position:
    """Return a position with a fix, of a bike at rest. `fields` replace its values."""
    time = timestamp("2026-11-20T06:30:15Z")
    place = Position(RED_ID, position_id, time, 47.9, 7.8, 5.0, battery_level=80)
    return place._replace(motion=False)._replace(**fields)


def no_fix(position_id: int, **fields: Any) -> Position:
    """Return a position of the red bike without a fix. All values except `fields` are missing."""
    return Position(device_id=RED_ID, id=position_id, **fields)
