"""The account: lists and positions go in, what is different comes out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..api import ITEMS_AT_A_TIME, Device, News, Position, Steps, at_once
from .alarms import Alarm, alarm_after
from .coming_back import HeldBack
from .missing import counted, gone
from .positions import goes_back, is_outdated, taken
from .rides import NEW_TRACK, Track, ended, heard, recounted, silent_at
from .since import NEVER_HEARD, Since
from .tracker import Tracker, Trackers


@dataclass(slots=True)
class Remembered:
    """What outlives a restart, by `uniqueId`."""

    positions: dict[str, Position] = field(default_factory=dict)
    missing: dict[str, float] = field(default_factory=dict)
    """Seconds in which the account was listed without the tracker."""
    since: dict[str, Since] = field(default_factory=dict)
    alarms: dict[str, Alarm] = field(default_factory=dict)
    tracks: dict[str, Track] = field(default_factory=dict)


@dataclass(slots=True)
class _Reports:
    """What new positions say, by `uniqueId`."""

    newest: dict[str, Position] = field(default_factory=dict)
    alarms: dict[str, Alarm] = field(default_factory=dict)
    tracks: dict[str, Track] = field(default_factory=dict)
    """Of trackers that are shown where they are, and not where they were."""


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
        # When trackers under way count as fallen silent.
        self._silent_at = {
            unique_id: at
            for unique_id, track in remembered.tracks.items()
            if (at := silent_at(track))
        }
        # Positions that the first list announced and that did not come with it.
        self._late: Mapping[str, int | None] | None = None

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
        reports = yield from self._reported(devices, positions, now, came_back)
        newest, tracks = reports.newest, reports.tracks
        shown = {unique_id: newest[unique_id] for unique_id in tracks}
        # Who comes back may have gone on meanwhile: that is seen with the next poll.
        if not came_back:
            tracks |= self._fallen_silent(newest, now)
        touched = devices.since(self._devices) | newest.keys() | tracks.keys()
        changed: dict[str, Tracker] = {}
        for number, unique_id in enumerate(touched & devices.now.keys(), 1):
            tracker = self._tracker(
                devices.now[unique_id], shown, reports.alarms, tracks, now
            )
            if tracker is not self.trackers.get(unique_id):
                changed[unique_id] = tracker
            if number % ITEMS_AT_A_TIME == 0:
                yield
        for unique_id in newest.keys() - shown.keys():
            self._held_back.hold(unique_id, newest[unique_id])
        self.remembered.positions.update(shown)
        self.remembered.alarms.update(reports.alarms)
        self._outdated = {device.unique_id for device in self._listed_outdated(devices)}
        if self._late is None:
            self._late = {
                unique_id: devices.now[unique_id].position_id
                for unique_id in self._outdated
            }
        self._devices = devices.now
        gone = {key for key in touched if key not in devices.now} & self.trackers.keys()
        return self._become(changed, gone)

    def move(self, *, now: datetime) -> News[str, Tracker]:
        """Let trackers that came back move to where they are; return what is different."""
        moved = self._held_back.release()
        tracks = {key: self._heard(key, value, now) for key, value in moved.items()}
        self.remembered.positions.update(moved)
        changed = {
            unique_id: tracker
            for unique_id in moved.keys() & self.trackers.keys()
            if (
                tracker := self._tracker(
                    self._devices[unique_id], moved, {}, tracks, now
                )
            )
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
        if track := other.remembered.tracks.get(unique_id):
            self._remember(unique_id, recounted(track))
        if alarm := other.remembered.alarms.get(unique_id):
            self.remembered.alarms[unique_id] = replace(alarm, is_news=False)

    def forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed."""
        self.remembered.positions.pop(unique_id, None)
        self.remembered.missing.pop(unique_id, None)
        self.remembered.since.pop(unique_id, None)
        self.remembered.tracks.pop(unique_id, None)
        self._silent_at.pop(unique_id, None)
        self.remembered.alarms.pop(unique_id, None)
        self._held_back.forget(unique_id)

    def _reported(
        self,
        devices: News[str, Device],
        positions: Mapping[str, Position],
        now: datetime,
        came_back: bool,
    ) -> Steps[_Reports]:
        """Return what these positions say, in steps."""
        reports = _Reports()
        for unique_id, position in positions.items():
            known = self._newest(unique_id)
            if known and goes_back(devices.now.get(unique_id), known, position):
                continue
            newest = reports.newest[unique_id] = taken(known, position)
            if alarm := self._alarm(unique_id, newest):
                reports.alarms[unique_id] = alarm
            if not self._returns(unique_id, came_back):
                reports.tracks[unique_id] = self._heard(unique_id, newest, now)
            if len(reports.newest) % ITEMS_AT_A_TIME == 0:
                yield
        return reports

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

    def _fallen_silent(
        self, newest: Mapping[str, Position], now: datetime
    ) -> dict[str, Track]:
        """Return how far trackers came that fell silent under way."""
        tracks = self.remembered.tracks
        return {
            unique_id: ended(tracks[unique_id])
            for unique_id, at in self._silent_at.items()
            if at <= now
            and unique_id not in newest
            and unique_id not in self._held_back
        }

    def _heard(self, unique_id: str, position: Position, now: datetime) -> Track:
        """Return how far a tracker came that has this position now."""
        return heard(self.remembered.tracks.get(unique_id, NEW_TRACK), position, now)

    def _alarm(self, unique_id: str, position: Position) -> Alarm | None:
        """Return the last alarm of a tracker that has this position now."""
        before = self.remembered.alarms.get(unique_id)
        if position.alarm is None:
            return before
        is_news = self._late is not None and (
            unique_id in self.trackers or unique_id in self.remembered.positions
        )
        was_announced = self._late and self._late.get(unique_id) == position.id
        return alarm_after(before, position, is_news=is_news and not was_announced)

    def _tracker(
        self,
        device: Device,
        shown: Mapping[str, Position],
        alarms: Mapping[str, Alarm],
        tracks: Mapping[str, Track],
        now: datetime,
    ) -> Tracker:
        """Return a tracker with one of these positions, else where it is known to be.

        It is the known one if it is no other.
        """
        unique_id = device.unique_id
        position = shown.get(unique_id) or self.remembered.positions.get(unique_id)
        since = self.remembered.since.get(unique_id, NEVER_HEARD)
        alarm = alarms.get(unique_id) or self.remembered.alarms.get(unique_id)
        track = tracks.get(unique_id) or self.remembered.tracks.get(unique_id)
        tracker = Tracker(
            device, position, since.after(device, position, now), alarm, track
        )
        known = self.trackers.get(unique_id)
        return known if known == tracker else tracker

    def _become(
        self, changed: Mapping[str, Tracker], gone: AbstractSet[str]
    ) -> News[str, Tracker]:
        """Let these trackers be others, or be there no more."""
        before = self.trackers
        for unique_id, tracker in changed.items():
            self.remembered.since[unique_id] = tracker.since
            if tracker.track is not None:
                self._remember(unique_id, tracker.track)
        if changed or gone:
            trackers = {**before, **changed}
            for unique_id in gone:
                del trackers[unique_id]
            self.trackers = trackers
        return News(before, self.trackers, changed.keys() | gone)

    def _remember(self, unique_id: str, track: Track) -> None:
        self.remembered.tracks[unique_id] = track
        if at := silent_at(track):
            self._silent_at[unique_id] = at
        else:
            self._silent_at.pop(unique_id, None)


def _ambiguous_ids(
    devices: Mapping[str, Device], ids: Mapping[int, Device]
) -> list[int]:
    """Return those of the IDs that several devices have."""
    listed = [device.id for device in devices.values()]
    if len(set(listed)) == len(listed):
        return []
    found = Counter(listed)
    return [device_id for device_id in ids if found[device_id] > 1]
