"""A message of the live connection, as objects."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from .limits import refuse_too_many_values
from .lists import Seen
from .models import Device, Position


@dataclass(frozen=True, slots=True)
class Message:
    """Trackers and positions that the service told of, in its order."""

    devices: list[Device]
    positions: list[Position]

    def __len__(self) -> int:
        """Return of how much it tells."""
        return len(self.devices) + len(self.positions)


def read(data: bytes, seen: Seen) -> Message | None:
    """Return a message, None for one without trackers and positions.

    That is a sign of life, `{}`, or nothing that can be read. What is not as it should be
    within a message costs only itself. What positions hold is noted in `seen`. Raises
    InvalidResponseError for more than is read.
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
    devices, positions = map(_rows, parts)
    for row in positions:
        seen.note(row, "attributes")
    return Message(_objects(Device, devices), _objects(Position, positions))


def _rows(rows: Any) -> list[dict[str, Any]]:
    return [row for row in rows if type(row) is dict] if type(rows) is list else []


def _objects[T: (Device, Position)](
    kind: type[T], rows: Iterable[dict[str, Any]]
) -> list[T]:
    return [item for row in rows if (item := kind.from_row(row)) is not None]
