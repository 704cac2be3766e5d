"""The ride book: every ride of an account that is over and went anywhere."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..account import Fix, KnownRide, Tracker
from ..api import News
from .file import LateFile
from .stories import plain, reader

_KEPT: Final = timedelta(days=3 * 365)
_MOST: Final = 5_000


class Place(NamedTuple):
    """Where a ride began or ended."""

    latitude: float
    longitude: float
    address: str | None = None
    """The service's word for it."""


class BookedRide(NamedTuple):
    """A ride that is over, as it is kept."""

    tracker: str
    """The `uniqueId` of whose ride it is."""
    number: datetime
    """When it was first heard of: no other ride of the tracker has the same."""
    started_at: datetime
    ended_at: datetime
    distance: float
    """Kilometres."""
    duration: float
    """Seconds."""
    maximum_speed: float | None = None
    """Kilometres per hour, None if none was reported."""
    start: Place | None = None
    """None for a ride of before places were kept, as is the end."""
    end: Place | None = None


type Rides = Mapping[tuple[str, datetime], BookedRide]
"""Rides by tracker and number, in order of their ends; never changed afterwards."""


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
        self.rides: Rides = {}

    async def async_load(self) -> None:
        """Read the file."""
        self.rides = await self.async_read(_from_json) or {}

    def of(self, tracker: str, start: datetime, end: datetime) -> list[BookedRide]:
        """Return the rides of a tracker that touch a time, in order of their start."""
        rides = (ride for ride in self.rides.values() if ride.tracker == tracker)
        return sorted(
            (ride for ride in rides if ride.started_at < end and ride.ended_at > start),
            key=lambda ride: ride.started_at,
        )

    @callback
    def async_follow(self, news: News[str, Tracker]) -> None:
        """Take in the rides of trackers, each in place of the one with its number."""
        changed = [
            _booked(tracker, known)
            for tracker in news.changed
            for known in _known(news.before.get(tracker), news.now.get(tracker))
            if known.is_over
        ]
        if changed:
            # One that was none after all went nowhere.
            rides = {**self.rides, **{_key(ride): ride for ride in changed}}
            self._async_take(ride for ride in rides.values() if ride.distance)

    @callback
    def async_forget(self, tracker: str) -> None:
        """Forget the rides of a tracker."""
        self._async_take(
            [ride for ride in self.rides.values() if ride.tracker != tracker]
        )

    async def async_adopt(self, tracker: str, giver: RideBook) -> None:
        """Take in the rides of a tracker that comes from another account, and write it."""
        if adopted := [
            ride for ride in giver.rides.values() if ride.tracker == tracker
        ]:
            self._async_take([*self.rides.values(), *adopted])
            await self.async_save()

    @override
    def content(self) -> dict[str, Any]:
        """Return what is to be written."""
        return {"rides": [plain(ride) for ride in self.rides.values()]}

    @callback
    def _async_take(self, rides: Iterable[BookedRide]) -> None:
        kept = _kept(rides)
        if kept != self.rides:
            self.rides = kept
            self.async_save_later()


def _known(before: Tracker | None, now: Tracker | None) -> Sequence[KnownRide]:
    """Return what is known of a tracker's rides: nothing if that is so as before."""
    log = now and now.story.rides
    if log is None or (
        before and before.story.rides and before.story.rides.known is log.known
    ):
        return ()
    return log.known


def _booked(tracker: str, known: KnownRide) -> BookedRide:
    """Return what is kept of a ride that is over."""
    ride = known.ride
    speed = ride.maximum_speed
    return BookedRide(
        tracker,
        known.number,
        ride.started_at,
        ride.moved_at,
        round(ride.distance, 3),
        round(ride.duration),
        speed if speed is None else round(speed, 1),
        start=_place_of(ride.start),
        end=_place_of(ride.end),
    )


def _place_of(fix: Fix | None) -> Place | None:
    if fix is None:
        return None
    # A tenth of a metre.
    return Place(round(fix.latitude, 6), round(fix.longitude, 6), fix.address)


def _key(ride: BookedRide) -> tuple[str, datetime]:
    return ride.tracker, ride.number


def _kept(rides: Iterable[BookedRide]) -> Rides:
    """Return what is kept of these rides, of two with one number the later one."""
    oldest = dt_util.utcnow() - _KEPT
    by_key = {_key(ride): ride for ride in rides if ride.ended_at > oldest}
    in_order = sorted(by_key.values(), key=lambda ride: ride.ended_at)
    return {_key(ride): ride for ride in in_order[-_MOST:]}


def _from_json(stored: dict[str, Any] | None) -> Rides:
    """Return the rides in a file; raises where it is of another shape.

    What is not readable of a ride costs that ride.
    """
    rows = [] if stored is None else stored["rides"]
    return _kept(ride for row in rows if (ride := _read(row)))


_read: Final = reader(BookedRide)
