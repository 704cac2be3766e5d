"""The last alarm of a tracker, and whether it is to be told."""

from dataclasses import dataclass
from datetime import datetime

from ..api import Position
from ..api.models import one_line

# Nobody sets off so many at once; it bounds what a server may have told.
_MOST_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Alarm:
    """What one report was sent for."""

    position_id: int
    """The report: each is told once."""
    words: tuple[str, ...]
    """What the service calls it, several if it was for several reasons."""
    time: datetime | None
    """When the place of that report was measured, in UTC."""
    is_news: bool = False
    """Whether it is to be told: not if it was there at the start, or is remembered."""


def alarm_after(
    before: Alarm | None, position: Position, *, is_news: bool
) -> Alarm | None:
    """Return the last alarm once this position came."""
    words = _words(position.alarm or "")
    if not words or (before is not None and before.position_id == position.id):
        return before
    return Alarm(position.id, words, position.fix_time, is_news)


def _words(alarm: str) -> tuple[str, ...]:
    """Return what is between the commas, each word once."""
    lines = map(one_line, alarm.split(",", _MOST_AT_ONCE)[:_MOST_AT_ONCE])
    return tuple(dict.fromkeys(filter(None, lines)))
