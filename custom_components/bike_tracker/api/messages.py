"""A message of the live connection, as objects."""

from dataclasses import dataclass

import orjson

from .lists import objects_of
from .models import Device, Position


@dataclass(frozen=True, slots=True)
class Message:
    """Trackers and positions that the service told of, in its order."""

    devices: list[Device]
    positions: list[Position]

    def __len__(self) -> int:
        """Return of how much it tells."""
        return len(self.devices) + len(self.positions)


def read(data: bytes) -> Message | None:
    """Return a message, None for one without trackers and positions.

    That is a sign of life, `{}`, or nothing that can be read. What is not as it should be
    within a message costs only itself.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if type(value) is not dict:
        return None
    rows = value.get("devices"), value.get("positions")
    if not any(type(part) is list for part in rows):
        return None
    return Message(objects_of(rows[0], Device), objects_of(rows[1], Position))
