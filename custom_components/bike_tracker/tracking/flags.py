"""Yes or no: what the service says of a tracker, and since when."""

from datetime import datetime
from typing import NamedTuple


class Flag(NamedTuple):
    """A yes or no, and when it changed, in UTC."""

    value: bool
    changed_at: datetime
    """When it was first known to be so."""
    previous_change: datetime | None = None
    """When it had become the opposite; None if it never was, as far as is known."""


def after(flag: Flag | None, value: bool | None, now: datetime) -> Flag | None:
    """Return the flag after a report; one that does not say changes nothing."""
    if value is None or (flag is not None and flag.value is value):
        return flag
    return Flag(value, now, flag and flag.changed_at)
