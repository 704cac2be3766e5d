"""The account: lists and positions go in, what is different comes out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..api import ITEMS_AT_A_TIME, Device, News, Position, Steps, at_once
from .coming_back import HeldBack
from .missing import counted, gone
from .positions import goes_back, is_outdated, taken
from .since import NEVER_HEARD, Since
from .tracker import Tracker, Trackers


@dataclass(slots=True)
class Remembered:
    """What outlives a restart, by `uniqueId`."""

    positions: dict[str, Position] = field(default_factory=dict)
    missing: dict[str, float] = field(default_factory=dict)
    """Seconds in which the account was listed without the tracker."""
    since: dict[str, Since] = field(default_factory=dict)


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
        now: datetime,
        came_back: bool = False,
    ) -> News[str, Tracker]:
        """Take in a device list, and positions by `uniqueId`; return what is different.

        A position that no server lists any more stays: the bike is where it was.
        """
        return at_once(self.taking(devices, positions, now=now, came_back=came_back))

    def taking(
        self,
        devices: News[str, Device],
        positions: Mapping[str, Position],
        *,
        now: datetime,
        came_back: bool = False,
    ) -> Steps[News[str, Tracker]]:
        """Do the same in steps: nothing is taken in before the last."""
        newest: dict[str, Position] = {}
        for unique_id, position in positions.items():
            known = self._newest(unique_id)
            if known and goes_back(devices.now.get(unique_id), known, position):
                continue
            newest[unique_id] = taken(known, position)
            if len(newest) % ITEMS_AT_A_TIME == 0:
                yield
        held_back = {
            unique_id for unique_id in newest if self._returns(unique_id, came_back)
        }
        shown = {key: value for key, value in newest.items() if key not in held_back}
        touched = devices.since(self._devices) | newest.keys()
        changed: dict[str, Tracker] = {}
        for number, unique_id in enumerate(touched & devices.now.keys(), 1):
            tracker = self._tracker(devices.now[unique_id], shown, now)
            if tracker is not self.trackers.get(unique_id):
                changed[unique_id] = tracker
            if number % ITEMS_AT_A_TIME == 0:
                yield
        for unique_id in held_back:
            self._held_back.hold(unique_id, newest[unique_id])
        self.remembered.positions.update(shown)
        self._outdated = {device.unique_id for device in self._listed_outdated(devices)}
        self._devices = devices.now
        gone = {key for key in touched if key not in devices.now} & self.trackers.keys()
        return self._become(changed, gone)

    def move(self, *, now: datetime) -> News[str, Tracker]:
        """Let trackers that came back move to where they are; return what is different."""
        moved = self._held_back.release()
        self.remembered.positions.update(moved)
        changed = {
            unique_id: tracker
            for unique_id in moved.keys() & self.trackers.keys()
            if (tracker := self._tracker(self._devices[unique_id], moved, now))
            is not self.trackers[unique_id]
        }
        return self._become(changed, frozenset())

    def count_missing(self, had: set[str], seconds: float) -> list[str]:
        """Count trackers among those it had that are not listed; return which are gone.

        `seconds` is how long the account was listed without them since the last time.
        """
        self.remembered.missing = counted(
            self.remembered.missing, had.difference(self.trackers), seconds
        )
        return gone(self.remembered.missing)

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

    def _returns(self, unique_id: str, came_back: bool) -> bool:
        """Return whether a tracker is to be shown first where it was."""
        return unique_id in self._held_back or (
            unique_id in self.remembered.positions
            and (came_back or unique_id not in self.trackers)
        )

    def _tracker(
        self, device: Device, shown: Mapping[str, Position], now: datetime
    ) -> Tracker:
        """Return a tracker with one of these positions, else where it is known to be.

        It is the known one if it is no other.
        """
        unique_id = device.unique_id
        position = shown.get(unique_id) or self.remembered.positions.get(unique_id)
        since = self.remembered.since.get(unique_id, NEVER_HEARD)
        tracker = Tracker(device, position, since.after(device, position, now))
        known = self.trackers.get(unique_id)
        return known if known == tracker else tracker

    def _become(
        self, changed: Mapping[str, Tracker], gone: AbstractSet[str]
    ) -> News[str, Tracker]:
        """Let these trackers be others, or be there no more."""
        before = self.trackers
        for unique_id, tracker in changed.items():
            self.remembered.since[unique_id] = tracker.since
        if changed or gone:
            trackers = {**before, **changed}
            for unique_id in gone:
                del trackers[unique_id]
            self.trackers = trackers
        return News(before, self.trackers, changed.keys() | gone)


def _ambiguous_ids(
    devices: Mapping[str, Device], ids: Mapping[int, Device]
) -> list[int]:
    """Return those of the IDs that several devices have."""
    listed = [device.id for device in devices.values()]
    if len(set(listed)) == len(listed):
        return []
    found = Counter(listed)
    return [device_id for device_id in ids if found[device_id] > 1]
