"""Which of what a message says counts beside what is known."""

from collections.abc import Sequence
from datetime import datetime

from ..api import Device, Position


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


def in_order(positions: Sequence[Position]) -> Sequence[Position]:
    """Return reports of one tracker in the order of their fixes.

    One without a fix comes after the one that it came after.
    """
    if len(positions) < 2:
        return positions
    timed: list[tuple[datetime, Position]] = []
    for position in positions:
        before = timed[-1][0] if timed else position.moment
        timed.append((position.fix_time or before, position))
    return [position for _, position in sorted(timed, key=_time_and_id)]


def _time_and_id(timed: tuple[datetime, Position]) -> tuple[datetime, int]:
    time, position = timed
    return time, position.id


def announcing(device: Device, position_id: int | None) -> Device:
    """Return the device with this position, unless it announces a newer one.

    Servers tell of a device before its position, with the ID of the one before.
    """
    if position_id is None or position_id <= (device.position_id or 0):
        return device
    return device._replace(position_id=position_id)
