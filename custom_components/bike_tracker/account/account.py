"""The account: lists, positions and messages go in, what is different comes out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime

from ..api import Device, News, Position
from .messages import announcing, in_order, is_older_device, is_older_position
from .missing import counted, gone
from .positions import goes_back, is_outdated
from .rides import silent_at
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
        # Listed trackers that are shown where they were.
        self._held_back: set[str] = set()
        # Trackers that announced a position which is not the known one.
        self._outdated: AbstractSet[str] = frozenset()
        # When trackers under way count as fallen silent.
        self._silent_at = {
            unique_id: at
            for unique_id, story in remembered.stories.items()
            if story.track and (at := silent_at(story.track))
        }
        # The position that was announced when a tracker was listed for the first time.
        self._there_already: dict[str, int | None] = {}
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
        began: int | None = None,
    ) -> News[str, Tracker]:
        """Take in a device list, and positions by `uniqueId`; return what is different.

        A position that no server lists any more stays: the bike is where it was. What
        messages told since the poll `began` stays too, unless the list is newer.
        `came_back` is whether the trackers were unavailable until now.
        """
        # Who comes back may have gone on meanwhile: that is seen with the next poll.
        silent = set() if came_back else self._fallen_silent(now) - positions.keys()
        heard = self._heard_device.keys() | self._heard_position.keys()
        touched = devices.since(self._devices) | positions.keys() | silent | heard
        changed: dict[str, Tracker] = {}
        for unique_id in touched & devices.now.keys():
            device, story = devices.now[unique_id], self._story(unique_id)
            if position := positions.get(unique_id):
                story = self._after_poll(device, story, position, now, came_back, began)
            elif unique_id in silent:
                story = story.fallen_silent(now)
            if unique_id in heard:
                device = self._listed(device, began)
            self._note(changed, device, story, now)
        left = {key for key in touched if key not in devices.now}
        news = self._become(changed, left & self.trackers.keys())
        self._outdated = {item.unique_id for item in self._listed_outdated(devices)}
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

        Each report counts as if it had come alone. What is older than what is known
        changes nothing, but that its alarms are told. The next poll may take it back.
        """
        self.messages += 1
        heard: dict[str, Device] = {}
        for device in devices:
            known = heard.get(device.unique_id) or self._device(device.unique_id)
            if known and not is_older_device(device, known):
                heard[device.unique_id] = announcing(device, known.position_id)
        self._heard_device.update(dict.fromkeys(heard, self.messages))
        reports = self._by_tracker(positions)
        changed: dict[str, Tracker] = {}
        for unique_id in heard.keys() | reports.keys():
            device = heard.get(unique_id) or self.trackers[unique_id].device
            story = self._story(unique_id)
            for position in in_order(reports.get(unique_id, ())):
                device, story = self._after_message(
                    device, story, position, now, came_back
                )
            self._note(changed, device, story, now)
        return self._become(changed, frozenset())

    def move(self) -> News[str, Tracker]:
        """Let trackers that came back move to where they are; return what is different."""
        moved = {
            unique_id: tracker._replace(story=tracker.story._replace(shown=None))
            for unique_id in self._held_back
            if (tracker := self.trackers.get(unique_id))
        }
        return self._become(moved, frozenset())

    def count_missing(self, had: set[str], seconds: float) -> list[str]:
        """Count trackers among those it had that are not listed; return which are gone.

        `seconds` is how long the account was listed without them since the last time.
        """
        self.remembered.missing = counted(
            self.remembered.missing, had.difference(self.trackers), seconds
        )
        return gone(self.remembered.missing)

    def adopt(self, unique_id: str, other: Account) -> None:
        """Take over what was known of a tracker from the account that had it."""
        if story := other.remembered.stories.get(unique_id):
            self._remember(unique_id, story.adopted())
        if told := other.remembered.told.get(unique_id):
            self.remembered.told[unique_id] = dict(told)

    def forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed."""
        for known in (
            *(self.remembered.stories, self.remembered.missing, self.remembered.told),
            *(self._silent_at, self._there_already),
            *(self._heard_device, self._heard_position),
        ):
            known.pop(unique_id, None)
        self._held_back.discard(unique_id)

    def told(self, unique_id: str, key: str) -> datetime | None:
        """Return the number of what an event entity of a tracker told last."""
        return self.remembered.told.get(unique_id, {}).get(key)

    def note_told(self, unique_id: str, key: str, heard_at: datetime) -> None:
        """Take in what an event entity of a tracker told last."""
        self.remembered.told.setdefault(unique_id, {})[key] = heard_at

    def _story(self, unique_id: str) -> Story:
        return self.remembered.stories.get(unique_id, NEW_STORY)

    def _device(self, unique_id: str) -> Device | None:
        """Return what is known of the device of a listed tracker."""
        tracker = self.trackers.get(unique_id)
        return None if tracker is None else tracker.device

    def _after_poll(
        self,
        device: Device,
        story: Story,
        position: Position,
        now: datetime,
        came_back: bool,
        began: int | None,
    ) -> Story:
        """Return the story after what a poll found, unless that is an older report."""
        if (known := story.position) and (
            is_older_position(position, known)
            if _is_after(began, self._heard_position.get(device.unique_id))
            else goes_back(device, known, position)
        ):
            return story.with_alarms(position, now, untold=came_back)
        return self._after_report(device, story, position, now, came_back)

    def _after_message(
        self,
        device: Device,
        story: Story,
        position: Position,
        now: datetime,
        came_back: bool,
    ) -> tuple[Device, Story]:
        """Return device and story after a message, unless that tells an older report."""
        if (known := story.position) and is_older_position(position, known):
            return device, story.with_alarms(position, now, untold=came_back)
        self._heard_position[device.unique_id] = self.messages
        if known is None or known.id != position.id:
            story = self._after_report(device, story, position, now, came_back)
        return announcing(device, position.id), story

    def _after_report(
        self,
        device: Device,
        story: Story,
        position: Position,
        now: datetime,
        came_back: bool,
    ) -> Story:
        """Return the story after the newest report of a tracker."""
        unique_id = device.unique_id
        is_new = unique_id not in self.remembered.stories
        comes_back = came_back or unique_id not in self.trackers
        return story.with_report(
            position,
            now,
            is_news=not is_new and self._there_already.get(unique_id) != position.id,
            comes_back=comes_back,
        )

    def _listed_outdated(self, devices: News[str, Device]) -> list[Device]:
        """Return the devices of a list whose known position is not the announced one."""
        touched = devices.since(self._devices) | self._outdated
        touched |= self._heard_position.keys()
        return [
            device
            for unique_id in touched
            if (device := devices.now.get(unique_id))
            and is_outdated(device, self._story(unique_id).position)
        ]

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

    def _by_tracker(self, positions: Iterable[Position]) -> dict[str, list[Position]]:
        """Return the positions of each listed tracker."""
        by_tracker, by_id = (
            defaultdict[str, list[Position]](list),
            self._trackers_by_id(),
        )
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

    def _fallen_silent(self, now: datetime) -> set[str]:
        """Return the trackers under way that are heard of no more."""
        return {unique_id for unique_id, at in self._silent_at.items() if at <= now}

    def _note(
        self, changed: dict[str, Tracker], device: Device, story: Story, now: datetime
    ) -> None:
        """Note what is to be known of a listed tracker, if it is anything else."""
        unique_id = device.unique_id
        tracker = Tracker(device, story.with_status(device.status, now))
        if tracker != self.trackers.get(unique_id):
            changed[unique_id] = tracker

    def _become(
        self, changed: dict[str, Tracker], left: AbstractSet[str]
    ) -> News[str, Tracker]:
        """Take in what is different, and which trackers are listed no more."""
        before = self.trackers
        for unique_id, tracker in changed.items():
            if unique_id not in self.remembered.stories:
                self._there_already[unique_id] = tracker.device.position_id
            self._remember(unique_id, tracker.story)
            if tracker.story.shown:
                self._held_back.add(unique_id)
            else:
                self._held_back.discard(unique_id)
            known = before.get(unique_id)
            if known is None or known.device.id != tracker.device.id:
                self._by_id = None
        if left:
            self._by_id = None
            self._held_back -= left
        if changed or left:
            trackers = {**before, **changed}
            for unique_id in left:
                del trackers[unique_id]
            self.trackers = trackers
        return News(before, self.trackers, changed.keys() | left)

    def _remember(self, unique_id: str, story: Story) -> None:
        self.remembered.stories[unique_id] = story
        if at := story.track and silent_at(story.track):
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
