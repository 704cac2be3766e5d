"""The account: lists, positions and messages go in, what is different comes out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from ..api import Changes, Device, Position
from .checkpoint import HistoryGap
from .history import HistoryAnswer
from .occurrences import Moment
from .reports import (
    announcing,
    goes_back,
    in_order,
    is_older_device,
    is_older_position,
    is_outdated,
)
from .story import NEW_STORY, Story
from .tracker import Tracker, Trackers


@dataclass(slots=True)
class Remembered:
    """What outlives a restart, by `uniqueId`."""

    stories: dict[str, Story] = field(default_factory=dict)
    told: dict[str, dict[str, datetime]] = field(default_factory=dict)
    """The number of what each event entity told last, by its key."""


class Began(NamedTuple):
    """What was known when a poll began: what messages tell later is newer."""

    at: datetime
    """By the clock, in UTC."""
    trackers: Trackers


@dataclass(frozen=True)
class _Listed:
    """The last list, and what was known after it."""

    devices: Mapping[str, Device] = field(default_factory=dict)
    by_id: Mapping[int | None, str] = field(default_factory=dict)
    """The trackers by internal ID; one that several devices have is nobody's."""
    trackers: Trackers = field(default_factory=dict)
    again: AbstractSet[str] = frozenset()
    """Trackers to look at anew, whatever the next list says of them."""


