"""What is to be read of a row: the rules of the interface and of Traccar, row by row and without memory."""

from datetime import UTC, datetime
from math import isfinite
from typing import Any
import unicodedata

from custom_components.bike_tracker.api import Device, Position

BEGINNING = datetime.min.replace(tzinfo=UTC)
_COARSEST = 5_000
_FIRST_FIX = datetime(1980, 1, 7, tzinfo=UTC)
_TURNS_ROUND = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def is_integer(value: object) -> bool:
    """Return whether this is an integer in JSON, of no more than 64 bits."""
    return type(value) is int and -(2**63) <= value < 2**64


def is_device(row: object) -> bool:
    """Return whether the row has a `uniqueId` that can be written down."""
    return isinstance(row, dict) and is_unique_id(row.get("uniqueId"))


def is_unique_id(value: object) -> bool:
    """Return whether a tracker can be known by this."""
    if not isinstance(value, str) or not value:
        return False
    return not any(unicodedata.category(character) == "Cs" for character in value)


def is_position(row: object) -> bool:
    """Return whether the row says whose position it is and which."""
    return isinstance(row, dict) and all(
        is_integer(row.get(name)) for name in ("id", "deviceId")
    )


def device(row: dict[str, Any]) -> Device:
    """Return the device in a row."""
    status = row.get("status")
    disabled = row.get("disabled")
    return Device(
        id=_integer(row.get("id")),
        name=_line(row.get("name")) or _line(row["uniqueId"]) or row["uniqueId"],
        unique_id=row["uniqueId"],
        status=status if status in ("online", "offline", "unknown") else None,
        last_update=_moment(row.get("lastUpdate")),
        position_id=_integer(row.get("positionId")) or None,
        group_id=_integer(row.get("groupId")),
        disabled=disabled if isinstance(disabled, bool) else None,
    )


def position(row: dict[str, Any]) -> Position:
    """Return the position in a row."""
    attributes = row.get("attributes")
    attributes = attributes if isinstance(attributes, dict) else {}
    motion = attributes.get("motion")
    battery = _between(attributes.get("batteryLevel"), 0, float("inf"))
    time, device_time = _moment(row.get("fixTime")), _moment(row.get("deviceTime"))
    is_late = bool(time and device_time and time < device_time)
    always: dict[str, Any] = {
        "device_id": row["deviceId"],
        "id": row["id"],
        "device_time": device_time
        if device_time and device_time >= _FIRST_FIX
        else None,
        "is_fix": row.get("valid") is not False or not is_late,
        "battery_level": None if battery is None else min(battery, 100),
        "motion": motion if isinstance(motion, bool) else None,
    }
    latitude = _between(row.get("latitude"), -90, 90)
    longitude = _between(row.get("longitude"), -180, 180)
    is_placeholder = time is not None and time < _FIRST_FIX
    if latitude is None or longitude is None or (latitude == 0 and longitude == 0):
        return Position(**always)
    if is_placeholder and row.get("valid") is False:
        return Position(**always)
    accuracy = _between(row.get("accuracy"), 0, float("inf")) or 0
    if accuracy > _COARSEST:
        return Position(**always)
    place: dict[str, Any] = {
        "fix_time": None if is_placeholder else time,
        "latitude": latitude,
        "longitude": longitude,
        "accuracy": accuracy,
        "address": _line(row.get("address"), 255) or None,
        "is_readable": row.get("fixTime") is None
        or (time is not None and not is_placeholder),
    }
    if not always["is_fix"]:
        return Position(**always, **place)
    knots = _between(row.get("speed"), 0, 1_000)
    return Position(
        **always,
        **place,
        altitude=_between(row.get("altitude"), -1_000, 20_000),
        speed=None if knots is None else knots * 1.852,
        course=_between(row.get("course"), 0, 360),
    )


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and is_integer(value) else None


def _between(value: object, least: float, most: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # What is larger is a float to whoever reads it.
    if isinstance(value, int) and not is_integer(value):
        return None
    return value if isfinite(value) and least <= value <= most else None


def _moment(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC) if moment.utcoffset() is not None else None
    except ValueError, OverflowError:
        return None


def _line(value: object, longest: int = 100) -> str | None:
    if not isinstance(value, str):
        return None
    fit = "".join(" " if _is_unfit(character) else character for character in value)
    return " ".join(fit.split())[:longest].strip()


def _is_unfit(character: str) -> bool:
    category = unicodedata.category(character)
    return category in {"Cc", "Zl", "Zp", "Cs"} or ord(character) in _TURNS_ROUND
