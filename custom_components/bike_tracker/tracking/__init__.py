"""What is known of one account: values in, values out.

No clock, no network and nothing of Home Assistant is needed in here, and nobody asks
where news came from.
"""

from .account import Account, Began, Remembered
from .alarms import ALARM_TYPES, Alarm
from .checkpoint import MAX_AGE, HistoryGap
from .distance import Fix
from .guard import Guard, Triggered
from .history import HistoryAnswer
from .occurrences import Moment, RideEvent
from .reports import is_outdated
from .ride_log import RideLog
from .ride_state import Ride, RideState
from .story import Story
from .tracker import Tracker, Trackers
from .unchanged_since import Said, Since

__all__ = [
    "ALARM_TYPES",
    "MAX_AGE",
    "Account",
    "Alarm",
    "Began",
    "Fix",
    "Guard",
    "HistoryAnswer",
    "HistoryGap",
    "Moment",
    "Remembered",
    "Ride",
    "RideEvent",
    "RideLog",
    "RideState",
    "Said",
    "Since",
    "Story",
    "Tracker",
    "Trackers",
    "Triggered",
    "is_outdated",
]
