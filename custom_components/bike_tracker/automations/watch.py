"""One trigger of one automation: what it has to tell of its trackers, and when."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
import json
from typing import Final

from ..account import Tracker
from ..coordinator import BikeTrackerCoordinator
from .kinds import AT_ONCE, Item, Kind
from .marks import Mark
from .targets import Target

type Tell = Callable[[BikeTrackerCoordinator, Tracker, Item], None]


class Watch:
    """Knows of each of its trackers how far it is.

    What was so already when a tracker came into the target is not told; its wait counts
    from then on.
    """

    def __init__(
        self,
        key: str,
        kind: Kind,
        target: Target,
        tell: Tell,
        *,
        wait: timedelta = AT_ONCE,
        names: list[str] | None = None,
    ) -> None:
        """Tell what is of one of these names, all if there are none."""
        known_by = [key, json.loads(target.key), wait.total_seconds()]
        self.key: Final = json.dumps(
            [*known_by, sorted(names)] if names else known_by, sort_keys=True
        )
        self.kind: Final = kind
        self.target: Final = target
        self.tell: Final = tell
        self.marks: dict[str, Mark] = {}
        """How far it is with each tracker of the target."""
        self.ends: dict[str, datetime] = {}
        """When it looks at trackers next, whatever is heard of them until then."""
        self._wait = wait
        self._names = names

    @property
    def waits(self) -> bool:
        """Return whether what is so is told only after a while."""
        return bool(self._wait) or self.kind.is_silence

    def join(self, unique_id: str, tracker: Tracker, now: datetime) -> None:
        """Begin to watch a tracker now.

        What happened before a clock was set back has a later number than now.
        """
        items = () if self.kind.is_silence else self._items(tracker)
        self.marks[unique_id] = Mark(max([now, *(item.at for item in items)]))

    def to_tell(
        self, unique_id: str, tracker: Tracker
    ) -> Iterator[tuple[datetime, Item]]:
        """Yield what there is to tell of a tracker, and when that is due."""
        mark = self.marks[unique_id]
        items = list(self._items(tracker))
        if self.kind.is_silence and not any(self._was_so(item, mark) for item in items):
            # From now on a report may be news however old it is.
            mark = self.marks[unique_id] = mark._replace(joined=None)
        for item in items:
            if self._is_chosen(item) and (due := self._due(item, mark)):
                yield due, item

    def _items(self, tracker: Tracker) -> Iterable[Item]:
        return self.kind.items(self.kind.reads(tracker))

    def _due(self, item: Item, mark: Mark) -> datetime | None:
        """Return when something is to be told, None if it is not."""
        if (mark.told and item.at <= mark.told) or (self._wait and item.is_over):
            return None
        if mark.joined and self._was_so(item, mark):
            return mark.joined + self._wait if self._wait else None
        return item.at + self._wait if item.is_change else None

    def _was_so(self, item: Item, mark: Mark) -> bool:
        """Return whether it was so already when the tracker came into the target."""
        so_at = item.at + self._wait if self.kind.is_silence else item.at
        return mark.joined is not None and so_at <= mark.joined

    def _is_chosen(self, item: Item) -> bool:
        return self._names is None or item.more.get("type") in self._names
