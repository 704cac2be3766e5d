"""Since when a tracker is what it is, as far as the service says."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from custom_components.bike_tracker.api.models import Device, Position
from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.occurrences import UpdateContext
from custom_components.bike_tracker.tracking.state import Flag, Tracker, TrackerState

from .said import moving_since, offline_since, online_since, standing_since

BIKE = "860000000000011"
START = datetime(2026, 11, 20, 12, tzinfo=UTC)


def at(minutes: float) -> datetime:
    """Return the time so many minutes after the start."""
    return START + timedelta(minutes=minutes)


class Service:
    """What the service says, minute by minute."""

    def __init__(self, stories: dict[str, TrackerState] | None = None) -> None:
        """Begin with what is remembered."""
        self.account = Account("Bikes", stories or {})
        self._minute = -1

    def says(
        self, status: Any = "online", *, recovering: bool = False, **position: Any
    ) -> Tracker:
        """Return what is known a minute later; with a position if one is told."""
        self._minute += 1
        device = Device(
            id=1,
            name="Bike",
            unique_id=BIKE,
            status=status,
            last_update=at(self._minute),
            position_id=self._minute + 1 if position else None,
            group_id=None,
            disabled=False,
        )
        fired = Position(device_id=1, id=self._minute + 1, latitude=1, **position)
        positions = {BIKE: fired} if position else {}
        self._take({BIKE: device}, positions, recovering=recovering)
        return self.account.trackers[BIKE]

    def _take(
        self,
        devices: Mapping[str, Device],
        positions: Mapping[str, Position],
        *,
        recovering: bool = False,
    ) -> None:
        context = UpdateContext(at(self._minute), recovering=recovering)
        self.account.apply_poll(devices, positions, context)


@pytest.fixture(name="service")
def service_fixture() -> Service:
    """Return a service of which nothing is known."""
    return Service()


def test_what_is_first_received_is_so_since_then(service: Service) -> None:
    """Nobody knows what was before."""
    tracker = service.says("online", motion=False)

    assert online_since(tracker) == standing_since(tracker) == at(0)
    assert offline_since(tracker) is moving_since(tracker) is None


@pytest.mark.parametrize("status", ["offline", "unknown"])
def test_offline_is_no_longer_online(service: Service, status: str) -> None:
    """A server's word for a tracker that it does not know of counts."""
    service.says("online")
    service.says(status)

    tracker = service.says(status)

    assert offline_since(tracker) == at(1)
    assert online_since(tracker) is None


def test_unreadable_status(service: Service) -> None:
    """It is neither, and ends nothing."""
    service.says("offline")

    tracker = service.says(None)

    assert offline_since(tracker) is online_since(tracker) is None
    assert offline_since(service.says("offline")) == at(0)


def test_what_is_remembered_goes_on() -> None:
    """After a restart only what is otherwise is so since then."""
    story = TrackerState(online=Flag(False, at(-9)), moving=Flag(False, at(-8)))
    service = Service({BIKE: story})

    tracker = service.says("offline", motion=True)

    assert offline_since(tracker) == at(-9)
    assert moving_since(tracker) == at(0)


def test_one_that_comes_back_moves_at_once(service: Service) -> None:
    """Its place alone is held back."""
    service.says(motion=False)

    assert moving_since(service.says(motion=True, recovering=True)) == at(1)


def test_the_first_word_is_no_change(service: Service) -> None:
    """What it was before nobody knows; from then on each change has a before."""
    first = service.says("online", motion=True).state
    assert first.online == first.moving == Flag(True, at(0))
    assert not first.occurrences

    second = service.says("offline", motion=False).state
    assert second.online == second.moving == Flag(False, at(1), at(0))
    third = service.says("online").state
    assert third.online == Flag(True, at(2), at(1))
    assert [(item.seq, item.type) for item in third.occurrences] == [
        (1, "stopped_moving"),
        (2, "went_offline"),
        (3, "came_online"),
    ]
    assert [(item.since, item.before) for item in third.occurrences] == [
        (at(1), at(0)),
        (at(1), at(0)),
        (at(2), at(1)),
    ]
