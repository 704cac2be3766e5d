"""What a service lists and where its trackers are, as plain values."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from custom_components.bike_tracker.api.models import Device, Position, timestamp
from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.occurrences import Occurrence
from custom_components.bike_tracker.tracking.state import TrackerState

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

type Listing = Mapping[str, Device]
type Read = Callable[..., Listing]


@pytest.fixture(autouse=True)
def integration() -> None:
    """Do without Home Assistant and without a service."""


@pytest.fixture
def account() -> Account:
    """Return an account of which nothing was remembered."""
    return Account("Bikes", {})


class Listener:
    """Whoever is told what happened to a tracker: of each occurrence once."""

    def __init__(self, last_fired: int = 0) -> None:
        """Begin after the last one that was fired."""
        self.last_fired = last_fired

    def fired(self, story: TrackerState) -> list[Occurrence]:
        """Return what is fired now."""
        new = [item for item in story.occurrences if item.seq > self.last_fired]
        self.last_fired = max((item.seq for item in new), default=self.last_fired)
        return new


@pytest.fixture
def read() -> Read:
    """Return a function that reads the next device list."""
    return ListOfDevices().read


def remembering(**positions: Position) -> dict[str, TrackerState]:
    """Return what is remembered of trackers that were somewhere."""
    return {
        unique_id: TrackerState(position) for unique_id, position in positions.items()
    }


def position_remembered(account: Account, unique_id: str = "red") -> Position | None:
    """Return the newest position of a tracker, listed or not."""
    return account.states[unique_id].position


class ListOfDevices:
    """One device list after another, read as the client reads them.

    A device that did not change is the same object, and so is the mapping if none did.
    """

    def __init__(self) -> None:
        """Begin before the first list."""
        self._last: dict[str, Device] = {}

    def read(self, *devices: Device) -> Listing:
        """Return the next list."""
        before = self._last
        now = {device.unique_id: device for device in devices}
        changed = {
            unique_id
            for unique_id in before.keys() | now.keys()
            if before.get(unique_id) != now.get(unique_id)
        }
        if changed:
            self._last = {
                unique_id: device if unique_id in changed else before[unique_id]
                for unique_id, device in now.items()
            }
        return self._last


def a_device(unique_id: str = "red", **fields: Any) -> Device:
    """Return a device that announces no position, with other values in these fields."""
    values: dict[str, Any] = {
        "id": sum(unique_id.encode()),
        "name": unique_id,
        "unique_id": unique_id,
        "status": "online",
        "last_update": None,
        "position_id": None,
        "group_id": None,
        "disabled": False,
    }
    return Device(**{**values, **fields})


def a_position(position_id: int = 1, **fields: Any) -> Position:
    """Return a position with a fix, with other values in these fields."""
    values: dict[str, Any] = {
        "fix_time": timestamp("2026-11-20T06:30:15Z"),
        "latitude": 47.9,
        "longitude": 7.8,
        "accuracy": 5.0,
        "battery_level": 80,
        "motion": False,
    }
    return Position(device_id=1, id=position_id, **{**values, **fields})


def no_fix(position_id: int, **fields: Any) -> Position:
    """Return a message that says nothing of the place, nor of all else but this."""
    return Position(device_id=1, id=position_id, **fields)
