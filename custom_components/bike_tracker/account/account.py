"""The account: lists and positions go in, what is different comes out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter

from ..api import Device, News, Position
from .positions import is_outdated, taken
from .since import NEVER_HEARD, Since
from .tracker import Tracker, Trackers

_GONE_AFTER = 7 * 24 * 60 * 60


@dataclass(slots=True)
class Remembered:
    """What outlives a restart, by `uniqueId`."""

    positions: dict[str, Position] = field(default_factory=dict)
    missing: dict[str, float] = field(default_factory=dict)
    """Seconds in which the account was listed without the tracker."""
    since: dict[str, Since] = field(default_factory=dict)


class Account:
    """What is known of the trackers of one account.

    A tracker that comes back, or all of them after an outage or a restart, is first where
    it was, and moves when it is told to: Home Assistant's zone triggers ignore what
    changes from unavailable, so a ride away meanwhile would go unnoticed.
    """

    def __init__(self, remembered: Remembered) -> None:
        """Begin with what was remembered, and no tracker listed."""
        self.remembered = remembered
        self.trackers: Trackers = {}
        """The trackers that were listed last, and what is known of each."""
        self._devices: Mapping[str, Device] = {}
        # Where trackers are that are still shown where they were.
        self._held: dict[str, Position] = {}
        # Trackers that announced a position which is not the known one.
        self._outdated: AbstractSet[str] = frozenset()

    @property
    def holds_back(self) -> bool:
        """Return whether some trackers are still shown where they were."""
        return bool(self._held)

    def wanted(self, devices: News[str, Device]) -> dict[int, Device]:
        """Return the devices of a new list whose position has to be asked for.

        By their internal ID; one that several devices have leads to nobody's place.
        """
        wanted = {
            device.id: device
            for device in self._listed_outdated(devices)
            if device.id is not None
        }
        for device_id in _ambiguous_ids(devices.now, wanted) if wanted else ():
            del wanted[device_id]
        return wanted

    def take(
        self,
        devices: News[str, Device],
        positions: Mapping[str, Position],
        *,
        now: datetime,
        came_back: bool = False,
    ) -> News[str, Tracker]:
        """Take in a device list, and positions by `uniqueId`; return what is different.

        A position that no server lists any more stays: the bike is where it was.
        """
        known = self.remembered.positions
        for unique_id, position in positions.items():
            newest = taken(self._newest(unique_id), position)
            if (
                unique_id in known and (came_back or unique_id not in self.trackers)
            ) or unique_id in self._held:
                self._held[unique_id] = newest
            else:
                known[unique_id] = newest
        touched = devices.since(self._devices) | positions.keys()
        self._outdated = {device.unique_id for device in self._listed_outdated(devices)}
        self._devices = devices.now
        return self._update(touched, now)

    def move(self, *, now: datetime) -> News[str, Tracker]:
        """Let trackers that came back move to where they are; return what is different."""
        moved, self._held = self._held, {}
        self.remembered.positions.update(moved)
        return self._update(moved.keys(), now)

    def count_missing(self, had: set[str], seconds: float) -> list[str]:
        """Count trackers among those it had that are not listed; return which are gone.

        `seconds` is how long the account was listed without them since the last time.
        """
        missing = self.remembered.missing
        self.remembered.missing = {
            unique_id: missing[unique_id] + seconds if unique_id in missing else 0.0
            for unique_id in had.difference(self.trackers)
        }
        return [
            unique_id
            for unique_id, absent in self.remembered.missing.items()
            if absent >= _GONE_AFTER
        ]

    def adopt(self, unique_id: str, other: Account) -> None:
        """Take over what was known of a tracker from the account that had it.

        The ID of the position says nothing here: the other server may be another one.
        """
        if position := other.remembered.positions.get(unique_id):
            self.remembered.positions[unique_id] = replace(position, id=0)
        if since := other.remembered.since.get(unique_id):
            self.remembered.since[unique_id] = since

    def forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed."""
        self.remembered.positions.pop(unique_id, None)
        self.remembered.missing.pop(unique_id, None)
        self.remembered.since.pop(unique_id, None)
        self._held.pop(unique_id, None)

    def _newest(self, unique_id: str) -> Position | None:
        """Return the newest position that was taken in, shown or not."""
        return self._held.get(unique_id) or self.remembered.positions.get(unique_id)

    def _listed_outdated(self, devices: News[str, Device]) -> Iterable[Device]:
        """Yield the devices of a list whose known position is not the announced one."""
        for unique_id in devices.since(self._devices) | self._outdated:
            device = devices.now.get(unique_id)
            if device and is_outdated(device, self._newest(unique_id)):
                yield device

    def _update(self, touched: AbstractSet[str], now: datetime) -> News[str, Tracker]:
        """Put together what is known of the touched trackers."""
        before, known = self.trackers, self.remembered.positions
        said = self.remembered.since
        changed: dict[str, Tracker] = {}
        gone = touched & before.keys() - self._devices.keys()
        for unique_id in touched & self._devices.keys():
            device, position = self._devices[unique_id], known.get(unique_id)
            since = said.get(unique_id, NEVER_HEARD).after(device, position, now)
            said[unique_id] = since
            tracker = Tracker(device, position, since)
            if tracker != before.get(unique_id):
                changed[unique_id] = tracker
        if changed or gone:
            self.trackers = {**before, **changed}
            for unique_id in gone:
                del self.trackers[unique_id]
        return News(before, self.trackers, changed.keys() | gone)


def _ambiguous_ids(
    devices: Mapping[str, Device], ids: Mapping[int, Device]
) -> list[int]:
    """Return those of the IDs that several devices have."""
    found = Counter(map(attrgetter("id"), devices.values()))
    return [device_id for device_id in ids if found[device_id] > 1]
