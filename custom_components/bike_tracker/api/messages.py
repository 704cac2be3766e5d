"""A message of the live connection, as objects."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from .limits import refuse_too_many_values
from .models import Device, Position
from .turns import ITEMS_AT_A_TIME, Steps


@dataclass(frozen=True, slots=True)
class Message:
    """Trackers and positions that the service told of, in its order."""

    devices: list[Device]
    positions: list[Position]

    def __len__(self) -> int:
        """Return of how much it tells."""
        return len(self.devices) + len(self.positions)


def reading(data: bytes) -> Steps[Message | None]:
    """Return a message in steps; None for one without trackers and positions.

    That is a sign of life, `{}`, or nothing that can be read. What is unknown or not as
    it should be within a message costs only itself. Raises InvalidResponseError for more
    than is read.
    """
    refuse_too_many_values(data)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if type(value) is not dict:
        return None
    parts = value.get("devices"), value.get("positions")
    if not any(type(rows) is list for rows in parts):
        return None
    devices = yield from _objects(Device, parts[0])
    positions = yield from _objects(Position, parts[1])
    return Message(devices, positions)


def _objects[T: (Device, Position)](kind: type[T], rows: Any) -> Steps[list[T]]:
    objects: list[T] = []
    for number, row in enumerate(_dicts(rows), 1):
        if (item := kind.from_row(row, _note_nothing)) is not None:
            objects.append(item)
        if number % ITEMS_AT_A_TIME == 0:
            yield
    return objects


def _dicts(rows: Any) -> Iterable[dict[str, Any]]:
    if type(rows) is not list:
        return ()
    return (row for row in rows if type(row) is dict)


def _note_nothing(_: str) -> None:
    """Take an unreadable field, which the poll's list tells of."""
