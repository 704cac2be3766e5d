"""Models of devices and positions, and the parsers of their lists.

The models are named tuples because a poll may create thousands of them, and creating a
frozen dataclass takes twice as long.
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
import re
from typing import Any, Literal, NamedTuple, Self, TypeIs

import orjson

from .errors import InvalidResponseError

# Control characters, line separators and marks that change the writing direction.
_UNFIT_FOR_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
MOVES_FROM = 3
"""Lowest speed of a moving bike, in kilometers per hour. Slower motion is noise of the receiver."""
# 10 million kilometers: 250 times around the earth. A larger total distance is wrong.
MAX_KILOMETERS = 10_000_000
_UNKNOWN_TIME = datetime.min.replace(tzinfo=UTC)
# Between these two dates, adding days or converting time zones cannot overflow.
_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
_LATEST = datetime(3000, 1, 1, tzinfo=UTC)
# Before the first fix, servers send a placeholder: the start of Unix time (1970) or of
# GPS time (January 6, 1980). So times before this date are not real.
_NO_FIX_BEFORE = datetime(1980, 1, 7, tzinfo=UTC)

# JSON fields of a device, in the order that `Device.from_values` expects.
_DEVICE_FIELDS = (
    *("lastUpdate", "id", "uniqueId", "name", "status"),
    *("positionId", "groupId", "disabled", "model"),
)
type Point = tuple[float, float]
"""Latitude and longitude in degrees."""
type _Get = Callable[[str], Any]
type _Number = float | None
type _Place = tuple[_Number, _Number, float, _Number, _Number, _Number]
type Values = tuple[Any, ...]
"""Values of `_DEVICE_FIELDS` as parsed from JSON."""
_NO_PLACE: _Place = (None, None, 0, None, None, None)
_NOTHING_USABLE = "no usable element in the list"


class Device(NamedTuple):
    """One tracker of the account (API document, section 2).

    A missing or invalid field is None. A missing `name` is replaced by the `unique_id`.
    """

    id: int | None
    name: str
    unique_id: str
    """IMEI or serial number: the stable identity of a tracker."""
    status: Literal["online", "offline", "unknown"] | None
    """Traccar sends the undocumented `unknown` for a tracker that fell silent."""
    last_update: datetime | None
    """Time of the tracker's last contact with the service, in UTC."""
    position_id: int | None
    """ID of the last known position; None if the server sends null or 0."""
    group_id: int | None
    disabled: bool | None
    model: str | None = None
    """Model of the tracker; not in the documented interface."""

    @staticmethod
    def values_of(row: Any) -> Values:
        """Return the values of a row, in the order that `from_values` needs. Missing values are None."""
        get = row.get if type(row) is dict else {}.get
        return tuple(map(get, _DEVICE_FIELDS))

    @classmethod
    def from_values(cls, values: Values) -> Self | None:
        """Return the device, or None if `uniqueId` is not a text or is empty."""
        last_update, device_id, unique_id, name, status = values[:5]
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
        """Return the time of the last update or, if it is unknown, `datetime.min` in UTC."""
        return self.last_update or _UNKNOWN_TIME

    @property
    def is_online(self) -> bool | None:
        """Return whether the status is `online`, or None if it is unknown."""
        return None if self.status in (None, "unknown") else self.status == "online"


