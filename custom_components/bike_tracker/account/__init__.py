"""What is known of one account: values in, values out.

No clock, no network and nothing of Home Assistant is needed in here, and nobody asks
where news came from.
"""

from .account import Account, Remembered
from .alarms import Alarm
from .positions import is_outdated
from .since import Said, Since
from .tracker import Tracker, Trackers

__all__ = [
    "Account",
    "Alarm",
    "Remembered",
    "Said",
    "Since",
    "Tracker",
    "Trackers",
    "is_outdated",
]
