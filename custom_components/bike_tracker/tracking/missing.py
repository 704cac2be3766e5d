"""When a tracker that is listed no more is gone for good."""

from collections.abc import Iterable, Mapping
from typing import Final

_GONE_AFTER: Final = 7 * 24 * 60 * 60
# What counts of one time, so that a machine that slept for a day removes nothing.
_LONGEST: Final = 60 * 60


def counted(
    missing: Mapping[str, float], absent: Iterable[str], seconds: float
) -> dict[str, float]:
    """Return for how many seconds each absent tracker is missing, by `uniqueId`.

    `seconds` is how long the account was listed without them since the last time.
    """
    more = min(seconds, _LONGEST)
    return {
        unique_id: missing[unique_id] + more if unique_id in missing else 0.0
        for unique_id in absent
    }


def gone(missing: Mapping[str, float]) -> list[str]:
    """Return the trackers that are missing for so long that they are removed."""
    return [key for key, seconds in missing.items() if seconds >= _GONE_AFTER]
