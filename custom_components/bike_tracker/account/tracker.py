"""One tracker as it is known."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from ..api import Device, Hardware, Position
from .alarms import Alarm
from .distance import Fix
from .happened import RideEvent
from .since import Said, Since
from .story import NEW_STORY, Story
from .track import Ride, Track


class Tracker(NamedTuple):
    """What is known of one tracker. Another object means that something changed."""

    device: Device
    story: Story = NEW_STORY

    @property
    def position(self) -> Position | None:
        """Return its newest report."""
        return self.story.position

    @property
    def shown(self) -> Position | None:
        """Return where it is shown, which is where it was while it comes back."""
        return self.story.shown or self.story.position

    @property
    def as_it_was(self) -> Tracker:
        """Return it as it was when it was there last, while it comes back."""
        if self.story.shown is None:
            return self
        return self._replace(story=self.story._replace(position=self.story.shown))

    @property
    def since(self) -> Since:
        """Return since when the service says what it says."""
        return self.story.since

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Return the last alarms it set off, oldest first."""
        return self.story.alarms

    @property
    def ride_events(self) -> tuple[RideEvent, ...]:
        """Return the last starts and ends of its rides, oldest first."""
        return self.story.ride_events

    @property
    def track(self) -> Track | None:
        """Return how far it came, None while it has no position."""
        return self.story.track

    @property
    def online_since(self) -> datetime | None:
        """Return since when the service says that it is online, None if it does not."""
        return self._status_since(is_online=True)

    @property
    def offline_since(self) -> datetime | None:
        """Return since when it is no longer or not online, None if it is or may be."""
        return self._status_since(is_online=False)

    @property
    def moving_since(self) -> datetime | None:
        """Return since when it moves, None if it does not or that is not known."""
        return _since(self.since.moving, is_so=True)

    @property
    def standing_since(self) -> datetime | None:
        """Return since when it stands, None if it does not or that is not known."""
        return _since(self.since.moving, is_so=False)

    @property
    def silent_since(self) -> datetime | None:
        """Return when the service last heard of it, None if it never did."""
        return self.device.last_update

    @property
    def hardware(self) -> Hardware | None:
        """Return what it says of itself, None while that is nothing."""
        return self.position and self.position.hardware

    @property
    def firmware(self) -> str | None:
        """Return the version of its firmware, None while it never told."""
        return self.hardware and self.hardware.firmware

    @property
    def place(self) -> Fix | None:
        """Return the place up to which its way is counted, None while it was nowhere."""
        return self.track and self.track.place

    @property
    def ride(self) -> Ride | None:
        """Return the ride under way, else the last one."""
        return self.track and self.track.shown

    def _status_since(self, *, is_online: bool) -> datetime | None:
        if self.device.status is None:
            return None
        return _since(self.since.online, is_so=is_online)


def _since(said: Said | None, *, is_so: bool) -> datetime | None:
    return said.since if said is not None and said.is_so is is_so else None


type Trackers = Mapping[str, Tracker]
"""All trackers of an account at one moment, by `uniqueId`; never changed afterwards."""
