"""The account: lists and positions go in, what is different comes out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Set as AbstractSet
from dataclasses import dataclass, field
from operator import attrgetter

from ..api import Device, News, Position
from . import positions as rules
from .tracker import Tracker, Trackers

_GONE_AFTER = 24 * 60 * 60


@dataclass(slots=True)
class Remembered:
    """What outlives a restart, by `uniqueId`."""

    positions: dict[str, Position] = field(default_factory=dict)
    missing: dict[str, float] = field(default_factory=dict)
    """Seconds in which the account was listed without the tracker."""


class Account:
    """What is known of the trackers of one account."""

    def __init__(self, remembered: Remembered) -> None:
        """Begin with what was remembered, and no tracker listed."""
        self.remembered = remembered
        self.trackers: Trackers = {}
        """The trackers that were listed last, and what is known of each."""
        self._devices: Mapping[str, Device] = {}
        # Trackers that announced a position which is not the known one.
        self._outdated: AbstractSet[str] = frozenset()

    def wanted(
        self, devices: News[str, Device], *, came_back: bool
    ) -> dict[int, Device]:
        """Return the devices of a new list whose position has to be asked for.

        By their internal ID; one that several devices have leads to nobody's place.

        A tracker that comes back, or all of them after an outage or a restart, is first
        where it was and moves later: Home Assistant's zone triggers ignore what changes
        from unavailable, so a ride away meanwhile would go unnoticed.
        """
        movable = frozenset() if came_back else self.trackers.keys()
        known = self.remembered.positions
        wanted = {
            device.id: device
            for device in self._listed_outdated(devices)
            if device.id is not None
            and (device.unique_id in movable or device.unique_id not in known)
        }
        for device_id in _ambiguous_ids(devices.now, wanted) if wanted else ():
            del wanted[device_id]
        return wanted

    def take(
        self, devices: News[str, Device], positions: Mapping[str, Position]
    ) -> News[str, Tracker]:
        """Take in a device list, and positions by `uniqueId`; return what is different.

        A position that no server lists any more stays: the bike is where it was.
        """
        known = self.remembered.positions
        for unique_id, position in positions.items():
            known[unique_id] = rules.taken(known.get(unique_id), position)
        touched = devices.since(self._devices) | positions.keys()
        self._outdated = {device.unique_id for device in self._listed_outdated(devices)}
        self._devices = devices.now
        return self._update(touched)

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

    def forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed."""
        self.remembered.positions.pop(unique_id, None)
        self.remembered.missing.pop(unique_id, None)

    def _listed_outdated(self, devices: News[str, Device]) -> Iterable[Device]:
        """Yield the devices of a list whose known position is not the announced one."""
        known = self.remembered.positions
        for unique_id in devices.since(self._devices) | self._outdated:
            device = devices.now.get(unique_id)
            if device and rules.is_outdated(device, known.get(unique_id)):
                yield device

    def _update(self, touched: AbstractSet[str]) -> News[str, Tracker]:
        """Put together what is known of the touched trackers."""
        before, known = self.trackers, self.remembered.positions
        changed: dict[str, Tracker] = {}
        gone = touched & before.keys() - self._devices.keys()
        for unique_id in touched & self._devices.keys():
            tracker = Tracker(self._devices[unique_id], known.get(unique_id))
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