class Position(NamedTuple):
    """One report of a device, as in Traccar's `GET /positions`.

    The call is not documented, so every field except the IDs may be missing.
    """

    device_id: int
    """The internal ID of the device, not its `unique_id`."""
    id: int
    fix_time: datetime | None = None
    """Time of the fix, in UTC."""
    latitude: float | None = None
    """Degrees."""
    longitude: float | None = None
    accuracy: float = 0
    """Meters; 0 if unknown."""
    altitude: float | None = None
    """Meters."""
    speed: float | None = None
    """Kilometers per hour."""
    course: float | None = None
    """Degrees, clockwise from north: 90 is east."""
    battery_level: float | None = None
    """Percent."""
    motion: bool | None = None
    device_time: datetime | None = None
    """Time of the report by the tracker's own clock, in UTC."""
    total_distance: float | None = None
    """The server's total distance in kilometers."""
    is_fix: bool = True
    """Whether the place was measured for this report. It is False if the tracker repeats an older fix."""
    charge: bool | None = None
    """Whether the battery is being charged."""
    lock: bool | None = None
    """Whether the lock is closed."""
    battery_voltage: float | None = None
    """Volts of the tracker's own battery."""
    power_voltage: float | None = None
    """Volts of the external supply, such as the bike's battery."""
    firmware: str | None = None
    alarm: str | None = None
    """Alarms raised with this report, separated by commas."""
    is_readable: bool = True
    """False if the report has a place and a fix time, but the fix time is not valid."""
    address: str | None = None
    """Address of the place, looked up by the service. Personal data: redact it."""
    server_time: datetime | None = None
    """Time at which the service received the report, in UTC."""

    @classmethod
    def from_row(cls, row: Any) -> Self | None:
        """Return the position of a row, or None if an ID is missing."""
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
    def point(self) -> Point | None:
        """Return latitude and longitude in degrees; None without a usable place."""
        if self.latitude is None or self.longitude is None:
            return None
        return self.latitude, self.longitude

    @property
    def moment(self) -> datetime:
        """Return the time of the fix or, if it is unknown, `datetime.min` in UTC."""
        return self.fix_time or _UNKNOWN_TIME

    @property
    def is_unlocked(self) -> bool | None:
        """Return whether the lock is open, or None if unknown."""
        return None if self.lock is None else not self.lock

    @property
    def moving(self) -> bool | None:
        """Return whether the bike moves according to the report, or None if unknown.

        A parked receiver sometimes measures up to 2 km/h. If the tracker does not
        report motion, Traccar derives motion from this speed. So a report of motion at
        a speed above 0 and below 3 km/h gives None.
        """
        is_noise = self.motion and 0 < (self.speed or 0) < MOVES_FROM
        return None if is_noise else self.motion


# The values and the device of each row, by the ID in the row, not by the number of the
# row: servers may list devices in another order each time.
type _Rows = dict[int | None, tuple[Values, Device | None]]


@dataclass(slots=True, eq=False)
class DeviceReader:
    """Parser of device lists that reuses the objects of the previous list.

    An unchanged device keeps its object. If no device changed, `read` returns the same
    mapping object as before.
    """

    _body: bytes | None = None
    _rows: _Rows = field(default_factory=dict)
    _devices: Mapping[str, Device] = field(default_factory=dict)

    def read(self, body: bytes) -> Mapping[str, Device]:
        """Return the devices of a response by `uniqueId`.

        Raises InvalidResponseError if the body is not a JSON array, or if the array is
        not empty and no element has a usable `uniqueId`.
        """
        if body == self._body:
            return self._devices
        rows, devices = self._read_rows(_loads(body))
        if rows and not devices:
            raise InvalidResponseError(_NOTHING_USABLE)
        by_key = _by_unique_id(devices)
        self._rows, self._body = rows, body
        if by_key != self._devices:
            # The list changed. In a large account, the next list will change, too, so
            # comparing it with this body would be useless: do not keep this body.
            self._devices, self._body = by_key, None
        return self._devices

    def _read_rows(self, rows: list[Any]) -> tuple[_Rows, list[Device]]:
        read: _Rows = {}
        devices = list[Device]()
        # Drop each row after reading it. With thousands of rows in memory, Python's
        # garbage collection costs as much time as the parsing.
        while rows:
            values = Device.values_of(rows.pop())
            row_id = values[1] if type(values[1]) is int else None
            known = self._rows.get(row_id)
            if known is None or values != known[0]:
                known = values, _changed_device(values, known)
            read[row_id] = known
            if (device := known[1]) is not None:
                devices.append(device)
        return read, devices


def _changed_device(
    values: Values, known: tuple[Values, Device | None] | None
) -> Device | None:
    """Return the device of a changed row. If only the last update changed, as in most rows, copy the known device."""
    if known and known[1] and values[1:] == known[0][1:]:
        return known[1]._replace(last_update=timestamp(values[0]))
    return Device.from_values(values)


def read_positions(body: bytes, ids: Container[int] | None = None) -> list[Position]:
    """Return the positions of a response, sorted by fix time.

    With `ids`, return only the positions of these devices. Raises InvalidResponseError if
    the body is not a JSON array, or if the array is not empty and has no usable position.
    """
    # For a device without a position, Traccar 4 sends null, which is left out.
    wanted = rows = [row for row in _loads(body) if row is not None]
    if ids is not None:
        # Parse only the rows of `ids`: usually a few out of thousands.
        dicts = (row for row in rows if type(row) is dict)
        wanted = [row for row in dicts if _of(int, row.get("deviceId")) in ids]
    positions = positions_of(wanted)
    if rows and not (positions or positions_of(rows)):
        raise InvalidResponseError(_NOTHING_USABLE)
    return sorted(positions, key=lambda position: (position.moment, position.id))


