"""What the service sends, as objects that do not change.

They are tuples, as a poll may bring thousands: Python makes one in half the time that a
frozen dataclass takes.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from math import inf
import re
from typing import Any, Literal, NamedTuple, Self, TypeIs

# Control characters, line separators, and what turns the writing direction round.
_UNFIT_FOR_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
MOVES_FROM = 3
"""Kilometres per hour."""
# 10 million kilometres: 250 times round the earth.
MAX_KILOMETRES = 10_000_000
_BEGINNING = datetime.min.replace(tzinfo=UTC)
# Beyond these nobody can add a day to a time, or tell it in the zone of the house.
_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
_LATEST = datetime(3000, 1, 1, tzinfo=UTC)
# Servers date a position without any fix to the start of Unix or of GPS time.
_NO_FIX_BEFORE = datetime(1980, 1, 7, tzinfo=UTC)

# What is read of a row, in the order of what it is read by.
_DEVICE_FIELDS = (
    *("id", "uniqueId", "name", "status", "lastUpdate"),
    *("positionId", "groupId", "disabled", "model"),
)
type _Get = Callable[[str], Any]
type _Number = float | None
type _Place = tuple[_Number, _Number, float, _Number, _Number, _Number]
type Values = tuple[Any, ...]
"""What is read of a row, as JSON has it, its ID first."""
_NO_PLACE: _Place = (None, None, 0, None, None, None)


class Device(NamedTuple):
    """One tracker of the account (interface, section 2).

    A field that could not be read is None; `name` is then the `unique_id`.
    """

    id: int | None
    name: str
    unique_id: str
    """IMEI or serial number: what a tracker is known by."""
    status: Literal["online", "offline", "unknown"] | None
    """Traccar's third word, for one that fell silent, is not documented."""
    last_update: datetime | None
    """When the service last heard of the tracker, in UTC."""
    position_id: int | None
    """ID of the last known position, None also where the server says 0: no position."""
    group_id: int | None
    disabled: bool | None
    model: str | None = None
    """What kind of tracker it is; not in the documented interface."""

    @staticmethod
    def values_of(row: Any) -> Values:
        """Return what is read of a row."""
        get = row.get if type(row) is dict else {}.get
        return tuple(map(get, _DEVICE_FIELDS))

    @classmethod
    def from_values(cls, values: Values) -> Self | None:
        """Return the device, or None without a usable `uniqueId`."""
        device_id, unique_id, name, status, last_update = values[:5]
        position_id, group_id, disabled, model = values[5:]
        if not _of(str, unique_id):
            return None
        return cls(
            id=_of(int, device_id),
            name=one_line(name) or one_line(unique_id) or unique_id,
            unique_id=unique_id,
            status=status if status in ("online", "offline", "unknown") else None,
            last_update=timestamp(last_update),
            position_id=_of(int, position_id) or None,
            group_id=_of(int, group_id),
            disabled=_of(bool, disabled),
            model=one_line(model),
        )

    @property
    def moment(self) -> datetime:
        """Return when this was true, the beginning of time where that is unknown."""
        return self.last_update or _BEGINNING


