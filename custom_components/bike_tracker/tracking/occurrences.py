"""What happened to a tracker: a list of things, each of which is told once.

Two things between two looks are two things. Who tells them knows the last one it told.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple, cast

from .alarms import Alarm
from .ride_state import Ride

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


class Moment(NamedTuple):
    """When a report is taken in, and what is known of the time before it."""

    now: datetime
    came_back: bool = False
    """Whether the tracker was unavailable: what happened may not have been told yet."""
    is_whole: bool = False
    """Whether nothing can have been reported between this report and the one before."""
    has_history: bool = False
    """Whether the service may tell what was."""


def following(numbers: Iterable[datetime | None], now: datetime) -> datetime:
    """Return the number of what is heard of now, which none had before."""
    last = max((number for number in numbers if number), default=None)
    return now if last is None or last < now else last + _NEXT


def later[T: Alarm | RideEvent](
    items: tuple[T, ...],
    new: Iterable[T],
    moment: Moment,
    *,
    old: int = _MOST,
) -> tuple[T, ...]:
    """Return the items with new ones, numbered in their order.

    Of the first ones, so many that are `old`, the last ten are kept that were told, and
    all that were not: these are heard of now as well, or nothing could be told.
    """
    now, numbered = moment.now, list[T]()
    for item in new:
        number = following((known.heard_at for known in (*items, *numbered)), now)
        numbered.append(cast(T, item._replace(heard_at=number)))
    if moment.came_back:
        return (*items, *numbered)[-_MOST:]
    told = sum(item.heard_at is None or item.heard_at < now for item in items)
    return (*items[max(0, min(old, told - _KEPT)) :], *numbered)[-_MOST:]
