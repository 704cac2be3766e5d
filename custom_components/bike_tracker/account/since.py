"""Since when the service says of a tracker what it says."""

from datetime import datetime
from typing import NamedTuple

from ..api import Device, Position


class Said(NamedTuple):
    """A yes or no of the service, and when it was first heard to say so, in UTC."""

    is_so: bool
    since: datetime


class Since(NamedTuple):
    """What the service said last of one tracker; None is what it never said."""

    online: Said | None = None
    """No is any readable status but online, as a Traccar's third one."""
    moving: Said | None = None

    def after(self, device: Device, position: Position | None, now: datetime) -> Since:
        """Return what is said from now on.

        What cannot be read, and a report that does not tell whether it moves, change
        nothing.
        """
        is_online = None if device.status is None else device.status == "online"
        is_moving = None if position is None else position.motion
        online = _said(self.online, is_online, now)
        moving = _said(self.moving, is_moving, now)
        if online is self.online and moving is self.moving:
            return self
        return Since(online, moving)


NEVER_HEARD = Since()


def _said(before: Said | None, is_so: bool | None, now: datetime) -> Said | None:
    if is_so is None or (before is not None and before.is_so is is_so):
        return before
    return Said(is_so, now)
