"""The ride book: every ride of an account that is over and went anywhere."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..api import Changes
from ..tracking import KnownRide, Ride, Tracker
from .storage_file import LateFile
from .stored_stories import plain, reader

_KEPT: Final = timedelta(days=3 * 365)
_MOST: Final = 5_000


class BookedRide(NamedTuple):
    """A ride that is over, as it is kept."""

    tracker: str
    """The `uniqueId` of whose ride it is."""
    number: datetime
    """When it was first heard of: no other ride of the tracker has the same."""
    ride: Ride


class RideBook(LateFile):
    """Keeps the rides of one account."""

    title = "ride book"
    suffix = ".rides"
    # The last rides of each tracker are in the other file too, which is written within
    # seconds: a kill loses none.
    delay = 5 * 60

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with no ride."""
        super().__init__(hass, entry)
        self.rides: list[BookedRide] = []
        """Each ride once, in order of their ends."""

    async def async_recall(self) -> None:
        """Read the file."""
        self.rides = await self.async_read(_from_json) or []

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
        """Take in the rides of trackers, each in place of the one with its number."""
        changed = [
            BookedRide(tracker, known.number, known.ride)
            for tracker in changes.keys
            for known in _known(changes.after.get(tracker))
            if known.is_over and known not in _known(changes.before.get(tracker))
        ]
        if changed:
            self._async_take([*self.rides, *changed])

    @callback
    def async_forget(self, tracker: str) -> None:
        """Forget the rides of a tracker."""
        self._async_take([booked for booked in self.rides if booked.tracker != tracker])

    @override
    def content(self) -> dict[str, Any]:
        """Return what is to be written."""
        return {"rides": [plain(booked) for booked in self.rides]}

    @callback
    def _async_take(self, rides: Iterable[BookedRide]) -> None:
        kept = _kept(rides)
        if kept != self.rides:
            self.rides = kept
            self.async_save_later()


def _known(tracker: Tracker | None) -> Sequence[KnownRide]:
    log = tracker and tracker.story.rides
    return log.known if log else ()


def _kept(rides: Iterable[BookedRide]) -> list[BookedRide]:
    """Return what is kept of these rides, of two with one number the later one.

    One that was none after all went nowhere.
    """
    oldest = dt_util.utcnow() - _KEPT
    by_key = {(booked.tracker, booked.number): booked for booked in rides}.values()
    kept = [
        each for each in by_key if each.ride.distance and each.ride.moved_at > oldest
    ]
    kept.sort(key=lambda booked: booked.ride.moved_at)
    return kept[-_MOST:]


def _from_json(stored: dict[str, Any] | None) -> list[BookedRide]:
    """Return the rides in a file; raises where it is of another shape.

    What is not readable of a ride costs that ride.
    """
    rows = [] if stored is None else stored["rides"]
    return _kept(booked for row in rows if (booked := _read(row)))


_read: Final = reader(BookedRide)
