"""A message of the live connection, as objects."""

from dataclasses import dataclass

import orjson

from .lists import ListReader
from .models import Device, Position
from .size_limits import refuse_too_many_values


@dataclass(frozen=True, slots=True)
class Message:
    """Trackers and positions that the service told of, in its order."""

    devices: list[Device]
    positions: list[Position]

    def __len__(self) -> int:
        """Return of how much it tells."""
        return len(self.devices) + len(self.positions)


def read(
    data: bytes, devices: ListReader[str, Device], positions: ListReader[int, Position]
) -> Message | None:
    """Return a message, None for one without trackers and positions.

    That is a sign of life, `{}`, or nothing that can be read. What is not as it should be
    within a message costs only itself. Raises InvalidResponseError for more than is read.
    """
    refuse_too_many_values(data)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if type(value) is not dict:
        return None
    rows = value.get("devices"), value.get("positions")
    if not any(type(part) is list for part in rows):
        return None
    return Message(devices.objects_of(rows[0]), positions.objects_of(rows[1]))
