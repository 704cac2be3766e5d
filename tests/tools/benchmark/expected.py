"""How many requests, writes and rows each candidate makes, which is the same each time."""

from dataclasses import dataclass
from typing import Final

from .counters import Counts
from .scenarios import SCENARIOS, SET_UP


@dataclass(frozen=True, slots=True)
class Habit:
    """What one kind of poll makes of a fleet of which some trackers are struck."""

    requests: int
    changed: int = 0
    """`state_changed` events per tracker, struck or not."""
    more_changed: int = 0
    """And how many more per struck tracker."""
    written: int = 0
    """States written per tracker."""
    more_written: int = 0
    different: int = 0
    """Entities that have another value, per struck tracker."""

    def difference(self, counts: Counts, trackers: int, struck: int) -> str | None:
        """Return what is other than it has to be."""
        changed = self.changed * trackers + self.more_changed * struck
        written = self.written * trackers + self.more_written * struck
        wanted = {
            "requests": self.requests,
            "changed": changed,
            "written": written,
            "different": self.different * struck,
            "rows": changed,
        }
        wrong = [
            f"{name} {getattr(counts, name)} instead of {number}"
            for name, number in wanted.items()
            if getattr(counts, name) != number
        ]
        return ", ".join(wrong) or None


IDLE, REPORTED, TOUCHED = "idle", "reported", "touched"

# A tracker that reports has another place, status and last update: three of five entities. Home Assistant forces every
# write of a device tracker to be a change, unless the entity says otherwise.
_HABITS: Final = {
    "bike_tracker": {
        # The third asks for the rides of a day before.
        SET_UP: Habit(3, changed=5, written=5, different=5),
        IDLE: Habit(1),
        REPORTED: Habit(2, more_changed=3, more_written=3, different=3),
        # Reports of yesterday: last update follows those of now in steps of five minutes.
        TOUCHED: Habit(1, more_changed=1, more_written=1, different=1),
    },
    "floor": {
        SET_UP: Habit(2, changed=4, written=4, different=4),
        IDLE: Habit(2),
        REPORTED: Habit(2, more_changed=3, more_written=3, different=3),
        TOUCHED: Habit(2, more_changed=1, more_written=1, different=1),
    },
    "usual_way": {
        SET_UP: Habit(2, changed=5, written=5, different=5),
        IDLE: Habit(2, changed=1, written=5),
        REPORTED: Habit(2, changed=1, more_changed=2, written=5, different=3),
        TOUCHED: Habit(2, changed=1, more_changed=1, written=5, different=1),
    },
    # Four per tracker: place, ignition, speed and last report.
    "scorpiontrack": {
        SET_UP: Habit(1, changed=4, written=4, different=4),
        IDLE: Habit(1),
        REPORTED: Habit(1, changed=1, more_changed=2, written=4, different=3),
        TOUCHED: Habit(1, changed=1, more_changed=1, written=4, different=1),
    },
}
_KINDS: Final = {None: IDLE, "report": REPORTED, "touch": TOUCHED}


def differences(candidate: str, trackers: int, found: dict[str, Counts]) -> list[str]:
    """Return which counts are other than they have to be."""
    habits = _HABITS[candidate]
    checks = {SET_UP: (habits[SET_UP], trackers)} | {
        scenario.key: (habits[_KINDS[scenario.command]], scenario.struck(trackers))
        for scenario in SCENARIOS
    }
    return [
        f"{candidate}, {trackers} trackers, {key}: {difference}"
        for key, (habit, struck) in checks.items()
        if (difference := habit.difference(found[key], trackers, struck))
    ]
