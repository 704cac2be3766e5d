"""Rows as the service sends them, and how they are read."""

import json
from typing import Any

from custom_components.bike_tracker.api import Device, Position
from custom_components.bike_tracker.api.lists import ListReader

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
TRACCAR_DEVICE: dict[str, Any] = {
    **DEVICE,
    "attributes": {
        "speedLimit": 13.5,
        "color": "#1f77b4",
        "note": "Behind the shed near the station, the key is at the info desk",
    },
    "calendarId": 0,
    "phone": "+491701234567",
    "model": "TK905",
    "contact": "Bicycle rental, 79098 Freiburg",
    "category": "bicycle",
    "expirationTime": "2036-01-01T00:00:00.000+00:00",
}
"""As long as real servers send it."""
TRACCAR_POSITION: dict[str, Any] = {
    **POSITION,
    "attributes": {
        "batteryLevel": 80,
        "motion": True,
        "ip": "100.64.17.203",
        "distance": 11.131949079325,
        "totalDistance": 1113194.9079325142,
        "versionFw": "TK905_V1.2",
        "iccid": "8949020000000000000",
        **{f"io{number}": number for number in range(200, 214)},
    },
    "protocol": "teltonika",
    "serverTime": "2026-11-20T06:30:15.250+0000",
    "deviceTime": "2026-11-20T06:30:15.250+0000",
    "address": "Kaiser-Joseph-Straße 123, 79098 Freiburg, DE",
    "network": {"radioType": "gsm", "considerIp": False, "carrier": "Telekom.de"},
    "geofenceIds": None,
}
"""As long as real servers send it."""
MISSING = object()
"""In place of a value: the field is left out."""


def row(of: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a row with other values in these fields."""
    return {
        name: value for name, value in {**of, **fields}.items() if value is not MISSING
    }


def read_device(**fields: Any) -> Device:
    """Return the device that is read from a row with other values in these fields."""
    body = json.dumps([row(DEVICE, **fields)]).encode()
    [device] = ListReader[str, Device](Device).read(body).after.values()
    return device


def read_position(**fields: Any) -> Position:
    """Return the position that is read from a row with other values in these fields."""
    body = json.dumps([row(POSITION, **fields)]).encode()
    [position] = ListReader[int, Position](Position).read(body).after.values()
    return position
