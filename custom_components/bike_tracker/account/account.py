"""The account: lists, positions and messages go in, what is different comes out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from ..api import Device, News, Position
from .checkpoint import Gap
from .happened import Moment
from .history import Past
from .messages import announcing, in_order, is_older_device, is_older_position
from .missing import counted, gone
from .positions import goes_back, is_outdated
from .story import NEW_STORY, Story
from .tracker import Tracker, Trackers


@dataclass(slots=True)
class Remembered:
    """What outlives a restart, by `uniqueId`."""

    stories: dict[str, Story] = field(default_factory=dict)
    missing: dict[str, float] = field(default_factory=dict)
    """Seconds in which the account was listed without the tracker."""
    told: dict[str, dict[str, datetime]] = field(default_factory=dict)
    """The number of what each event entity told last, by its key."""


class Began(NamedTuple):
    """What was known when a poll began: later messages are newer than its answer."""

    at: datetime
    """By the clock, in UTC."""
    messages: int
    heard: bool
    """Whether a message told of a tracker since the poll before."""


class _Heard(NamedTuple):
    """The numbers of the messages that told of a tracker last."""

    device: int = 0
    position: int = 0


_UNHEARD = _Heard()


class Account:
    """What is known of the trackers of one account."""

    def __init__(self, remembered: Remembered) -> None:
        """Begin with what was remembered, which grows with what is taken in."""
        self.remembered = remembered
        self.trackers: Trackers = {}
        """The trackers that were listed last, and what is known of each."""
        self.asked_at: datetime | None = None
        """When the poll was begun whose answer is known, in UTC."""
        self._messages = 0
        self._devices: Mapping[str, Device] = {}
        # Trackers that announced a position which is not the known one.
        self._outdated: AbstractSet[str] = frozenset()
        # Trackers under way, and those of which something lacks or waits.
        self._pending = {
            unique_id
            for unique_id, story in remembered.stories.items()
            if story.is_pending
        }
        # Trackers of which messages told since the last poll began.
        self._heard: Mapping[str, _Heard] = {}
        # Trackers by the internal ID of their device; None is to be found out anew.
        self._by_id: Mapping[int, str] | None = None

    def begin_poll(self, now: datetime) -> Began:
        """Return what messages told by now: those that come later stay."""
        return Began(now, self._messages, bool(self._heard))

    def wanted(
        self, devices: News[str, Device], *, began: Began | None = None
    ) -> dict[int, Device]:
        """Return the devices of a new list whose position has to be asked for.

        By their internal ID; one that several devices have leads to nobody's place.
        """
        wanted = {
            device.id: device
            for device in self._listed_outdated(devices)
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
        has_history: bool = False,
        began: Began | None = None,
    ) -> News[str, Tracker]:
        """Take in a device list, and positions by `uniqueId`; return what is different.

        A position that no server lists any more stays: the bike is where it was. What
        messages told since the poll `began` stays too, unless the list is newer.
        `came_back` is whether the trackers were unavailable until now, `has_history`
        whether the service may tell what it knows of the time before.
        """
        moment = Moment(now, came_back, has_history=has_history)
        # Who comes back may have gone on meanwhile: that is seen with the next poll.
        due = set() if came_back else self._due(now) - positions.keys()
        touched = devices.since(self._devices) | positions.keys() | due
        touched |= self._heard.keys()
        changed: dict[str, Tracker] = {}
        for unique_id in touched & devices.now.keys():
            device, story = devices.now[unique_id], self._story(unique_id)
            heard = self._heard_since(began, unique_id)
            if position := positions.get(unique_id):
                story = self._after_poll(device, story, position, heard, moment)
            elif unique_id in due:
                story = story.after_time(moment)
            self._note(changed, self._listed(device, heard), story, now)
        left = {key for key in touched if key not in devices.now}
        news = self._become(changed, left & self.trackers.keys())
        self._outdated = {item.unique_id for item in self._listed_outdated(devices)}
        self._heard = {
            unique_id: heard
            for unique_id in self._heard
            if any(heard := self._heard_since(began, unique_id))
        }
        self._devices = devices.now
        self.asked_at = began.at if began else now
        return news

    def hear(
        self,
        devices: Iterable[Device],
        positions: Iterable[Position],
        *,
        now: datetime,
        came_back: bool = False,
        is_whole: bool = False,
        has_history: bool = False,
    ) -> News[str, Tracker]:
        """Take in what messages tell of listed trackers; return what is different.

        Each report counts as if it had come alone. What is older than what is known
        changes nothing, but that its alarms are told. The next poll may take it back.
        `is_whole` is whether messages told all since the last poll began.
        """
        self._messages += 1
        moment = Moment(now, came_back, is_whole, has_history)
        newer = self._newer_devices(devices)
        reports = self._by_tracker(positions)
        changed: dict[str, Tracker] = {}
        heard = dict(self._heard)
        for unique_id in newer.keys() | reports.keys():
            device = newer.get(unique_id) or self.trackers[unique_id].device
            after, is_newer = self._after_messages(
                device, reports.get(unique_id, ()), moment
            )
            numbers = heard.get(unique_id, _UNHEARD)
            if unique_id in newer:
                numbers = numbers._replace(device=self._messages)
            if is_newer:
                numbers = numbers._replace(position=self._messages)
            if any(numbers):
                heard[unique_id] = numbers
            self._note(changed, after.device, after.story, now)
        self._heard = heard
        return self._become(changed, frozenset())

    def take_past(
        self, unique_id: str, past: Past, *, now: datetime, came_back: bool = False
    ) -> News[str, Tracker]:
        """Take in what the service tells of a gap; return what is different."""
        changed: dict[str, Tracker] = {}
        if tracker := self.trackers.get(unique_id):
            moment = Moment(now, came_back, has_history=True)
            story = tracker.story.with_past(past, moment)
            device = announcing(tracker.device, story.position and story.position.id)
            self._note(changed, device, story, now)
        return self._become(changed, frozenset())

    def after_time(
        self, *, now: datetime, came_back: bool = False, has_history: bool = False
    ) -> News[str, Tracker]:
        """Let what is told by the clock alone be told; return what is different."""
        moment, changed = (
            Moment(now, came_back, has_history=has_history),
            dict[str, Tracker](),
        )
        for unique_id in self._due(now) & self.trackers.keys():
            device, story = self.trackers[unique_id]
            self._note(changed, device, story.after_time(moment), now)
        return self._become(changed, frozenset())

    def wait_no_more(self, now: datetime) -> News[str, Tracker]:
        """Tell what waits for the history; return what is different.

        What lacks is to be asked for as before.
        """
        changed = dict[str, Tracker]()
        for unique_id in self._pending & self.trackers.keys():
            device, story = self.trackers[unique_id]
            self._note(changed, device, story.wait_no_more(Moment(now)), now)
        return self._become(changed, frozenset())

    @property
    def gaps(self) -> dict[str, Gap]:
        """Return what is to be asked for of the service's history, by `uniqueId`."""
        return {
            unique_id: gap
            for unique_id in self._pending & self.trackers.keys()
            if (gap := self._story(unique_id).gap)
        }

    @property
    def waits_until(self) -> datetime | None:
        """Return when something is told that waits for the history, None if nothing is."""
        waits = (self._story(unique_id).waits_until for unique_id in self._pending)
        return min((at for at in waits if at), default=None)

    def move(self) -> News[str, Tracker]:
        """Let trackers that came back move to where they are; return what is different."""
        moved = {
            unique_id: tracker._replace(story=tracker.story._replace(shown=None))
            for unique_id, tracker in self.trackers.items()
            if tracker.story.shown
        }
        return self._become(moved, frozenset())

    def arm(self, unique_id: str, now: datetime) -> News[str, Tracker] | None:
        """Guard a listed tracker where it is; return what is different.

        None if it never had a place.
        """
        story = self._story(unique_id).armed(now, self.told(unique_id, "guard"))
        return story and self._tell_story(unique_id, story)

    def disarm(self, unique_id: str) -> News[str, Tracker]:
        """Guard a listed tracker no more; return what is different."""
        return self._tell_story(unique_id, self._story(unique_id)._replace(guard=None))

    def count_missing(self, had: set[str], seconds: float) -> list[str]:
        """Count trackers among those it had that are not listed; return which are gone.

        `seconds` is how long the account was listed without them since the last time.
        """
        absent = had.difference(self.trackers)
        self.remembered.missing = counted(self.remembered.missing, absent, seconds)
        return gone(self.remembered.missing)

    def adopt(self, unique_id: str, other: Account) -> None:
        """Take over what was known of a tracker from the account that had it."""
        if story := other.remembered.stories.get(unique_id):
            self._remember(unique_id, story.adopted())
        if told := other.remembered.told.get(unique_id):
            self.remembered.told[unique_id] = dict(told)

    def forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed."""
        known = self.remembered
        for items in (known.stories, known.missing, known.told):
            items.pop(unique_id, None)
        self._pending.discard(unique_id)
        self._heard = {
            key: self._heard[key] for key in self._heard.keys() - {unique_id}
        }

    def told(self, unique_id: str, key: str) -> datetime | None:
        """Return the number of what an event entity of a tracker told last."""
        return self.remembered.told.get(unique_id, {}).get(key)

    def note_told(self, unique_id: str, key: str, heard_at: datetime) -> None:
        """Take in what an event entity of a tracker told last."""
        self.remembered.told.setdefault(unique_id, {})[key] = heard_at

    def _tell_story(self, unique_id: str, story: Story) -> News[str, Tracker]:
        tracker = self.trackers[unique_id]._replace(story=story)
        return self._become({unique_id: tracker}, frozenset())

    def _story(self, unique_id: str) -> Story:
        return self.remembered.stories.get(unique_id, NEW_STORY)

    def _device(self, unique_id: str) -> Device | None:
        """Return what is known of the device of a listed tracker."""
        tracker = self.trackers.get(unique_id)
        return None if tracker is None else tracker.device

    def _heard_since(self, began: Began | None, unique_id: str) -> _Heard:
        """Return the numbers of messages that told of a tracker since a poll began."""
        heard = self._heard.get(unique_id)
        if began is None or heard is None:
            return _UNHEARD
        return _Heard(*(number if number > began.messages else 0 for number in heard))

    def _after_poll(
        self,
        device: Device,
        story: Story,
        position: Position,
        heard: _Heard,
        moment: Moment,
    ) -> Story:
        """Return the story after what a poll found, unless that is an older report."""
        if (known := story.position) and (
            is_older_position(position, known)
            if heard.position
            else goes_back(device, known, position)
        ):
            return story.with_alarms(position, moment.now, untold=moment.comes_back)
        return self._after_report(device, story, position, moment)

    def _after_messages(
        self, device: Device, reports: Sequence[Position], moment: Moment
    ) -> tuple[Tracker, bool]:
        """Return a tracker after what messages told, and whether any report was newer."""
        story, is_newer = self._story(device.unique_id), False
        for position in in_order(reports):
            if (known := story.position) and is_older_position(position, known):
                story = story.with_alarms(
                    position, moment.now, untold=moment.comes_back
                )
                continue
            is_newer = True
            if known is None or known.id != position.id:
                story = self._after_report(device, story, position, moment)
            device = announcing(device, position.id)
        return Tracker(device, story), is_newer

    def _after_report(
        self, device: Device, story: Story, position: Position, moment: Moment
    ) -> Story:
        """Return the story after the newest report of a tracker."""
        is_new = device.unique_id not in self.remembered.stories
        if device.unique_id not in self.trackers:
            moment = moment._replace(comes_back=True)
        is_news = not is_new and story.there_already != position.id
        return story.with_report(position, moment, is_news=is_news)

    def _listed_outdated(self, devices: News[str, Device]) -> list[Device]:
        """Return the devices of a list whose known position is not the announced one."""
        touched = devices.since(self._devices) | self._outdated | self._heard.keys()
        return [
            device
            for unique_id in touched
            if (device := devices.now.get(unique_id))
            and is_outdated(device, self._story(unique_id).position)
        ]

    def _knows_better(self, device: Device, began: Began | None) -> bool:
        """Return whether a message told of a newer position than a list announces."""
        known = self._device(device.unique_id)
        return (
            known is not None
            and self._heard_since(began, device.unique_id).position > 0
            and announcing(device, known.position_id) is not device
        )

    def _listed(self, listed: Device, heard: _Heard) -> Device:
        """Return a listed device with what messages told of it since the poll began."""
        if not any(heard) or (known := self._device(listed.unique_id)) is None:
            return listed
        if heard.device and not is_older_device(known, listed):
            return known
        return announcing(listed, known.position_id) if heard.position else listed

    def _newer_devices(self, devices: Iterable[Device]) -> dict[str, Device]:
        """Return the listed devices that messages tell of, unless what is known is newer."""
        newer: dict[str, Device] = {}
        for device in devices:
            known = newer.get(device.unique_id) or self._device(device.unique_id)
            if known and not is_older_device(device, known):
                newer[device.unique_id] = announcing(device, known.position_id)
        return newer

    def _by_tracker(self, positions: Iterable[Position]) -> dict[str, list[Position]]:
        """Return the positions of each listed tracker."""
        by_tracker = defaultdict[str, list[Position]](list)
        by_id = self._trackers_by_id()
        for position in positions:
            if unique_id := by_id.get(position.device_id):
                by_tracker[unique_id].append(position)
        return by_tracker

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

    def _due(self, now: datetime) -> set[str]:
        """Return the trackers of which something is told by the clock alone."""
        return {
            unique_id
            for unique_id in self._pending
            if (at := self._story(unique_id).changes_at) and at <= now
        }

    def _note(
        self, changed: dict[str, Tracker], device: Device, story: Story, now: datetime
    ) -> None:
        """Note what is to be known of a listed tracker, if it is anything else."""
        unique_id = device.unique_id
        if unique_id not in self.remembered.stories:
            story = story._replace(there_already=device.position_id)
        tracker = Tracker(device, story.with_status(device.status, now))
        if tracker != self.trackers.get(unique_id):
            changed[unique_id] = tracker

    def _become(
        self, changed: dict[str, Tracker], left: AbstractSet[str]
    ) -> News[str, Tracker]:
        """Take in what is different, and which trackers are listed no more."""
        before = self.trackers
        for unique_id, tracker in changed.items():
            self._remember(unique_id, tracker.story)
            known = before.get(unique_id)
            if known is None or known.device.id != tracker.device.id:
                self._by_id = None
        if left:
            self._by_id = None
        if changed or left:
            trackers = {**before, **changed}
            for unique_id in left:
                del trackers[unique_id]
            self.trackers = trackers
        return News(before, self.trackers, changed.keys() | left)

    def _remember(self, unique_id: str, story: Story) -> None:
        self.remembered.stories[unique_id] = story
        if story.is_pending:
            self._pending.add(unique_id)
        else:
            self._pending.discard(unique_id)


def _ambiguous_ids(devices: Mapping[str, Device]) -> AbstractSet[int]:
    """Return the internal IDs that several devices have."""
    ids = [device.id for device in devices.values() if device.id is not None]
    if len(set(ids)) == len(ids):
        return frozenset()
    return {device_id for device_id, number in Counter(ids).items() if number > 1}
