"""Which position is wanted, and what of it counts."""

from dataclasses import replace

from ..api import Device, Position


def is_outdated(device: Device, known: Position | None) -> bool:
    """Return whether a device announces another position than the known one."""
    return device.position_id is not None and (
        known is None or known.id != device.position_id
    )


def taken(known: Position | None, position: Position) -> Position:
    """Return the new position with what it does not say but the known one does.

    A message without a place does not make the place unknown, and one without a battery
    level does not empty the battery.
    """
    if known is None:
        return position
    if position.latitude is None:
        position = replace(
            position,
            fix_time=known.fix_time,
            latitude=known.latitude,
            longitude=known.longitude,
            accuracy=known.accuracy,
        )
    if position.battery_level is None:
        position = replace(position, battery_level=known.battery_level)
    return known if position == known else position
