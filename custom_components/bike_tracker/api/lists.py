"""Parse lists of devices and positions. Unchanged devices keep their object."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from .errors import InvalidResponseError
from .models import Device, Position, Values

_NOTHING_USABLE = "no usable element in the list"
# Keyed by the row's ID: the server may change the order of the list.
type _Rows = dict[int | None, tuple[Values, Device | None]]


@dataclass(slots=True, eq=False)
class DeviceReader:
    """Parser of device lists that reuses the objects of the previous list.

    An unchanged device keeps its object. If no device changed, the mapping is the same
    object, too.
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
        rows, devices = self._read_rows(_loads(body)[::-1])
        if rows and not devices:
            raise InvalidResponseError(_NOTHING_USABLE)
        by_key = _by_unique_id(devices)
        self._rows, self._body = rows, body
        if by_key != self._devices:
            # In large accounts every list differs: keeping the body would be useless.
            self._devices, self._body = by_key, None
        return self._devices

    def _read_rows(self, rows: list[Any]) -> tuple[_Rows, list[Device]]:
        read: _Rows = {}
        devices = list[Device]()
        # Drop each row after reading it. With thousands of live rows, Python's garbage
        # collection costs as much time as the parsing.
        while rows:
            values = Device.values_of(rows.pop())
            row_id = values[0] if type(values[0]) is int else None
            known = self._rows.get(row_id)
            if known is None or values != known[0]:
                known = values, Device.from_values(values)
            read[row_id] = known
            if (device := known[1]) is not None:
                devices.append(device)
        return read, devices


def read_positions(body: bytes, ids: Container[int] | None = None) -> list[Position]:
    """Return the positions of a response, sorted by fix time.

    With `ids`, return only the positions of these devices. Raises InvalidResponseError if
    the body is not a JSON array, or if the array is not empty and has no usable position.
    """
    # For a device without a position, Traccar 4 sends null.
    wanted = rows = [row for row in _loads(body) if row is not None]
    if ids is not None:
        # Usually only a few of thousands are new.
        wanted = [row for row in rows if _is_of(row, ids)]
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


def _is_of(row: Any, device_ids: Container[int]) -> bool:
    device_id = row.get("deviceId") if type(row) is dict else None
    return type(device_id) is int and device_id in device_ids


def _loads(body: bytes) -> list[Any]:
    """Return the elements of a JSON array, or raise InvalidResponseError."""
    error = "not a JSON array"
    try:
        rows = orjson.loads(body)
    except orjson.JSONDecodeError as err:
        rows, error = None, f"invalid JSON: {err.msg}"
    if type(rows) is not list:
        # Raised outside of `except`: the original error contains the body, which must
        # never be logged.
        raise InvalidResponseError(error)
    return rows


def _by_unique_id(devices: list[Device]) -> dict[str, Device]:
    """Return devices by `uniqueId`. Of duplicates, the one updated last counts."""
    by_key = {device.unique_id: device for device in devices}
    if len(by_key) == len(devices):
        return by_key
    devices = sorted(devices, key=lambda device: (device.moment, str(device)))
    return {device.unique_id: device for device in devices}
