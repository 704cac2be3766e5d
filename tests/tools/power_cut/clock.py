"""A clock that the process moves on by itself; import it before Home Assistant."""

from datetime import UTC, datetime, timedelta
import time
from typing import Final

from homeassistant.util import dt as dt_util

_monotonic: Final = time.monotonic
_time: Final = time.time


class Clock:
    """The time of Home Assistant: the machine's, moved on by an offset."""

    def __init__(self) -> None:
        """Begin with the time of the machine."""
        self._offset = 0.0
        """Seconds since the start of the process."""
        self._before = 0.0
        """Seconds by which the process started later."""
        time.monotonic = lambda: _monotonic() + self._offset
        time.time = lambda: _time() + self._before + self._offset
        setattr(dt_util, "utcnow", self.now)  # noqa: B010

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return datetime.fromtimestamp(time.time(), UTC)

    def start(self, at: datetime) -> None:
        """Set the time at the start of a process."""
        self._before += (at - self.now()).total_seconds()

    def move(self, duration: timedelta) -> None:
        """Move the time on; timers that are due then fire at once."""
        self._offset += duration.total_seconds()


clock: Final = Clock()
