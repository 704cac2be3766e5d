"""What is known of one account: values in, values out.

No clock, no network and nothing of Home Assistant is needed in here, and nobody asks
where events came from.
"""

from .account import Account
from .alarms import ALARM_TYPES, Alarm
from .backfill import MAX_BACKFILL_AGE, Backfill
from .checkpoint import MAX_AGE, HistoryGap
from .distance import Fix
from .flags import Flag
from .guard import Guard, Triggered
from .history import HistoryAnswer
from .occurrences import Occurrence, OccurrenceType, UpdateContext, kept
from .reports import is_outdated
from .ride_log import RideLog
from .ride_state import Ride, RideState
from .state import TrackerState
from .tracker import Tracker, Trackers

__all__ = [
    "ALARM_TYPES",
    "MAX_AGE",
    "MAX_BACKFILL_AGE",
    "Account",
    "Alarm",
    "Backfill",
    "Fix",
    "Flag",
    "Guard",
    "HistoryAnswer",
    "HistoryGap",
    "Occurrence",
    "OccurrenceType",
    "Ride",
    "RideLog",
    "RideState",
    "Tracker",
    "TrackerState",
    "Trackers",
    "Triggered",
    "UpdateContext",
    "is_outdated",
    "kept",
]
