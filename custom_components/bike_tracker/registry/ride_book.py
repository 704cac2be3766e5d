"""The ride book: every ride of an account that is over and went anywhere."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..api import Changes
from ..tracking import Ride, RideLog, Tracker
from .storage import SELDOM, EntryStore, reader, to_line

_KEPT: Final = timedelta(days=3 * 365)
_MOST: Final = 5_000
_VERSION: Final = 1


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
        super().__init__(hass, entry, _VERSION, ".rides")
        self.rides: list[BookedRide] = []
        """Each ride once, in order of their ends."""

    def of(self, tracker: str, start: datetime, end: datetime) -> list[BookedRide]:
        """Return the rides of a tracker that touch a time, in order of their start."""
        return sorted(
            (
                booked
                for booked in self.rides
                if booked.tracker == tracker
                and booked.ride.started_at < end
                and booked.ride.moved_at > start
            ),
            key=lambda booked: booked.ride.started_at,
        )

    @callback
    def async_follow(self, changes: Changes[str, Tracker]) -> None:
        """Take the last rides of trackers in place of those that are booked since."""
        for unique_id in changes.keys:
            before = _log(changes.before.get(unique_id))
            log = _log(changes.after.get(unique_id))
            if log and log.since and (before is None or log.rides != before.rides):
                self._async_replace(unique_id, log.rides, log.since)

    @callback
    def _async_replace(
        self, unique_id: str, rides: Sequence[Ride], since: datetime
    ) -> None:
        starts = {ride.started_at for ride in rides}
        kept = [
            booked
            for booked in self.rides
            if booked.tracker != unique_id
            or (booked.ride.started_at < since and booked.ride.started_at not in starts)
        ]
        self._async_take([*kept, *(BookedRide(unique_id, ride) for ride in rides)])

    @callback
    def async_forget(self, tracker: str) -> None:
        """Forget the rides of a tracker."""
        self._async_take([booked for booked in self.rides if booked.tracker != tracker])

    @override
    def content(self) -> dict[str, Any]:
        """Return what is to be written."""
        return {"rides": [to_line(booked) for booked in self.rides]}

    @override
    def _restore(self, stored: dict[str, Any]) -> None:
        self.rides = _kept(map(reader(BookedRide), stored["rides"]))

    @callback
    def _async_take(self, rides: Iterable[BookedRide]) -> None:
        kept = _kept(rides)
        if kept != self.rides:
            self.rides = kept
            # The last rides of each tracker are in the other file too, which is written
            # within seconds: a kill loses none. This one grows to more than a megabyte.
            self.async_write_within(SELDOM)


def _log(tracker: Tracker | None) -> RideLog | None:
    return tracker and tracker.story.rides


def _kept(rides: Iterable[BookedRide]) -> list[BookedRide]:
    """Return what is kept of these rides: those that went anywhere, not too many."""
    rides = [booked for booked in rides if booked.ride.distance]
    # A clock that is ahead of every ride drops none.
    newest = max((each.ride.moved_at for each in rides), default=dt_util.utcnow())
    oldest = min(newest, dt_util.utcnow()) - _KEPT
    kept = [each for each in rides if each.ride.moved_at > oldest]
    kept.sort(key=lambda booked: booked.ride.moved_at)
    return kept[-_MOST:]