class Position(NamedTuple):
    """The last known position of a device, as Traccar's `GET /positions` has it.

    Not in the documented interface, so what it says of place and tracker may be None.
    """

    device_id: int
    """The internal ID of the device, not its `unique_id`."""
    id: int
    fix_time: datetime | None = None
    """When the place was measured, in UTC."""
    latitude: float | None = None
    """Degrees; None, as is the longitude, while there was no fix."""
    longitude: float | None = None
    accuracy: float = 0
    """Metres; 0 is unknown."""
    altitude: float | None = None
    """Metres."""
    speed: float | None = None
    """Kilometres per hour."""
    course: float | None = None
    """Degrees, clockwise from north."""
    battery_level: float | None = None
    """Per cent."""
    motion: bool | None = None
    device_time: datetime | None = None
    """When the tracker reported by its own clock, in UTC."""
    total_distance: float | None = None
    """Kilometres that the server says it went in all."""
    is_fix: bool = True
    """Whether a place was measured for this report, and not an older one sent again."""
    charge: bool | None = None
    """Whether the battery is being charged."""
    lock: bool | None = None
    """Whether the lock is closed."""
    battery_voltage: float | None = None
    """Volts of the tracker's own battery."""
    power_voltage: float | None = None
    """Volts of what feeds it, such as the bike's battery."""
    firmware: str | None = None
    alarm: str | None = None
    """Alarms that this report was sent for, separated by commas."""
    is_readable: bool = True
    """Whether the time came in a form that says something."""
    address: str | None = None
    """Where that is, in the service's words: nobody else's business."""
    server_time: datetime | None = None
    """When the service received the report, in UTC."""

    @classmethod
    def from_row(cls, row: Any) -> Self | None:
        """Return the position of a row, or None without the IDs of itself and its device."""
        get = row.get if type(row) is dict else {}.get
        position_id, device_id = _of(int, get("id")), _of(int, get("deviceId"))
        if position_id is None or device_id is None:
            return None
        fix_time, device_time = timestamp(get("fixTime")), timestamp(get("deviceTime"))
        server_time = timestamp(get("serverTime"))
        knows_time, is_valid = is_real(fix_time), get("valid") is not False
        is_fix = is_valid or not (fix_time and device_time and fix_time < device_time)
        is_usable = knows_time or fix_time is None or is_valid
        place = _place(get, is_fix) if is_usable else _NO_PLACE
        has_place = place is not _NO_PLACE
        return cls(
            device_id,
            position_id,
            fix_time if has_place and knows_time else None,
            *place,
            device_time=device_time if is_real(device_time) else None,
            is_fix=is_fix,
            is_readable=not has_place or knows_time or get("fixTime") is None,
            address=one_line(get("address"), 255) if has_place else None,
            server_time=server_time if is_real(server_time) else None,
            **_attributes((_of(dict, get("attributes")) or {}).get),
        )

    @property
    def moment(self) -> datetime:
        """Return when this was true, the beginning of time where that is unknown."""
        return self.fix_time or _BEGINNING

    @property
    def moving(self) -> bool | None:
        """Return whether it says that it moves, None where it does not say it.

        Receivers that stand report up to 2 km/h now and then. Traccar makes motion of it
        where the tracker says nothing of that.
        """
        is_noise = self.motion and 0 < (self.speed or 0) < MOVES_FROM
        return None if is_noise else self.motion


def timestamp(value: object) -> datetime | None:
    """Return a moment in UTC from a text with date, time and offset, else None."""
    if type(value) is not str:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC) if _EARLIEST <= moment < _LATEST else None
    except ValueError, TypeError:
        # One without an offset cannot be compared.
        return None


def is_real(moment: datetime | None) -> TypeIs[datetime]:
    """Return whether it is known when, and not a placeholder of servers and trackers."""
    return moment is not None and moment >= _NO_FIX_BEFORE


def _of[T](kind: type[T], value: object) -> T | None:
    """Return a value of this type, else None: a yes is no integer."""
    return value if type(value) is kind else None


def one_line(value: object, max_length: int = 100) -> str | None:
    """Return a text on one line of bearable length, None if nothing is left of it."""
    if type(value) is not str:
        return None
    if not value.isprintable():
        value = _UNFIT_FOR_A_LINE.sub(" ", value)
    return " ".join(value.split())[:max_length].rstrip() or None


def _number(
    value: object, minimum: float = -inf, maximum: float = inf, unit: float = 1
) -> float | None:
    """Return a number in units of ours, None if it is not within these limits."""
    if type(value) is not float and type(value) is not int:
        return None
    if unit != 1:
        value *= unit
    return value if minimum <= value <= maximum else None


def _place(get: _Get, is_measured: bool) -> _Place:
    """Return latitude, longitude, accuracy, altitude, speed and course."""
    latitude = _number(get("latitude"), -90, 90)
    longitude = _number(get("longitude"), -180, 180)
    accuracy = _number(get("accuracy"), 0) or 0
    if latitude is None or longitude is None or latitude == longitude == 0:
        return _NO_PLACE
    # What cell towers say of a place may be a county: no place a person means.
    if accuracy > 5_000:
        return _NO_PLACE
    if not is_measured:
        return latitude, longitude, accuracy, None, None, None
    altitude = _number(get("altitude"), -1_000, 20_000)
    speed, course = _number(get("speed"), 0, 1_852, 1.852), get("course")
    return latitude, longitude, accuracy, altitude, speed, _number(course, 0, 360)


def _attributes(get: _Get) -> dict[str, Any]:
    """Return what the attributes of a row say of the tracker, by the names of fields."""
    battery_level, version = _number(get("batteryLevel"), 0), get("versionFw")
    return {
        "battery_level": battery_level and min(battery_level, 100),
        "motion": _of(bool, get("motion")),
        "total_distance": _number(get("totalDistance"), 0, MAX_KILOMETRES, 0.001),
        "charge": _of(bool, get("charge")),
        "lock": _of(bool, get("lock")),
        # Units vary, says Traccar: what cannot be volts is left out. A tracker's own
        # battery has few cells; an electric bike's has twenty and more.
        "battery_voltage": _number(get("battery"), 0, 20),
        "power_voltage": _number(get("power"), 0, 100),
        # Some servers send it as a number.
        "firmware": one_line(version if _number(version) is None else str(version)),
        "alarm": _of(str, get("alarm")) or None,
    }