class Account:
    """What is known of the trackers of one account."""

    def __init__(self, remembered: Remembered) -> None:
        """Begin with what was remembered, which grows with what is taken in."""
        self.remembered = remembered
        self.trackers: Trackers = {}
        """The trackers that were listed last, and what is known of each."""
        self.asked_at: datetime | None = None
        """When the poll was begun whose answer is known, in UTC."""
        self._listed = _Listed()
        # Trackers under way, and those of which reports may be missing.
        self._pending = {
            unique_id
            for unique_id, story in remembered.stories.items()
            if story.is_pending
        }

    def begin_poll(self, now: datetime) -> Began:
        """Return what is known by now: what messages tell later stays."""
        return Began(now, self.trackers)

    def wanted(
        self, devices: Changes[str, Device], began: Began | None = None
    ) -> dict[int, Device]:
        """Return the devices of a new list whose position has to be asked for.

        By their internal ID; one that several devices have leads to nobody's place.
        """
        wanted = {
            device.id: device
            for unique_id in self._touched(devices)
            if (device := devices.after.get(unique_id))
            and device.id is not None
            and is_outdated(device, self._story(unique_id).position)
            and not self._knows_better(device, began)
        }
        by_id = _by_id(devices.after) if wanted else {}
        return {key: wanted[key] for key in wanted if key in by_id}

    def take(
        self,
        devices: Changes[str, Device],
        positions: Mapping[str, Position],
        moment: Moment,
        began: Began | None = None,
    ) -> Changes[str, Tracker]:
        """Take in a device list, and positions by `uniqueId`; return what is different.

        A position that no server lists any more stays: the bike is where it was. What
        messages told since the poll `began` stays too, unless the list is newer.
        """
        # Who comes back may have gone on meanwhile: that is seen with the next poll.
        due = set() if moment.came_back else self._due(moment.now) - positions.keys()
        touched = self._touched(devices) | positions.keys() | due
        changed, again = dict[str, Tracker](), set[str]()
        for unique_id in touched & devices.after.keys():
            listed, story = devices.after[unique_id], self._story(unique_id)
            device, told = self._told_since(began, unique_id)
            if position := positions.get(unique_id):
                is_older = (known := story.position) and (
                    is_older_position(position, known)
                    if told
                    else goes_back(listed, known, position)
                )
                story = self._after(
                    listed,
                    story,
                    position,
                    moment,
                    is_older=is_older,
                    received_at=listed.last_update,
                )
            elif unique_id in due:
                story = story.after_time(moment)
            if device or told or is_outdated(listed, story.position):
                again.add(unique_id)
            if device is None or is_older_device(device, listed):
                device = announcing(listed, told and told.id)
            self._note(changed, device, story, moment)
        left = {
            key for key in self.trackers.keys() & touched if key not in devices.after
        }
        changes = self._become(changed, left)
        by_id = self._listed_by_id(devices)
        self._listed = _Listed(devices.after, by_id, self.trackers, again)
        self.asked_at = began.at if began else moment.now
        return changes

    def hear(
        self,
        devices: Iterable[Device],
        positions: Iterable[Position],
        moment: Moment,
    ) -> Changes[str, Tracker]:
        """Take in what messages tell of listed trackers; return what is different.

        Each report counts as if it had come alone. What is older than what is known
        changes nothing, but that its alarms are told. The next poll may take it back.
        """
        newer, reports = self._newer(devices), defaultdict[str, list[Position]](list)
        for position in positions:
            if unique_id := self._listed.by_id.get(position.device_id):
                reports[unique_id].append(position)
        changed: dict[str, Tracker] = {}
        for unique_id in newer.keys() | reports.keys():
            device = newer.get(unique_id) or self.trackers[unique_id].device
            after = self._after_messages(device, reports.get(unique_id, ()), moment)
            self._note(changed, *after, moment)
        return self._become(changed)

    def apply_history(
        self, unique_id: str, answer: HistoryAnswer, moment: Moment
    ) -> Changes[str, Tracker]:
        """Apply what the service's history has of a gap."""
        changed: dict[str, Tracker] = {}
        if tracker := self.trackers.get(unique_id):
            story = tracker.story.with_history(answer, moment)
            device = announcing(tracker.device, story.position and story.position.id)
            self._note(changed, device, story, moment)
        return self._become(changed)

    @property
    def gaps(self) -> dict[str, HistoryGap]:
        """Return what is to be asked for of the service's history, by `uniqueId`."""
        return {
            unique_id: gap
            for unique_id in self._pending & self.trackers.keys()
            if (gap := self._story(unique_id).gap)
        }

    def arm(
        self, unique_id: str, now: datetime, changed_by: str | None = None
    ) -> Changes[str, Tracker] | None:
        """Guard a listed tracker; return what is different, None if it has no place."""
        last_fired = self.told(unique_id, "guard")
        story = self._story(unique_id).armed(now, last_fired, changed_by)
        return story and self._tell_story(unique_id, story)

    def disarm(
        self, unique_id: str, changed_by: str | None = None
    ) -> Changes[str, Tracker]:
        """Guard a listed tracker no more; return what is different."""
        story = self._story(unique_id)._replace(guard=None, changed_by=changed_by)
        return self._tell_story(unique_id, story)

    def forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed."""
        self.remembered.stories.pop(unique_id, None)
        self.remembered.told.pop(unique_id, None)
        self._pending.discard(unique_id)

    def told(self, unique_id: str, key: str) -> datetime | None:
        """Return the number of what an event entity of a tracker told last."""
        return self.remembered.told.get(unique_id, {}).get(key)

    def note_told(self, unique_id: str, key: str, heard_at: datetime) -> None:
        """Take in what an event entity of a tracker told last."""
        self.remembered.told.setdefault(unique_id, {})[key] = heard_at

    def _tell_story(self, unique_id: str, story: Story) -> Changes[str, Tracker]:
        tracker = self.trackers[unique_id]._replace(story=story)
        return self._become({unique_id: tracker})

    def _story(self, unique_id: str) -> Story:
        return self.remembered.stories.get(unique_id, NEW_STORY)

    def _touched(self, devices: Changes[str, Device]) -> AbstractSet[str]:
        """Return the trackers that a new list may find otherwise than they are known."""
        touched = devices.changed_since(self._listed.devices) | self._listed.again
        if self.trackers is not (known := self._listed.trackers):
            # What messages told since: all else was listed so.
            touched |= {
                key for key, item in self.trackers.items() if item is not known[key]
            }
        return touched

    def _listed_by_id(self, devices: Changes[str, Device]) -> Mapping[int | None, str]:
        """Return the trackers of a new list by internal ID, which hardly ever changes."""
        before, now = self._listed.devices, devices.after
        touched = devices.changed_since(before)
        are_known = before.keys() >= touched and now.keys() >= touched
        if are_known and all(before[key].id == now[key].id for key in touched):
            return self._listed.by_id
        return _by_id(now)

    def _told_since(
        self, began: Began | None, unique_id: str
    ) -> tuple[Device | None, Position | None]:
        """Return what messages told of a tracker since a poll began."""
        before = began and began.trackers.get(unique_id)
        now = self.trackers.get(unique_id)
        if before is None or now is None or before is now:
            return None, None
        # A position makes it announce another one, and says nothing else of it.
        device = now.device._replace(position_id=before.device.position_id)
        return (
            None if device == before.device else now.device,
            None if now.position is before.position else now.position,
        )

    def _knows_better(self, device: Device, began: Began | None) -> bool:
        """Return whether a message told of a newer position than a list announces."""
        _, told = self._told_since(began, device.unique_id)
        return announcing(device, told and told.id) is not device

    def _after_messages(
        self, device: Device, reports: Sequence[Position], moment: Moment
    ) -> tuple[Device, Story]:
        """Return what is known of a tracker after what messages told."""
        story = self._story(device.unique_id)
        for position in in_order(reports):
            known = story.position
            is_older = known and is_older_position(position, known)
            if is_older or known is None or known.id != position.id:
                story = self._after(device, story, position, moment, is_older=is_older)
            device = device if is_older else announcing(device, position.id)
        return device, story

    def _after(
        self,
        device: Device,
        story: Story,
        position: Position,
        moment: Moment,
        *,
        is_older: bool | None,
        received_at: datetime | None = None,
    ) -> Story:
        """Return the story after a report."""
        if is_older:
            return story.with_older_report(position, moment)
        is_new = device.unique_id not in self.remembered.stories
        if device.unique_id not in self.trackers:
            moment = moment._replace(came_back=True)
        is_news = not is_new and story.there_already != position.id
        return story.with_report(
            position, moment, is_news=is_news, received_at=received_at
        )

    def _newer(self, devices: Iterable[Device]) -> dict[str, Device]:
        """Return the listed devices that messages tell of, unless what is known is newer."""
        newer: dict[str, Device] = {}
        for device in devices:
            tracker = self.trackers.get(device.unique_id)
            known = newer.get(device.unique_id) or (tracker and tracker.device)
            if known and not is_older_device(device, known):
                newer[device.unique_id] = announcing(device, known.position_id)
        return newer

    def _due(self, now: datetime) -> set[str]:
        """Return the trackers of which something is told by the clock alone."""
        return {
            unique_id
            for unique_id in self._pending
            if (at := self._story(unique_id).changes_at) and at <= now
        }

    def _note(
        self,
        changed: dict[str, Tracker],
        device: Device,
        story: Story,
        moment: Moment,
    ) -> None:
        """Note what is to be known of a listed tracker, if it is anything else."""
        unique_id = device.unique_id
        if unique_id not in self.remembered.stories:
            story = story._replace(there_already=device.position_id)
        tracker = Tracker(device, story.with_status(device.status, moment.now))
        if tracker != self.trackers.get(unique_id):
            changed[unique_id] = tracker

    def _become(
        self, changed: Mapping[str, Tracker], left: AbstractSet[str] = frozenset()
    ) -> Changes[str, Tracker]:
        """Take in what is different, and which trackers are listed no more."""
        before = self.trackers
        for unique_id, tracker in changed.items():
            self._remember(unique_id, tracker.story)
        if changed or left:
            trackers = {**before, **changed}
            for unique_id in left:
                del trackers[unique_id]
            self.trackers = trackers
        return Changes(before, self.trackers, changed.keys() | left)

    def _remember(self, unique_id: str, story: Story) -> None:
        self.remembered.stories[unique_id] = story
        if story.is_pending:
            self._pending.add(unique_id)
        else:
            self._pending.discard(unique_id)


def _by_id(devices: Mapping[str, Device]) -> dict[int | None, str]:
    """Return trackers by internal ID; one that several devices have is nobody's."""
    ids = [device.id for device in devices.values()]
    by_id = dict(zip(ids, devices, strict=True))
    if len(by_id) == len(ids):
        return by_id
    return {key: by_id[key] for key, times in Counter(ids).items() if times == 1}
