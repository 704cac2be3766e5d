"""Which of what a message says counts beside what is known."""

from ..api import Device, Position
from .positions import taken


def is_older_device(device: Device, known: Device) -> bool:
    """Return whether the service heard of the tracker later than this says."""
    return device.moment < known.moment


def is_older_position(position: Position, known: Position) -> bool:
    """Return whether a place is older than the known one, or of one time, its ID is."""
    if known.fix_time is None:
        return position.fix_time is None and position.id < known.id
    if position.fix_time is None or position.fix_time == known.fix_time:
        return position.id < known.id
    return position.fix_time < known.fix_time


def heard_of(known: Position | None, position: Position) -> Position:
    """Return the position of a message, the known one if it is of the same ID."""
    if known is not None and known.id == position.id:
        return known
    return taken(known, position)


def announcing(device: Device, position_id: int | None) -> Device:
    """Return the device with this position, unless it announces a newer one.

    Servers tell of a device before its position, with the ID of the one before.
    """
    if position_id is None or position_id <= (device.position_id or 0):
        return device
    return device._replace(position_id=position_id)
