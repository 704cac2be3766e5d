"""What happened to a tracker: a list of things, each of which is told once.

Two things between two looks are two things. Who tells them knows the last one it told.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple, cast

from .alarms import Alarm
from .track import Ride

# Of what was told already.
_KEPT: Final = 10
# An alarm every minute for most of a day during which nothing can be told.
_MOST: Final = 1_000
_NEXT: Final = timedelta(microseconds=1)


class RideEvent(NamedTuple):
    """The start or the end of a ride."""

    type: Literal["started", "ended"]
    ride: Ride
    """The ride as it was then."""
    heard_at: datetime | None
    """Its number: when it was heard of, later than any before it, in UTC."""

    def described(self) -> dict[str, Any]:
        """Return what is told of it."""
        return self.ride.described(is_over=self.type == "ended")


def later[T: Alarm | RideEvent](
    items: tuple[T, ...], new: Iterable[T], now: datetime, *, untold: bool
) -> tuple[T, ...]:
    """Return the items with new ones, numbered in their order.

    The last ten are kept of those that were told, and all that were not: they are
    heard of now as well, or nothing could be told until now.
    """
    number = max((item.heard_at for item in items if item.heard_at), default=None)
    numbered: list[T] = []
    for item in new:
        number = now if number is None or number < now else number + _NEXT
        numbered.append(cast(T, item._replace(heard_at=number)))
    told = 0
    if not untold:
        told = sum(item.heard_at is None or item.heard_at < now for item in items)
    return (*items[max(0, told - _KEPT) :], *numbered)[-_MOST:]
