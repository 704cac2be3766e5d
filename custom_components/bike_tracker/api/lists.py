"""One list answer after another: objects, and the same ones where nothing changed."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
import json
from operator import itemgetter
from typing import Any

import orjson

from .errors import InvalidResponseError
from .models import Device, Position
from .news import News

# What lists of thousands of trackers need. Of `{}` alone, 4 MiB would take up a hundred
# times as much once read.
_MOST_VALUES = 400_000
_DEVICE_FIELDS = itemgetter(
    *("id", "name", "uniqueId", "status"),
    *("lastUpdate", "positionId", "groupId", "disabled"),
)
_LONGEST_INTEGER = len("-9223372036854775808")


class DeviceLists:
    """Reads the device lists of one account.

    A device that did not change is the same object as before, and so is the mapping if
    none did.
    """

    def __init__(self) -> None:
        """Begin with no list."""
        self._body: bytes | None = None
        self._devices: Mapping[str, Device] = {}
        # What the row of each device said, by `uniqueId`.
        self._said: Mapping[str, bytes | None] = {}
        self.left_out = 0
        """Rows of the last answer without a usable `uniqueId`."""
        self.seen_fields: set[str] = set()
        """Names of all fields that came, documented or not."""
        self.unreadable_fields: set[str] = set()
        """Names of fields that came without a usable value."""

    def read(self, body: bytes) -> News[Device]:
        """Return the devices by `uniqueId`; of two with one, the later counts.

        Raises InvalidResponseError if this is no JSON array, or one of rows of which
        none has a usable `uniqueId`.
        """
        if body == self._body:
            return News(self._devices, self._devices, frozenset())
        rows = _rows(body)
        devices: dict[str, Device] = {}
        said: dict[str, bytes | None] = {}
        left_out = 0
        for row in rows:
            unique_id = Device.key_of(row) if type(row) is dict else None
            if unique_id is None:
                left_out += 1
                continue
            says = _says(row)
            device = self._device(unique_id, row, says)
            other = devices.get(unique_id)
            if other is None or _is_later(device, other):
                devices[unique_id], said[unique_id] = device, says
        _check_usable(rows, left_out)
        self._body, self._said, self.left_out = body, said, left_out
        return self._news(devices)

    def _device(
        self, unique_id: str, row: dict[str, Any], says: bytes | None
    ) -> Device:
        """Return the device of a row, which is the old one if it did not change."""
        old = self._devices.get(unique_id)
        if old is not None and says is not None and says == self._said[unique_id]:
            return old
        self.seen_fields.update(row)
        device = Device.from_row(unique_id, row, self.unreadable_fields.add)
        return old if old == device else device

    def _news(self, devices: Mapping[str, Device]) -> News[Device]:
        before = self._devices
        changed = {
            unique_id
            for unique_id, device in devices.items()
            if before.get(unique_id) is not device
        }
        if changed or len(devices) < len(before):
            changed |= before.keys() - devices.keys()
            self._devices = devices
        return News(before, self._devices, changed)


class PositionLists:
    """Reads lists of last known positions."""

    def __init__(self) -> None:
        """Begin with no list."""
        self.seen_fields: set[str] = set()
        """Names of all fields that came."""

    def read(self, body: bytes, wanted: AbstractSet[int]) -> dict[int, Position]:
        """Return the positions of these devices, by the internal ID of the device.

        Raises InvalidResponseError if this is no JSON array, or one of rows of which
        none is a position.
        """
        rows = _rows(body)
        positions: dict[int, Position] = {}
        left_out = 0
        for row in rows:
            device_id = Position.key_of(row) if type(row) is dict else None
            if device_id is None:
                left_out += 1
            elif device_id in wanted:
                self.seen_fields.update(row)
                position = Position.from_row(device_id, row)
                other = positions.get(device_id)
                if other is None or _is_later(position, other):
                    positions[device_id] = position
        _check_usable(rows, left_out)
        return positions


def _is_later(item: Device | Position, other: Device | Position) -> bool:
    """Return whether an object counts before another one with the same key.

    Where both are of the same moment the choice is any, but never depends on the order.
    """
    return (item.moment, str(item)) > (other.moment, str(other))


def _says(row: dict[str, Any]) -> bytes | None:
    """Return what a device's row says, or None if a field is missing or unheard of.

    As text: Python calls 1, 1.0 and True equal, and one text is quicker compared than
    eight values that lie scattered in the memory.
    """
    try:
        return orjson.dumps(_DEVICE_FIELDS(row))
    except KeyError, orjson.JSONEncodeError:
        return None


def _check_usable(rows: Sequence[Any], left_out: int) -> None:
    if rows and left_out == len(rows):
        raise InvalidResponseError("no usable element in the list")


def _rows(body: bytes) -> list[Any]:
    """Return the elements of a JSON array, or raise InvalidResponseError."""
    if len(body) > _MOST_VALUES < sum(map(body.count, (b"[", b"{", b","))):
        raise InvalidResponseError("too many values")
    try:
        rows = orjson.loads(body)
    except orjson.JSONDecodeError as err:
        error = f"no JSON: {err.msg}"
        rows = _lenient(body)
    else:
        error = "no JSON array"
    if type(rows) is not list:
        # Raised here, as the errors above hold the body: it must reach no log.
        raise InvalidResponseError(error)
    return rows


def _lenient(body: bytes) -> object:
    """Return what is read of JSON with numbers that no float holds, else None.

    These, and halves of surrogate pairs, cost their field, not all trackers.
    """
    try:
        return json.loads(body.decode(), parse_int=_number)
    except ValueError, RecursionError:
        return None


def _number(digits: str) -> float:
    """Return an integer that fits into 64 bits, else a float, which may be infinite."""
    if len(digits) <= _LONGEST_INTEGER and -(2**63) <= (number := int(digits)) < 2**64:
        return number
    return float(digits)
