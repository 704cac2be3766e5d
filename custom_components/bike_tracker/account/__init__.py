"""What is known of one account: values in, values out.

No clock, no network and nothing of Home Assistant is needed in here, and nobody asks
where news came from.
"""

from .account import Account, Remembered
from .alarms import Alarm
from .distance import Fix
from .positions import is_outdated
from .rides import Ride, RideNews, Track
from .since import Said, Since
from .tracker import RideEvent, Tracker, Trackers

__all__ = [
    "Account",
    "Alarm",
    "Fix",
    "Remembered",
    "Ride",
    "RideEvent",
    "RideNews",
    "Said",
    "Since",
    "Track",
    "Tracker",
    "Trackers",
    "is_outdated",
]
