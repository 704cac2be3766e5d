"""List answers: their objects, of which those that did not change stay the same."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from .errors import InvalidResponseError
from .models import Device, Position, Values

_NOTHING_USABLE = "no usable element in the list"
# By the ID of a row: servers may list in another order each time.
type _Rows = dict[int | None, tuple[Values, Device | None]]


@dataclass(slots=True, eq=False)
class DeviceReader:
    """Reads the lists of devices, one after another.

    A device that did not change is the same object as before, and so is the mapping if
    none did. Of a row of which nothing changed that is read, no object is made.
    """

    _body: bytes | None = None
    _rows: _Rows = field(default_factory=dict)
    _devices: Mapping[str, Device] = field(default_factory=dict)

    def read(self, body: bytes) -> Mapping[str, Device]:
        """Return the devices of an answer by `uniqueId`.

        Raises InvalidResponseError if it is no JSON array, or one of rows of which none
        has a usable key.
        """
        if body == self._body:
            return self._devices
        rows, devices = self._read_rows(_loads(body)[::-1])
        if rows and not devices:
            raise InvalidResponseError(_NOTHING_USABLE)
        by_key = _by_unique_id(devices)
        self._rows, self._body = rows, body
        if by_key != self._devices:
            # Of thousands of trackers some changed each time: their bodies are not kept.
            self._devices, self._body = by_key, None
        return self._devices

    def _read_rows(self, rows: list[Any]) -> tuple[_Rows, list[Device]]:
        read: _Rows = {}
        devices = list[Device]()
        # Each row goes as it is read: thousands that stay are looked at by Python's
        # garbage collection, which takes as long as to read them.
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
    """Return the positions of an answer, of these devices alone, in order of their fixes.

    Raises InvalidResponseError if it is no JSON array, or one of something else.
    """
    wanted = rows = _loads(body)
    if ids is not None:
        # Of thousands few are new.
        wanted = [row for row in rows if _is_of(row, ids)]
    positions = positions_of(wanted)
    if rows and not (positions or positions_of(rows)):
        raise InvalidResponseError(_NOTHING_USABLE)
    return sorted(positions, key=lambda position: (position.moment, position.id))


def devices_of(rows: list[Any]) -> list[Device]:
    """Return the devices of rows, as far as they are any."""
    return list(filter(None, map(Device.from_values, map(Device.values_of, rows))))


def positions_of(rows: list[Any]) -> list[Position]:
    """Return the positions of rows, as far as they are any."""
    return list(filter(None, map(Position.from_row, rows)))


def _is_of(row: Any, device_ids: Container[int]) -> bool:
    device_id = row.get("deviceId") if type(row) is dict else None
    return type(device_id) is int and device_id in device_ids


def _loads(body: bytes) -> list[Any]:
    """Return the elements of a JSON array, or raise InvalidResponseError."""
    error = "no JSON array"
    try:
        rows = orjson.loads(body)
    except orjson.JSONDecodeError as err:
        rows, error = None, f"no JSON: {err.msg}"
    if type(rows) is not list:
        # Raised here, as the error above holds the body: it must reach no log.
        raise InvalidResponseError(error)
    return rows


def _by_unique_id(devices: list[Device]) -> dict[str, Device]:
    """Return devices by key: of two with one key the newer, in whatever order they come."""
    by_key = {device.unique_id: device for device in devices}
    if len(by_key) == len(devices):
        return by_key
    devices = sorted(devices, key=lambda device: (device.moment, str(device)))
    return {device.unique_id: device for device in devices}
