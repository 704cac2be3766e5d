"""What is known of one account: values in, values out.

No clock, no network and nothing of Home Assistant is needed in here, and nobody asks
where events came from.
"""

from .account import Account, is_outdated, log_errors
from .distance import Fix, fix_of
from .guard import Guard, Triggered
from .history import MAX_BACKFILL_AGE, HistoryAnswer, rides_before
from .occurrences import (
    ALARM_TYPES,
    Alarm,
    Occurrence,
    OccurrenceType,
    UpdateContext,
    kept,
)
from .ride_log import HistoryGap, RideLog
from .ride_state import Ride, RideState
from .state import Changes, Flag, Tracker, Trackers, TrackerState

__all__ = [
    "ALARM_TYPES",
    "MAX_BACKFILL_AGE",
    "Account",
    "Alarm",
    "Changes",
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
    "fix_of",
    "is_outdated",
    "kept",
    "log_errors",
    "rides_before",
]
