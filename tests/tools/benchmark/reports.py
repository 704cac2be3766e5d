"""What it takes to read what trackers report, and to take it in: without a network and without Home Assistant."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
import gc
from time import thread_time
from typing import Any, Final

import orjson

from custom_components.bike_tracker.api import Device, Position
from custom_components.bike_tracker.api.lists import ListReader
from custom_components.bike_tracker.tracking import Account, UpdateContext

_REPORTS: Final = 20
_ROUNDS: Final = 3
TIMES: Final = _REPORTS * _ROUNDS
"""How often each kind of work is timed."""
_BEGIN: Final = datetime(2026, 11, 1, tzinfo=UTC)

# What version 1.0 read of a position's attributes, and what is read besides since then.
_READ_SINCE_1_0: Final = {"batteryLevel": 80, "motion": True}
_READ_SINCE_1_1: Final = {
    "totalDistance": 1_234_567.8,
    "alarm": "vibration",
    "charge": False,
    "lock": True,
    "battery": 3.9,
    "power": 36.5,
    "versionFw": "2.1.4",
}

READ_ALL: Final = "read_all"
READ_SOME: Final = "read_some"
STANDING: Final = "standing"
RIDING: Final = "riding"

TITLES: Final = {
    READ_ALL: "reading a position with all attributes that are read",
    READ_SOME: "reading one with as many, of which only battery level and motion are read",
    STANDING: "taking in the position of a parked bike",
    RIDING: "taking in that of a bike on a ride",
}
"""Of all kinds of work, as people read them."""


def measure(trackers: int) -> dict[str, float]:
    """Return the seconds that each kind of work takes per tracker: the least of all times."""
    not_read = {f"{name}X": value for name, value in _READ_SINCE_1_1.items()}
    kinds: dict[str, Callable[[], list[float]]] = {
        READ_ALL: lambda: _read(_bodies(trackers, _READ_SINCE_1_0 | _READ_SINCE_1_1)),
        READ_SOME: lambda: _read(_bodies(trackers, _READ_SINCE_1_0 | not_read)),
        STANDING: lambda: _take_in(trackers, metres=0),
        RIDING: lambda: _take_in(trackers, metres=300),
    }
    # In turns, so that a slow moment strikes all of them.
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(_ROUNDS):
        for kind, work in kinds.items():
            seconds[kind] += work()
    return {kind: min(found) / trackers for kind, found in seconds.items()}


def _read(bodies: list[bytes]) -> list[float]:
    reader = ListReader[int, Position](Position)
    return [_seconds(partial(reader.read, body)) for body in bodies]


def _take_in(trackers: int, *, metres: float) -> list[float]:
    """Return what each report but the first takes, of which the second begins a ride."""
    devices = ListReader[str, Device](Device)
    positions = ListReader[int, Position](Position)
    account = Account("the benchmark", {})
    seconds: list[float] = []
    for minute, body in enumerate(_bodies(trackers, {}, metres=metres)):
        listed = devices.read(_devices(trackers, minute))
        found = positions.read(body).after
        by_tracker = {f"{device_id}": item for device_id, item in found.items()}
        now = _BEGIN + timedelta(minutes=minute)
        take = partial(account.apply_poll, listed, by_tracker, UpdateContext(now))
        seconds.append(_seconds(take))
    return seconds[2:]


def _seconds(work: Callable[[], object]) -> float:
    """Return what it takes of this thread, without garbage collections, which strike at random."""
    gc.disable()
    began = thread_time()
    work()
    took = thread_time() - began
    gc.enable()
    return took


def _bodies(
    trackers: int, attributes: Mapping[str, Any], *, metres: float = 300
) -> list[bytes]:
    """Return lists of positions, a minute apart, of bikes that go so many metres meanwhile."""
    return [
        orjson.dumps(
            [
                _position(number, minute, attributes, metres)
                for number in range(trackers)
            ]
        )
        for minute in range(_REPORTS)
    ]


def _position(
    number: int, minute: int, attributes: Mapping[str, Any], metres: float
) -> dict[str, Any]:
    time = _time(minute)
    return {
        "id": minute * 1_000_000 + number,
        "deviceId": number,
        "protocol": "osmand",
        "serverTime": time,
        "deviceTime": time,
        "fixTime": time,
        "outdated": False,
        "valid": True,
        "latitude": 48 + minute * metres / 111_200,
        "longitude": 7.8,
        "altitude": 278.4,
        "speed": 9.7 if metres else 0.0,
        "course": 0.0,
        "address": None,
        "accuracy": 5.0,
        "network": None,
        "geofenceIds": None,
        "attributes": attributes,
    }


def _devices(trackers: int, minute: int) -> bytes:
    return orjson.dumps(
        [
            {
                "id": number,
                "name": f"Bike {number}",
                "uniqueId": f"{number}",
                "status": "online",
                "lastUpdate": _time(minute),
                "positionId": minute * 1_000_000 + number,
                "groupId": 0,
                "disabled": False,
            }
            for number in range(trackers)
        ]
    )


def _time(minute: int) -> str:
    return (_BEGIN + timedelta(minutes=minute)).isoformat(timespec="milliseconds")
