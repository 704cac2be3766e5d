"""Since when the service says of a tracker what it says."""

from datetime import datetime, timedelta
from typing import NamedTuple

from ..api import DeviceStatus


class Said(NamedTuple):
    """A yes or no of the service, and when it was first heard to say so, in UTC."""

    is_so: bool
    since: datetime
    before: datetime | None = None
    """Since when it had said the opposite, None if it never did."""
    changes: int = 0
    """How often it changed its mind: the first word is no change."""


class Since(NamedTuple):
    """What the service said last of one tracker; None is what it never said."""

    online: Said | None = None
    """No is any readable status but online, as a Traccar's third one."""
    moving: Said | None = None

    def after_status(self, status: DeviceStatus | None, now: datetime) -> Since:
        """Return what is said from now on; what cannot be read changes nothing."""
        online = _said(self.online, None if status is None else status == "online", now)
        return self if online is self.online else Since(online, self.moving)

    def after_motion(self, motion: bool | None, now: datetime) -> Since:
        """Return what is said from now on; no word of it changes nothing."""
        moving = _said(self.moving, motion, now)
        return self if moving is self.moving else Since(self.online, moving)


NEVER_HEARD = Since()


def _said(known: Said | None, is_so: bool | None, now: datetime) -> Said | None:
    if is_so is None or (known is not None and known.is_so is is_so):
        return known
    if known is None:
        return Said(is_so, now)
    # Of two reports that came at once the second is later all the same.
    since = max(now, known.since + timedelta(microseconds=1))
    return Said(is_so, since, known.since, known.changes + 1)
