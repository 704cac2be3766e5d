"""The account: lists, positions and messages go in, what is different comes out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..api import ITEMS_AT_A_TIME, Device, News, Position, Steps, at_once
from .alarms import Alarm, alarm_after
from .coming_back import HeldBack
from .messages import announcing, heard_of, is_older_device, is_older_position
from .missing import counted, gone
from .positions import goes_back, is_outdated, taken
from .rides import NEW_TRACK, RideNews, Track, ended, heard, recounted, silent_at
from .since import NEVER_HEARD, Since
from .tracker import RideEvent, Tracker, Trackers

# How far a tracker came, and what happened.
type _Way = tuple[Track, list[RideNews]]
_MOST_EVENTS = 10


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
    tracks: dict[str, _Way] = field(default_factory=dict)
    """Of trackers that are shown where they are, and not where they were."""


@dataclass(frozen=True, slots=True)
class _Changes:
    """What is different, and not taken in yet."""

    trackers: dict[str, Tracker]
    shown: dict[str, Position]
    reports: _Reports = field(default_factory=_Reports)


class Account:
    """What is known of the trackers of one account."""

    def __init__(self, remembered: Remembered) -> None:
        """Begin with what was remembered, which grows with what is taken in."""
        self.remembered = remembered
        self.trackers: Trackers = {}
        """The trackers that were listed last, and what is known of each."""
        self.messages = 0
        """How many messages were taken in: those that come after a poll began stay."""
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
        # The number of the message that told of a tracker's device last, and of its
        # position, if no poll did since.
        self._heard_device: dict[str, int] = {}
        self._heard_position: dict[str, int] = {}
        # Trackers by the internal ID of their device; None is to be found out anew.
        self._by_id: Mapping[int, str] | None = None

    @property
    def heard_since_poll(self) -> bool:
        """Return whether a message told of a tracker since the last poll began."""
        return bool(self._heard_device or self._heard_position)

    @property
    def holds_back(self) -> bool:
        """Return whether some trackers are still shown where they were."""
        return bool(self._held_back)

    def wanted(
        self, devices: News[str, Device], *, began: int | None = None
    ) -> dict[int, Device]:
        """Return the devices of a new list whose position has to be asked for.

        By their internal ID; one that several devices have leads to nobody's place.
        `began` is how many `messages` there were when the poll began.
        """
        return at_once(self.wanting(devices, began=began))

    def wanting(
        self, devices: News[str, Device], *, began: int | None = None
    ) -> Steps[dict[int, Device]]:
        """Do the same in steps."""
        outdated = yield from self._listed_outdated(devices, {})
        wanted = {
            device.id: device
            for device in outdated
            if device.id is not None and not self._knows_better(device, began)
        }
        for device_id in _ambiguous_ids(devices.now) & wanted.keys() if wanted else ():
            del wanted[device_id]
        return wanted

    def take(
        self,
        devices: News[str, Device],
        positions: Mapping[str, Position],
        *,
        now: datetime,
        came_back: bool = False,
        began: int | None = None,
    ) -> News[str, Tracker]:
        """Take in a device list, and positions by `uniqueId`; return what is different.

        A position that no server lists any more stays: the bike is where it was. What
        messages told since the poll `began` stays too, unless the list is newer.
        """
        return at_once(
            self.taking(devices, positions, now=now, came_back=came_back, began=began)
        )

    def taking(
        self,
        devices: News[str, Device],
        positions: Mapping[str, Position],
        *,
        now: datetime,
        came_back: bool = False,
        began: int | None = None,
    ) -> Steps[News[str, Tracker]]:
        """Do the same in steps: nothing is taken in before the last."""
        reports = _Reports()
        for number, (unique_id, position) in enumerate(positions.items(), 1):
            known = self._newest(unique_id)
            if not known or not (
                is_older_position(position, known)
                if _is_after(began, self._heard_position.get(unique_id))
                else goes_back(devices.now.get(unique_id), known, position)
            ):
                self._report(reports, unique_id, taken(known, position), now, came_back)
            if number % ITEMS_AT_A_TIME == 0:
                yield
        # Who comes back may have gone on meanwhile: that is seen with the next poll.
        silent = {} if came_back else self._fallen_silent(reports.newest, now)
        heard = self._heard_device.keys() | self._heard_position.keys()
        touched = devices.since(self._devices) | reports.newest.keys()
        touched |= silent.keys() | heard
        listed = {key: devices.now[key] for key in touched & devices.now.keys()}
        for unique_id in heard & listed.keys():
            listed[unique_id] = self._listed(listed[unique_id], began)
        changes = yield from self._changes(listed, reports, silent, now)
        outdated = yield from self._listed_outdated(devices, reports.newest)
        gone = {key for key in touched if key not in devices.now} & self.trackers.keys()
        news = self._become(changes, gone)
        self._outdated = {device.unique_id for device in outdated}
        if self._late is None:
            self._late = {
                unique_id: devices.now[unique_id].position_id
                for unique_id in self._outdated
            }
        self._heard_device = _since(began, self._heard_device)
        self._heard_position = _since(began, self._heard_position)
        self._devices = devices.now
        return news

    def hear(
        self,
        devices: Iterable[Device],
        positions: Iterable[Position],
        *,
        now: datetime,
        came_back: bool = False,
    ) -> News[str, Tracker]:
        """Take in what messages tell of listed trackers; return what is different.

        What is older than what is known changes nothing. The next poll may take it back.
        """
        return at_once(self.hearing(devices, positions, now=now, came_back=came_back))

    def hearing(
        self,
        devices: Iterable[Device],
        positions: Iterable[Position],
        *,
        now: datetime,
        came_back: bool = False,
    ) -> Steps[News[str, Tracker]]:
        """Do the same in steps: nothing is taken in before the last."""
        heard: dict[str, Device] = {}
        for number, device in enumerate(devices, 1):
            unique_id = device.unique_id
            known = heard.get(unique_id) or self._device(unique_id)
            if known and not is_older_device(device, known):
                heard[unique_id] = announcing(device, known.position_id)
            if number % ITEMS_AT_A_TIME == 0:
                yield
        touched, reports = dict(heard), _Reports()
        heard_positions: set[str] = set()
        for number, position in enumerate(positions, 1):
            unique_id = self._trackers_by_id().get(position.device_id, "")
            known_device = touched.get(unique_id) or self._device(unique_id)
            before = reports.newest.get(unique_id) or self._newest(unique_id)
            if known_device and not (before and is_older_position(position, before)):
                heard_positions.add(unique_id)
                touched[unique_id] = announcing(known_device, position.id)
                newest = heard_of(before, position)
                if newest is not before:
                    self._report(reports, unique_id, newest, now, came_back)
            if number % ITEMS_AT_A_TIME == 0:
                yield
        changes = yield from self._changes(touched, reports, {}, now)
        self.messages += 1
        self._heard_device.update(dict.fromkeys(heard, self.messages))
        self._heard_position.update(dict.fromkeys(heard_positions, self.messages))
        return self._become(changes, frozenset())

    def move(self, *, now: datetime) -> News[str, Tracker]:
        """Let trackers that came back move to where they are; return what is different."""
        moved = self._held_back.release()
        tracks = {key: self._heard(key, value, now) for key, value in moved.items()}
        changed = {
            unique_id: tracker
            for unique_id in moved.keys() & self.trackers.keys()
            if (
                tracker := self._tracker(
                    self.trackers[unique_id].device, moved, {}, tracks, now
                )
            )
            is not self.trackers[unique_id]
        }
        return self._become(_Changes(changed, moved), frozenset())

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
            self.remembered.positions[unique_id] = position._replace(id=0)
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
        self._heard_device.pop(unique_id, None)
        self._heard_position.pop(unique_id, None)

    def _report(
        self,
        reports: _Reports,
        unique_id: str,
        position: Position,
        now: datetime,
        came_back: bool,
    ) -> None:
        """Add to what new positions say."""
        reports.newest[unique_id] = position
        if position.alarm and (alarm := self._alarm(unique_id, position, reports)):
            reports.alarms[unique_id] = alarm
        if not self._held_back.is_to_hold(
            unique_id,
            was_somewhere=unique_id in self.remembered.positions,
            came_back=came_back or unique_id not in self.trackers,
        ):
            reports.tracks[unique_id] = self._heard(
                unique_id, position, now, reports.tracks.get(unique_id)
            )

    def _device(self, unique_id: str) -> Device | None:
        """Return what is known of the device of a listed tracker."""
        tracker = self.trackers.get(unique_id)
        return None if tracker is None else tracker.device

    def _newest(self, unique_id: str) -> Position | None:
        """Return the newest position that was taken in, shown or not."""
        return self._held_back.get(unique_id) or self.remembered.positions.get(
            unique_id
        )

    def _listed_outdated(
        self, devices: News[str, Device], newest: Mapping[str, Position]
    ) -> Steps[list[Device]]:
        """Return the devices of a list whose known position is not the announced one.

        `newest` are positions that are about to be taken in.
        """
        touched = devices.since(self._devices) | self._outdated
        touched |= self._heard_position.keys()
        outdated: list[Device] = []
        for number, unique_id in enumerate(touched, 1):
            device = devices.now.get(unique_id)
            known = newest.get(unique_id) or self._newest(unique_id)
            if device and is_outdated(device, known):
                outdated.append(device)
            if number % ITEMS_AT_A_TIME == 0:
                yield
        return outdated

    def _knows_better(self, device: Device, began: int | None) -> bool:
        """Return whether a message told of a newer position than a list announces."""
        known = self._device(device.unique_id)
        return (
            known is not None
            and _is_after(began, self._heard_position.get(device.unique_id))
            and announcing(device, known.position_id) is not device
        )

    def _listed(self, listed: Device, began: int | None) -> Device:
        """Return a listed device with what messages told of it since the poll began."""
        unique_id = listed.unique_id
        if (known := self._device(unique_id)) is None:
            return listed
        if _is_after(began, self._heard_device.get(unique_id)) and not is_older_device(
            known, listed
        ):
            return known
        if _is_after(began, self._heard_position.get(unique_id)):
            return announcing(listed, known.position_id)
        return listed

    def _trackers_by_id(self) -> Mapping[int, str]:
        """Return the listed trackers by the internal ID of their device.

        One that several devices have is nobody's.
        """
        if self._by_id is None:
            devices = {key: item.device for key, item in self.trackers.items()}
            ambiguous = _ambiguous_ids(devices)
            self._by_id = {
                device.id: unique_id
                for unique_id, device in devices.items()
                if device.id is not None and device.id not in ambiguous
            }
        return self._by_id

    def _changes(
        self,
        devices: Mapping[str, Device],
        reports: _Reports,
        silent: Mapping[str, _Way],
        now: datetime,
    ) -> Steps[_Changes]:
        """Return what is different with these devices, and with what was reported."""
        shown = {unique_id: reports.newest[unique_id] for unique_id in reports.tracks}
        tracks = {**reports.tracks, **silent}
        changed: dict[str, Tracker] = {}
        for number, (unique_id, device) in enumerate(devices.items(), 1):
            tracker = self._tracker(device, shown, reports.alarms, tracks, now)
            if tracker is not self.trackers.get(unique_id):
                changed[unique_id] = tracker
            if number % ITEMS_AT_A_TIME == 0:
                yield
        return _Changes(changed, shown, reports)

    def _fallen_silent(
        self, newest: Mapping[str, Position], now: datetime
    ) -> dict[str, _Way]:
        """Return how far trackers came that fell silent under way."""
        tracks = self.remembered.tracks
        return {
            unique_id: ended(tracks[unique_id])
            for unique_id, at in self._silent_at.items()
            if at <= now
            and unique_id not in newest
            and unique_id not in self._held_back
        }

    def _heard(
        self,
        unique_id: str,
        position: Position,
        now: datetime,
        way: _Way | None = None,
    ) -> _Way:
        """Return how far a tracker came that has this position now."""
        track, news = way or (self.remembered.tracks.get(unique_id, NEW_TRACK), [])
        track, more = heard(track, position, now)
        return track, news + more

    def _alarm(
        self, unique_id: str, position: Position, reports: _Reports
    ) -> Alarm | None:
        """Return the last alarm of a tracker that has this position now."""
        before = reports.alarms.get(unique_id) or self.remembered.alarms.get(unique_id)
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
        tracks: Mapping[str, _Way],
        now: datetime,
    ) -> Tracker:
        """Return a tracker with one of these positions, else where it is known to be.

        It is the known one if it is no other.
        """
        unique_id = device.unique_id
        position = shown.get(unique_id) or self.remembered.positions.get(unique_id)
        since = self.remembered.since.get(unique_id, NEVER_HEARD)
        alarm = alarms.get(unique_id) or self.remembered.alarms.get(unique_id)
        track, news = tracks.get(unique_id) or (
            self.remembered.tracks.get(unique_id),
            [],
        )
        known = self.trackers.get(unique_id)
        rides = (
            *(known.ride_events if known else ()),
            *(RideEvent(what, ride, now) for what, ride in news),
        )
        tracker = Tracker(
            device,
            position,
            since.after(device, position, now),
            alarm,
            track,
            rides[-_MOST_EVENTS:],
        )
        return known if known == tracker else tracker

    def _become(self, changes: _Changes, gone: AbstractSet[str]) -> News[str, Tracker]:
        """Take in what is different, and trackers that are there no more."""
        before, changed, newest = (
            self.trackers,
            changes.trackers,
            changes.reports.newest,
        )
        for unique_id in newest.keys() - changes.shown.keys():
            self._held_back.hold(unique_id, newest[unique_id])
        self.remembered.positions.update(changes.shown)
        self.remembered.alarms.update(changes.reports.alarms)
        for unique_id, tracker in changed.items():
            self.remembered.since[unique_id] = tracker.since
            if tracker.track is not None:
                self._remember(unique_id, tracker.track)
            known = before.get(unique_id)
            if known is None or known.device.id != tracker.device.id:
                self._by_id = None
        if gone:
            self._by_id = None
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


def _is_after(began: int | None, heard: int | None) -> bool:
    """Return whether something was heard after a poll began."""
    return began is not None and heard is not None and heard > began


def _since(began: int | None, heard: Mapping[str, int]) -> dict[str, int]:
    """Return what was heard after a poll began."""
    return {
        unique_id: number
        for unique_id, number in heard.items()
        if _is_after(began, number)
    }


def _ambiguous_ids(devices: Mapping[str, Device]) -> AbstractSet[int]:
    """Return the internal IDs that several devices have."""
    ids = [device.id for device in devices.values() if device.id is not None]
    if len(set(ids)) == len(ids):
        return frozenset()
    return {device_id for device_id, number in Counter(ids).items() if number > 1}
