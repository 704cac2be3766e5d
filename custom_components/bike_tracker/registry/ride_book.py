"""The ride book: every ride of an account that is over and went anywhere."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final, NamedTuple, override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..tracking.ride_state import Ride
from ..tracking.state import Tracker
from .storage import SELDOM, EntryStore, reader, to_json, to_line

_KEPT: Final = timedelta(days=3 * 365)
_MOST: Final = 5_000


class BookedRide(NamedTuple):
    """A ride that is over, as it is kept."""

    tracker: str
    """The `uniqueId` of whose ride it is."""
    ride: Ride


class RideBook(EntryStore):
    """Keeps the rides of one account."""

    title = "ride book"

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with no ride."""
        super().__init__(hass, entry, version=1, suffix=".rides")
        self.rides: list[BookedRide] = []
        """Each ride once, in order of their ends."""
        self.backfill: dict[str, datetime | None] = {}
        """Up to when rides from before a tracker was set up are still to be asked for.

        None once all were. Written with the rides: a kill neither loses nor doubles one.
        """

    def of(self, tracker: str, start: datetime, end: datetime) -> list[Ride]:
        """Return the rides of a tracker that touch a time, in order of their start."""
        rides = (booked.ride for booked in self.rides if booked.tracker == tracker)
        touching = (it for it in rides if it.started_at < end and it.moved_at > start)
        return sorted(touching, key=attrgetter("started_at"))

    @callback
    def async_follow(self, tracker: Tracker) -> None:
        """Take the last rides of a tracker in place of those that are booked since."""
        unique_id, rides = tracker.device.unique_id, tracker.rides
        if tracker.position and unique_id not in self.backfill:
            self.backfill[unique_id] = dt_util.utcnow()
            self.async_write_within(SELDOM)
        if (since := tracker.rides_since) is None:
            return
        # One that was under way then started before.
        starts = {ride.started_at for ride in rides}
        older = [
            it
            for it in self.rides
            if it.tracker != unique_id
            or (it.ride.started_at < since and it.ride.started_at not in starts)
        ]
        self._async_take([*older, *(BookedRide(unique_id, it) for it in rides)])

    @callback
    def async_add_from_before(
        self, tracker: str, rides: Iterable[Ride], until: datetime | None
    ) -> None:
        """Add rides from before a tracker was set up, but none that is booked."""
        if tracker not in self.backfill:
            return
        new = [
            BookedRide(tracker, ride)
            for ride in rides
            if not self.of(tracker, ride.started_at, ride.moved_at)
        ]
        self.backfill[tracker] = until
        self._async_take([*self.rides, *new])
        self.async_write_within(SELDOM)

    @callback
    def async_forget(self, tracker: str) -> None:
        """Forget the rides of a tracker."""
        self.backfill.pop(tracker, None)
        self._async_take([booked for booked in self.rides if booked.tracker != tracker])

    @callback
    def _async_take(self, rides: Iterable[BookedRide]) -> None:
        """Keep those of these rides that went anywhere, if they are not too many."""
        rides = [booked for booked in rides if booked.ride.distance]
        rides.sort(key=attrgetter("ride.moved_at"))
        # A clock that is ahead of every ride drops none.
        newest = min([dt_util.utcnow(), *(it.ride.moved_at for it in rides[-1:])])
        rides = [it for it in rides if it.ride.moved_at > newest - _KEPT][-_MOST:]
        if rides != self.rides:
            self.rides = rides
            # The last rides of each tracker are in the other file too, which is written
            # within seconds: a kill loses none. This one grows to more than a megabyte.
            self.async_write_within(SELDOM)

    @override
    def content(self) -> dict[str, Any]:
        """Return what is to be written."""
        # The event loop may change more meanwhile: rides that are asked for again are not
        # added again.
        backfill = {key: to_json(until) for key, until in dict(self.backfill).items()}
        rides = [to_line(booked) for booked in self.rides]
        return {"rides": rides, "backfill": backfill}

    @override
    def _restore(self, stored: dict[str, Any]) -> None:
        self.rides = list(map(reader(BookedRide), stored["rides"]))
        # The book of 1.2 has none: its trackers are not new.
        booked = {each.tracker: None for each in self.rides}
        backfill = stored.get("backfill", booked)
        read = reader(datetime | None)
        self.backfill = {key: read(until) for key, until in backfill.items()}