def devices_of(rows: list[Any]) -> list[Device]:
    """Return the devices of all usable rows."""
    return list(filter(None, map(Device.from_values, map(Device.values_of, rows))))


def positions_of(rows: list[Any]) -> list[Position]:
    """Return the positions of all usable rows."""
    return list(filter(None, map(Position.from_row, rows)))


def _loads(body: bytes) -> list[Any]:
    """Return the elements of a JSON array, or raise InvalidResponseError."""
    error = "not a JSON array"
    try:
        rows = orjson.loads(body)
    except orjson.JSONDecodeError as err:
        rows, error = None, f"invalid JSON: {err.msg}"
    if type(rows) is not list:
        # Raise the new error outside of `except`: otherwise it would refer to the
        # original error, which contains the body. The body must never be logged.
        raise InvalidResponseError(error)
    return rows


def _by_unique_id(devices: list[Device]) -> dict[str, Device]:
    """Return devices by `uniqueId`. If several have the same `uniqueId`, keep the device with the newest update."""
    by_key = {device.unique_id: device for device in devices}
    if len(by_key) == len(devices):
        return by_key
    devices = sorted(devices, key=lambda device: (device.moment, str(device)))
    return {device.unique_id: device for device in devices}


def timestamp(value: Any) -> datetime | None:
    """Parse an ISO 8601 time with an offset. Return it in UTC, or None if it is invalid."""
    try:
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC) if _EARLIEST <= moment < _LATEST else None
    except ValueError, TypeError:
        # TypeError: the value is no text, or a time without an offset, which cannot be
        # compared with the limits.
        return None


def is_real(moment: datetime | None) -> TypeIs[datetime]:
    """Return whether a time is known and not a placeholder such as 1970."""
    return moment is not None and moment >= _NO_FIX_BEFORE


def _of[T](kind: type[T], value: object) -> T | None:
    """Return the value if it has exactly this type, otherwise None. So `True` is not accepted as an integer."""
    return value if type(value) is kind else None


def one_line(value: object, max_length: int = 100) -> str | None:
    """Return a text as one line of limited length, or None if the value is empty or not a text."""
    if type(value) is not str:
        return None
    words = _UNFIT_FOR_A_LINE.sub(" ", value).split()
    return " ".join(words)[:max_length].rstrip() or None


def _number(
    value: object, minimum: float = -inf, maximum: float = inf, unit: float = 1
) -> float | None:
    """Return a number multiplied by `unit`; None if the value is no number, or the result is out of range."""
    if type(value) is not float and type(value) is not int:
        return None
    value *= unit
    return value if minimum <= value <= maximum else None


def _place(get: _Get, is_measured: bool) -> _Place:
    """Return the values of a usable place, or `_NO_PLACE`. Only a measured place has an altitude, speed and course."""
    latitude = _number(get("latitude"), -90, 90)
    longitude = _number(get("longitude"), -180, 180)
    accuracy = _number(get("accuracy"), 0) or 0
    if latitude is None or longitude is None or latitude == longitude == 0:
        return _NO_PLACE
    # A place this inexact comes from cell towers, and can be off by many kilometers.
    if accuracy > 5_000:
        return _NO_PLACE
    if not is_measured:
        return latitude, longitude, accuracy, None, None, None
    altitude = _number(get("altitude"), -1_000, 20_000)
    speed, course = _number(get("speed"), 0, 1_852, 1.852), get("course")
    return latitude, longitude, accuracy, altitude, speed, _number(course, 0, 360)


def _attributes(get: _Get) -> dict[str, Any]:
    """Return the fields of a Position that come from the row's attributes."""
    battery_level, version = _number(get("batteryLevel"), 0), get("versionFw")
    return {
        "battery_level": battery_level and min(battery_level, 100),
        "motion": _of(bool, get("motion")),
        "total_distance": _number(get("totalDistance"), 0, MAX_KILOMETERS, 0.001),
        "charge": _of(bool, get("charge")),
        "lock": _of(bool, get("lock")),
        # Traccar does not convert units, so leave out values that cannot be volts. The
        # battery of a tracker has few cells: at most 20 V. The battery of an electric
        # bike has up to twenty cells: at most 100 V.
        "battery_voltage": _number(get("battery"), 0, 20),
        "power_voltage": _number(get("power"), 0, 100),
        # Some servers send the version as a number.
        "firmware": one_line(version if _number(version) is None else str(version)),
        "alarm": _of(str, get("alarm")) or None,
    }
