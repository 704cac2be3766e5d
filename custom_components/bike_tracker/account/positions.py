"""Which position is wanted, and what of it counts."""

from datetime import timedelta

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


def goes_back(device: Device, known: Position, position: Position) -> bool:
    """Return whether a position is older than the known one, and not announced."""
    if position.id == device.position_id or not (position.fix_time and known.fix_time):
        return False
    return position.fix_time < known.fix_time


def taken(known: Position | None, position: Position) -> Position:
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
    if known.address and not position.address and _is_same_place(known, position):
        position = position._replace(address=known.address)
    if position.battery_level is None and known.battery_level is not None:
        position = position._replace(battery_level=known.battery_level)
    if known.hardware is not None:
        position = position._replace(
            hardware=(position.hardware or Hardware()).or_else(known.hardware)
        )
    return known if position == known else position


def _is_same_place(known: Position, position: Position) -> bool:
    """Return whether it is the very place, as servers send again without a new fix."""
    return (position.latitude, position.longitude) == (known.latitude, known.longitude)
