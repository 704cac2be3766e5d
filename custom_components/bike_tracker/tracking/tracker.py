"""One tracker as it is known."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from ..api import Device, Hardware, Position
from .distance import Fix
from .flags import Flag
from .guard import Triggered
from .ride_state import Ride
from .story import NEW_STORY, Story


class Tracker(NamedTuple):
    """What is known of one tracker. Another object means that something changed."""

    device: Device
    story: Story = NEW_STORY

    @property
    def position(self) -> Position | None:
        """Return its newest report."""
        return self.story.position

    @property
    def guarded_since(self) -> datetime | None:
        """Return since when it is guarded, None while it is not."""
        return self.story.guard and self.story.guard.armed_at

    @property
    def triggered(self) -> Triggered | None:
        """Return what triggered its guard, None while nothing did."""
        return self.story.guard and self.story.guard.triggered

    @property
    def online(self) -> Flag | None:
        """Return whether it is, and since when; None while the service does not say."""
        return None if self.device.status is None else self.story.online

    @property
    def hardware(self) -> Hardware | None:
        """Return what it says of itself, None while that is nothing."""
        return self.story.position and self.story.position.hardware

    @property
    def firmware(self) -> str | None:
        """Return the version of its firmware, None while it never told."""
        return self.hardware and self.hardware.firmware

    @property
    def place(self) -> Fix | None:
        """Return the place up to which its way is counted, None while it was nowhere."""
        return self.story.track and self.story.track.anchor

    @property
    def address(self) -> str | None:
        """Return the address of where it stood last, which is not where it rides."""
        track, reported = self.story.track, self.position and self.position.address
        if track and track.ride:
            return track.ride.start and track.ride.start.address
        if track and track.candidate:
            return track.candidate.address
        return (track and track.anchor and track.anchor.address) or reported

    @property
    def ride_under_way(self) -> Ride | None:
        """Return the ride under way, None while there is none."""
        return self.story.track and self.story.track.ride

    @property
    def ride(self) -> Ride | None:
        """Return the ride under way, else the last one."""
        return self.story.track and self.story.track.shown


type Trackers = Mapping[str, Tracker]
"""All trackers of an account at one moment, by `uniqueId`; never changed afterwards."""
