"""The account: lists and positions go in, what is different comes out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Set as AbstractSet
from dataclasses import dataclass, field, replace
from operator import attrgetter

from ..api import Device, News, Position
from .coming_back import HeldBack
from .missing import counted, gone
from .positions import is_outdated, taken
from .tracker import Tracker, Trackers


@dataclass(slots=True)
class Remembered:
    """What outlives a restart, by `uniqueId`."""

    positions: dict[str, Position] = field(default_factory=dict)
    missing: dict[str, float] = field(default_factory=dict)
    """Seconds in which the account was listed without the tracker."""


class Account:
    """What is known of the trackers of one account."""

    def __init__(self, remembered: Remembered) -> None:
        """Begin with what was remembered, which grows with what is taken in."""
        self.remembered = remembered
        self.trackers: Trackers = {}
        """The trackers that were listed last, and what is known of each."""
        self._devices: Mapping[str, Device] = {}
        self._held_back = HeldBack()
        # Trackers that announced a position which is not the known one.
        self._outdated: AbstractSet[str] = frozenset()

    @property
    def holds_back(self) -> bool:
        """Return whether some trackers are still shown where they were."""
        return bool(self._held_back)

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
        came_back: bool = False,
    ) -> News[str, Tracker]:
        """Take in a device list, and positions by `uniqueId`; return what is different.

        A position that no server lists any more stays: the bike is where it was.
        """
        known = self.remembered.positions
        for unique_id, position in positions.items():
            newest = taken(self._newest(unique_id), position)
            returns = came_back or unique_id not in self.trackers
            if unique_id in self._held_back or (returns and unique_id in known):
                self._held_back.hold(unique_id, newest)
            else:
                known[unique_id] = newest
        touched = devices.since(self._devices) | positions.keys()
        self._outdated = {device.unique_id for device in self._listed_outdated(devices)}
        self._devices = devices.now
        return self._update(touched)

    def move(self) -> News[str, Tracker]:
        """Let trackers that came back move to where they are; return what is different."""
        moved = self._held_back.release()
        self.remembered.positions.update(moved)
        return self._update(moved.keys())

    def count_missing(self, had: set[str], seconds: float) -> list[str]:
        """Count trackers among those it had that are not listed; return which are gone.

        `seconds` is how long the account was listed without them since the last time.
        """
        self.remembered.missing = counted(
            self.remembered.missing, had.difference(self.trackers), seconds
        )
        return gone(self.remembered.missing)

    def adopt(self, unique_id: str, other: Account) -> None:
        """Take over where a tracker was from the account that had it.

        The ID of the position says nothing here: the other server may be another one.
        """
        if position := other.remembered.positions.get(unique_id):
            self.remembered.positions[unique_id] = replace(position, id=0)

    def forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed."""
        self.remembered.positions.pop(unique_id, None)
        self.remembered.missing.pop(unique_id, None)
        self._held_back.forget(unique_id)

    def _newest(self, unique_id: str) -> Position | None:
        """Return the newest position that was taken in, shown or not."""
        return self._held_back.get(unique_id) or self.remembered.positions.get(
            unique_id
        )

    def _listed_outdated(self, devices: News[str, Device]) -> Iterable[Device]:
        """Yield the devices of a list whose known position is not the announced one."""
        for unique_id in devices.since(self._devices) | self._outdated:
            device = devices.now.get(unique_id)
            if device and is_outdated(device, self._newest(unique_id)):
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
