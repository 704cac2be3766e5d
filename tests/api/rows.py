"""Rows as the service sends them, and functions that read them."""

import json
from typing import Any

from custom_components.bike_tracker.api.models import (
    Device,
    DeviceReader,
    Position,
    read_positions,
)

DEVICE: dict[str, Any] = {
    "id": 1001,
    "name": "Red bike",
    "uniqueId": "860000000000011",
    "status": "online",
    "lastUpdate": "2026-11-20T06:30:15.250+0000",
    "positionId": 500_001,
    "groupId": 3,
    "disabled": False,
}
POSITION: dict[str, Any] = {
    "id": 500_001,
    "deviceId": 1001,
    "valid": True,
    "fixTime": "2026-11-20T06:30:15.250+0000",
    "latitude": 47.996,
    "longitude": 7.8494,
    "accuracy": 12.5,
    "altitude": 278.0,
    "speed": 10.0,
    "course": 90.0,
    "attributes": {"batteryLevel": 80, "motion": True},
}
MISSING = object()
"""As the value of a field, it leaves this field out of the row."""


def row(of: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a copy of the row `of` in which these fields have other values."""
    return {
        name: value for name, value in {**of, **fields}.items() if value is not MISSING
    }


def read_device(**fields: Any) -> Device:
    """Read a copy of `DEVICE` in which these fields have other values, and return the device."""
    body = json.dumps([row(DEVICE, **fields)]).encode()
    [device] = DeviceReader().read(body).values()
    return device


def read_position(**fields: Any) -> Position:
    """Read a copy of `POSITION` in which these fields have other values, and return the position."""
    body = json.dumps([row(POSITION, **fields)]).encode()
    [position] = read_positions(body)
    return position
