"""Alarms: what a report was sent for, and what that is called here."""

from collections.abc import Sequence
from datetime import UTC, datetime
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
MAX_ALARMS: Final = 50
"""So many are kept of a tracker, and wait to be fired."""

# What Traccar up to 4.14 calls it.
_OLD_WORDS: Final = {"shock": "vibration"}
# Nobody sets off so many at once; it bounds what a server may send.
_MAX_AT_ONCE: Final = 20
_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)


class Alarm(NamedTuple):
    """One alarm of one report; of two words in a report each is one."""

    word: str
    """What the service calls it."""
    time: datetime | None
    """When the place of that report was measured, in UTC."""
    report: int
    """The ID of the position."""
    reported_at: datetime | None = None
    """When the tracker sent the report by its own clock, in UTC."""

    @property
    def key(self) -> tuple[str, int]:
        """Return what makes it this alarm."""
        return self.word, self.report

    @property
    def type(self) -> str:
        """Return what it is called here: `fallDown` is `fall_down`."""
        name = re.sub(r"(?=[A-Z])", "_", self.word).lower()
        name = _OLD_WORDS.get(name, name)
        return name if name in ALARM_TYPES else "other"

    def described(self) -> dict[str, Any]:
        """Return the attributes of the event and of trigger variables."""
        time = self.time and self.time.isoformat()
        return {"type": self.type, "alarm": self.word, "time": time}


def alarms_of(position: Position) -> list[Alarm]:
    """Return the alarms that a report was sent for, each once."""
    if not position.alarm:
        return []
    lines = map(one_line, position.alarm.split(",", _MAX_AT_ONCE)[:_MAX_AT_ONCE])
    reported_at = position.device_time or position.fix_time
    return [
        Alarm(word, position.fix_time, position.id, reported_at)
        for word in dict.fromkeys(filter(None, lines))
    ]


def new_alarms(known: Sequence[Alarm], reports: Sequence[Position]) -> list[Alarm]:
    """Return the alarms of reports that are not known yet, the last 50 at most.

    Once that many are known, what is not newer than all of them may have been forgotten.
    """
    keys = {alarm.key for alarm in known}
    is_full = len(known) >= MAX_ALARMS
    last_report = max((alarm.report for alarm in known), default=0)
    last_time = max((_time(alarm) for alarm in known), default=_BEGINNING)
    new = {
        alarm.key: alarm
        for report in [report for report in reports if report.alarm][-MAX_ALARMS:]
        for alarm in alarms_of(report)
        if alarm.key not in keys
        and not (is_full and report.id <= last_report and _time(alarm) <= last_time)
    }
    return list(new.values())[-MAX_ALARMS:]


def _time(alarm: Alarm) -> datetime:
    return alarm.reported_at or _BEGINNING
