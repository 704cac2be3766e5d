"""The ride book: every ride of an account that is over and went anywhere."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
import os
from typing import Any, Final, NamedTuple

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util

from ..account import Fix, KnownRide, Tracker
from ..api import News
from ..const import DOMAIN, LOGGER
from ..identity import name_of
from .stories import plain, reader

_VERSION = 1
# The last rides of each tracker are in the other file too, which is written within
# seconds: a kill loses none.
_SAVE_DELAY: Final = 5 * 60
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


class RideBook:
    """Keeps the rides of one account's entry in Home Assistant's storage folder."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Use the file of this entry."""
        self.rides: Rides = {}
        self._hass = hass
        self._entry = entry
        self._store = Store[dict[str, Any]](
            hass,
            _VERSION,
            f"{DOMAIN}.{entry.entry_id}.rides",
            private=True,
            atomic_writes=True,
            serialize_in_event_loop=False,
        )
        self._unsaved = False

    async def async_load(self) -> None:
        """Read the file. One that cannot be read costs the book, and is kept aside."""
        try:
            stored = await self._store.async_load()
            self.rides = await self._hass.async_add_executor_job(_from_json, stored)
        except Exception as err:  # noqa: BLE001 - it costs the book, no more
            aside = f"{self._store.path}.unreadable"
            with suppress(OSError):
                await self._hass.async_add_executor_job(
                    os.replace, self._store.path, aside
                )
            LOGGER.warning(
                "%s: The ride book is not readable (%s), a new one begins; it is kept as %s",
                name_of(self._entry),
                type(err).__name__,
                aside,
            )

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
        adopted = [ride for ride in giver.rides.values() if ride.tracker == tracker]
        self._async_take([*self.rides.values(), *adopted])
        await self.async_close()

    async def async_close(self) -> None:
        """Write now what is not written yet."""
        if self._unsaved:
            await self._store.async_save(self._to_save())

    async def async_remove(self) -> None:
        """Delete the file."""
        await self._store.async_remove()

    @callback
    def _async_take(self, rides: Iterable[BookedRide]) -> None:
        kept = _kept(rides)
        if kept == self.rides:
            return
        self.rides = kept
        if not self._unsaved:
            self._unsaved = True
            self._store.async_delay_save(self._to_save, _SAVE_DELAY)

    def _to_save(self) -> dict[str, Any]:
        """Return what is to be written; runs beside the event loop."""
        self._unsaved = False
        return {"rides": [plain(ride) for ride in self.rides.values()]}


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
