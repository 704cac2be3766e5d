"""One tracker as it is known."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from ..api import Device, Hardware, Position
from .distance import Fix
from .flags import Flag
from .guard import Triggered
from .ride_state import Ride
from .state import NEW_STATE, TrackerState


class Tracker(NamedTuple):
    """What is known of one tracker. Another object means that something changed."""

    device: Device
    state: TrackerState = NEW_STATE

    @property
    def position(self) -> Position | None:
        """Return its newest report."""
        return self.state.position

    @property
    def guarded_since(self) -> datetime | None:
        """Return since when it is guarded, None while it is not."""
        return self.state.guard and self.state.guard.armed_at

    @property
    def triggered(self) -> Triggered | None:
        """Return what triggered its guard, None while nothing did."""
        return self.state.guard and self.state.guard.triggered

    @property
    def online(self) -> Flag | None:
        """Return whether it is, and since when; None while the service does not say."""
        return None if self.device.status is None else self.state.online

    @property
    def hardware(self) -> Hardware | None:
        """Return what it says of itself, None while that is nothing."""
        return self.state.position and self.state.position.hardware

    @property
    def firmware(self) -> str | None:
        """Return the version of its firmware, None while it never told."""
        return self.hardware and self.hardware.firmware

    @property
    def place(self) -> Fix | None:
        """Return the place up to which its way is counted, None while it was nowhere."""
        return self.state.ride_state and self.state.ride_state.anchor

    @property
    def address(self) -> str | None:
        """Return the address of where it stood last, which is not where it rides."""
        ride_state, reported = (
            self.state.ride_state,
            self.position and self.position.address,
        )
        if ride_state and ride_state.ride:
            return ride_state.ride.start and ride_state.ride.start.address
        if ride_state and ride_state.candidate:
            return ride_state.candidate.address
        return (
            ride_state and ride_state.anchor and ride_state.anchor.address
        ) or reported

    @property
    def ride_under_way(self) -> Ride | None:
        """Return the ride under way, None while there is none."""
        return self.state.ride_state and self.state.ride_state.ride

    @property
    def ride(self) -> Ride | None:
        """Return the ride under way, else the last one."""
        return self.state.ride_state and self.state.ride_state.shown


type Trackers = Mapping[str, Tracker]
"""All trackers of an account at one context, by `uniqueId`; never changed afterwards."""
