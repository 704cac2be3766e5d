"""Which reports are wanted, and what of them counts beside what is known."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import itemgetter

from ..api import Device, Hardware, Position
from ..api.models import is_real

# A tracker whose clock is hours ahead says what it always says.
_WRONG_CLOCKS = timedelta(days=1)


def is_outdated(device: Device, known: Position | None) -> bool:
    """Return whether a device has another position than the known one.

    One whose time was not readable, or is later than the service heard of the device at
    all, may have come from a service that was not well: the same one may come again.
    """
    if device.position_id is None:
        return False
    if known is None or known.id != device.position_id or not known.is_readable:
        return True
    if known.fix_time is None or not is_real(device.last_update):
        return False
    return known.fix_time > device.last_update + _WRONG_CLOCKS


def is_stale(device: Device, known: Position, position: Position) -> bool:
    """Return whether a position is older than the known one, and not announced."""
    if position.id == device.position_id or not (position.fix_time and known.fix_time):
        return False
    return position.fix_time < known.fix_time


def is_older_device(device: Device, known: Device) -> bool:
    """Return whether the service heard of the tracker later than this says."""
    return device.moment < known.moment


def is_older_position(position: Position, known: Position) -> bool:
    """Return whether a place is older than the known one, or of one time, its ID is."""
    if position.fix_time is None or position.fix_time == known.fix_time:
        return position.id < known.id
    return known.fix_time is not None and position.fix_time < known.fix_time


def in_order(positions: Sequence[Position]) -> Sequence[Position]:
    """Return reports of one tracker in the order of their fixes.

    One without a fix comes after the one that it came after.
    """
    if len(positions) < 2:
        return positions
    timed: list[tuple[datetime, int, Position]] = []
    for position in positions:
        before = timed[-1][0] if timed else position.moment
        timed.append((position.fix_time or before, position.id, position))
    return [position for _, _, position in sorted(timed, key=itemgetter(0, 1))]


def with_position_id(device: Device, position_id: int | None) -> Device:
    """Return the device with this position, unless it announces a newer one.

    Servers tell of a device before its position, with the ID of the one before.
    """
    if position_id is None or position_id <= (device.position_id or 0):
        return device
    return device._replace(position_id=position_id)


def merged(known: Position | None, position: Position) -> Position:
    """Return the new position with what it does not say but the known one does.

    A message without a place does not make the place unknown, and one without a battery
    level does not empty the battery. An address stays as long as the place does. An alarm
    is that of one message alone.
    """
    if known is None:
        return position
    if position.latitude is None and known.latitude is not None:
        position = position._replace(
            fix_time=known.fix_time,
            latitude=known.latitude,
            longitude=known.longitude,
            accuracy=known.accuracy,
        )
    # Servers send the very place again without a new fix.
    place, address = (position.latitude, position.longitude), known.address
    if address and not position.address and place == (known.latitude, known.longitude):
        position = position._replace(address=address)
    if position.battery_level is None and known.battery_level is not None:
        position = position._replace(battery_level=known.battery_level)
    if known.hardware is not None:
        position = position._replace(
            hardware=(position.hardware or Hardware()).or_else(known.hardware)
        )
    return known if position == known else position
