"""How far triggers are with each tracker, remembered over a restart.

The account that has a tracker writes it together with what it knows of the tracker: a
kill in between could lose or double what happens.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ..api.models import timestamp

# Many began to watch at the same time.
_time: Final = lru_cache(timestamp)


class Mark(NamedTuple):
    """How far a trigger is with a tracker."""

    joined: datetime | None
    """When it began to watch: what was so already, or happened before, is not told.

    None if nothing was so when it began.
    """
    told: datetime | None = None
    """The number of what it told last."""
    is_unsure: bool = False
    """Whether there may be one that was written before a restart, to go on with."""
    waits_until: datetime | None = None
    """When it looks at the tracker again; what ends later is found out by then."""


def by_trigger(stored: Iterable[object]) -> defaultdict[str, list[dict[str, Any]]]:
    """Return what anybody may have written of triggers, by their keys.

    Several may be alike, of each there is what it wrote of trackers.
    """
    by_key: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in stored:
        match item:
            case {"trigger": str(key), "trackers": dict(trackers)}:
                by_key[key].append(trackers)
    return by_key


def read(written: object, otherwise: Mark) -> Mark:
    """Return what a mark was, the other one if that is not readable."""
    match written:
        case [(str() | None) as joined, (str() | None) as told]:
            return Mark(_time(joined), _time(told))
        # As 1.1 wrote them. Nothing was so, or it was told, or its wait began later.
        case None:
            return Mark(None)
        case {"since": str(since), "counts_from": None}:
            return Mark(None, _time(since))
        case {"since": _, "counts_from": str(counts_from)}:
            return Mark(_time(counts_from))
    return otherwise
