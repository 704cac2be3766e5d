"""Alarms: what a report was sent for, and what that is called here."""

from datetime import datetime
import re
from typing import Any, Final, NamedTuple

from ..api import Position
from ..api.models import one_line

ALARM_TYPES: Final = (
    *("sos", "vibration", "movement", "tow", "tampering", "removing"),
    *("fall_down", "accident", "overspeed", "geofence_exit", "geofence_enter"),
    *("low_battery", "low_power", "power_cut", "power_restored"),
    *("power_off", "power_on", "lock", "unlock", "door", "fault", "jamming"),
    "other",
)
"""What kinds of alarms there are; the last one is any that nobody knows."""

# What Traccar up to 4.14 calls it.
_OLD_WORDS: Final = {"shock": "vibration"}
# Nobody sets off so many at once; it bounds what a server may have told.
_MOST_AT_ONCE: Final = 20


class Alarm(NamedTuple):
    """One alarm of one report; of two words in a report each is one."""

    word: str
    """What the service calls it."""
    time: datetime | None
    """When the place of that report was measured, in UTC."""
    heard_at: datetime | None
    """Its number: when it was heard of, later than any alarm before it, in UTC.

    None where it was there before anybody could listen: nobody tells it.
    """
    report: int
    """The ID of the position, 0 where another account's server gave it."""
    reported_at: datetime | None = None
    """When the tracker sent the report by its own clock, in UTC."""

    @property
    def type(self) -> str:
        """Return what it is called here: `fallDown` is `fall_down`."""
        name = re.sub(r"(?=[A-Z])", "_", self.word).lower()
        name = _OLD_WORDS.get(name, name)
        return name if name in ALARM_TYPES else "other"

    def is_older(self, time: datetime) -> bool:
        """Return whether it was both reported and heard of before a time."""
        return all(at is None or at < time for at in (self.reported_at, self.heard_at))

    def described(self) -> dict[str, Any]:
        """Return what is told of it."""
        return {"alarm": self.word, "time": self.time}


def alarms_of(position: Position) -> list[Alarm]:
    """Return the alarms that a report was sent for, each once, not heard of yet."""
    if not position.alarm:
        return []
    lines = map(one_line, position.alarm.split(",", _MOST_AT_ONCE)[:_MOST_AT_ONCE])
    reported_at = position.device_time or position.fix_time
    return [
        Alarm(word, position.fix_time, None, position.id, reported_at)
        for word in dict.fromkeys(filter(None, lines))
    ]


def is_same(known: Alarm, alarm: Alarm) -> bool:
    """Return whether two are one alarm, of which another server has another ID."""
    if known.word != alarm.word:
        return False
    if known.report and alarm.report:
        return known.report == alarm.report
    return known.reported_at == alarm.reported_at
