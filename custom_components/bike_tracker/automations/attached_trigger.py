"""One trigger of one automation: how far it is with its trackers, and what it has to tell.

How far it is, is remembered over a restart. The account that has a tracker writes it
together with what it knows of the tracker: a kill in between could lose or double what
happens.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ..api.models import timestamp
from ..coordinator import BikeTrackerCoordinator
from ..tracking import Tracker, Trackers
from .kinds import Item, Kind

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


@dataclass(frozen=True, slots=True, eq=False)
class AttachedTrigger:
    """Knows of each of its trackers how far it is.

    What was so already when a tracker came into the target is not told; its wait counts
    from then on.
    """

    key: str
    """What it is remembered by; several may be alike."""
    kind: Kind
    target: str
    """What a person chose, as JSON."""
    tell: Callable[[BikeTrackerCoordinator, str, Item], None]
    wait: timedelta
    names: list[str] | None
    """It tells what is of one of these alone, all if there are none."""
    marks: dict[str, Mark] = field(default_factory=dict)
    """How far it is with each tracker of the target."""
    waits: dict[str, datetime] = field(default_factory=dict)
    """When it looks at trackers again; what ends later is found out by then."""

    def follow(
        self,
        unique_ids: frozenset[str],
        listed: Trackers,
        now: datetime,
        *,
        is_unsure: bool,
    ) -> None:
        """Follow these trackers from now on, and no others.

        What happens from now on has a later number than what there was, but not than now:
        a clock may be set back.
        """
        for unique_id in self.marks.keys() - unique_ids:
            del self.marks[unique_id]
        for unique_id in unique_ids - self.marks.keys():
            tracker = None if self.kind.is_silence else listed.get(unique_id)
            numbers = (
                [item.at for item in self.kind.items_of(tracker)] if tracker else []
            )
            if self.wait or tracker is None:
                numbers.append(now)
            joined = max(numbers, default=None)
            self.marks[unique_id] = Mark(joined, is_unsure=is_unsure)

    def recall(self, unique_ids: Collection[str], written: list[Any]) -> None:
        """Go on where it was with trackers of an account, as anybody may have written it."""
        unsure = [
            unique_id
            for unique_id, mark in self.marks.items()
            if mark.is_unsure and unique_id in unique_ids
        ]
        trackers = self._taken(written) if unsure else {}
        for unique_id in unsure:
            begun = self.marks[unique_id]._replace(is_unsure=False)
            self.marks[unique_id] = _read(trackers.get(unique_id, ()), begun)

    def _taken(self, written: list[Any]) -> dict[Any, Any]:
        """Take what this trigger wrote out of all that was: another one may be alike."""
        for item in written:
            match item:
                case {"trigger": self.key, "trackers": dict(trackers)}:
                    written.remove(item)
                    return trackers
        return {}

    def written(self, unique_ids: Collection[str]) -> dict[str, Any]:
        """Return what is remembered of these trackers over a restart.

        Runs beside the event loop, which may change marks meanwhile: hence the copy.
        """
        marks = dict(self.marks)
        return {name: marks[name][:2] for name in marks if name in unique_ids}

    def to_tell(
        self, unique_id: str, tracker: Tracker
    ) -> Iterator[tuple[datetime, Item]]:
        """Yield what there is to tell of a tracker, and when that is due."""
        mark, items = self.marks[unique_id], self.kind.items_of(tracker)
        if self.kind.is_silence and not any(self._was_so(item, mark) for item in items):
            # From now on a report may be news however old it is.
            mark = self.marks[unique_id] = mark._replace(joined=None)
        for item in items:
            is_chosen = self.names is None or item.more["type"] in self.names
            if is_chosen and (due := self._due(item, mark)):
                yield due, item

    def _due(self, item: Item, mark: Mark) -> datetime | None:
        """Return when something is to be told, None if it is not."""
        if (mark.told and item.at <= mark.told) or (self.wait and item.is_over):
            return None
        if mark.joined and self._was_so(item, mark):
            return mark.joined + self.wait if self.wait else None
        return item.at + self.wait if item.is_change else None

    def _was_so(self, item: Item, mark: Mark) -> bool:
        """Return whether it was so already when the tracker came into the target."""
        so_at = item.at + self.wait if self.kind.is_silence else item.at
        return mark.joined is not None and so_at <= mark.joined


def _read(written: object, otherwise: Mark) -> Mark:
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
