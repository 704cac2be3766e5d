"""The database of an account: one SQLite file with states and rides."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from secrets import token_hex
from sqlite3 import Connection, DatabaseError
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.exceptions import (
    ConfigEntryError,
    ConfigEntryNotReady,
    HomeAssistantError,
)
from homeassistant.helpers.storage import STORAGE_DIR
from homeassistant.util import dt as dt_util

from ..const import DOMAIN, LOGGER
from ..devices import async_create_issue, async_delete_issue
from ..tracking.occurrences import Occurrence
from ..tracking.rides import Ride
from ..tracking.state import Tracker, TrackerState
from . import file as sql
from .file import BookedRides, Content, File, Sent
from .import_2_0 import files_of_2_0, import_2_0

# Seconds until a change is written. SOON: a new tracker, an event, an arming or a
# disarming. LATER: a changed flag, or a report during a ride. SELDOM: any other report.
# Bikes may report every five minutes while they stand, which would cost 2,000 writes a
# week. If a power cut destroys unwritten reports, the service still has them.
SOON: Final = 10
LATER: Final = 5 * 60
SELDOM: Final = 60 * 60
_RETRY: Final = 60
_REPLACED: Final = "database_replaced"


class Database:
    """Keeps the states and rides of an account in memory, and writes changes to its file."""

    def __init__(
        self, hass: HomeAssistant, entry: ConfigEntry, file: File, content: Content
    ) -> None:
        """Initialize with the open file and its content. An unload or the stop of Home Assistant closes the file."""
        self.content = content
        self.written_at: datetime | None = None
        self._hass = hass
        self._entry = entry
        self._file = file
        self._lock = asyncio.Lock()
        self._changed: set[str] = set()
        """The `uniqueId` of each tracker whose changes are not written yet."""
        self._rides: dict[str, BookedRides] = {}
        """Rides that are not written yet, by `uniqueId`."""
        self._timer: asyncio.TimerHandle | None = None
        self._may_write = True
        """True while the file is open and no backup is running."""
        self._is_failing = False
        on_final_write = hass.bus.async_listen(
            EVENT_HOMEASSISTANT_FINAL_WRITE, self.async_close
        )
        entry.async_on_unload(on_final_write)
        entry.async_on_unload(self.async_close)

    @property
    def title(self) -> str:
        """Return the name of the account for the log."""
        return self._entry.title

    async def async_check_replaced(self) -> None:
        """Create a repair issue while a damaged, renamed file exists. Otherwise, delete the issue."""
        if file := await self._run(self._file.replaced):
            async_create_issue(self._hass, self._entry, _REPLACED, file=file)
        else:
            async_delete_issue(self._hass, self._entry, _REPLACED)

    async def _run[*Args, T](self, work: Callable[[*Args], T], *args: *Args) -> T:
        return await self._hass.async_add_executor_job(work, *args)

    # Changes

    @callback
    def async_follow(self, before: Tracker | None, after: Tracker) -> None:
        """Schedule writing a tracker that changed."""
        unique_id, new = after.device.unique_id, after.state
        old = before and before.state
        if new.position and unique_id not in self.content.backfill:
            self.content.backfill[unique_id] = dt_util.utcnow()
        known = old.ride_state.rides if old and old.position else None
        rides = new.ride_state.rides
        # Replace rides in the file only if a finished ride changed: most reports change
        # none.
        if known != rides and (since := new.log.rides_since):
            booked, waiting = BookedRides(since, rides), self._rides.get(unique_id)
            self._rides[unique_id] = booked.after(waiting) if waiting else booked
        if seconds := _seconds_until_write(old, new):
            self._async_changed(unique_id, seconds)

    @callback
    def async_set_last_fired(self, unique_id: str, occurrence: Occurrence) -> None:
        """Store that this occurrence of a tracker is the last fired occurrence, and schedule a write."""
        self.content.last_fired[unique_id] = occurrence.seq
        self._async_changed(unique_id, SOON if occurrence.is_event else LATER)

    @callback
    def async_set_sent(self, sent: Sent) -> None:
        """Store what the night guards remember, and schedule a write if it changed."""
        if sent != self.content.sent:
            self.content.sent = sent
            self.async_write_within(SOON)

    @callback
    def async_link_secret(self) -> str:
        """Return the secret that signs links to theft reports. The first call creates it."""
        if not self.content.sent.link_secret:
            self.async_set_sent(self.content.sent._replace(link_secret=token_hex()))
        return self.content.sent.link_secret

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed, and schedule deleting its row and its rides in the file."""
        self.content.last_fired.pop(unique_id, None)
        self.content.last_rides.pop(unique_id, None)
        self.content.backfill.pop(unique_id, None)
        self._rides[unique_id] = BookedRides(sql.BEGINNING, ())
        self._async_changed(unique_id, SOON)

    async def async_book(
        self, unique_id: str, rides: Sequence[Ride], until: datetime | None
    ) -> None:
        """Add rides from before a tracker was set up, except rides that overlap a ride in the file.

        Rides before `until` are still missing afterwards; None if no ride is missing.
        `until` is written in the same transaction as the rides, so that no ride is lost
        if Home Assistant is killed. If the tracker has been deleted, do nothing.
        """
        content = self.content
        if unique_id in content.backfill:
            content.backfill[unique_id] = until
            # The newest day is requested first, so a known ride is newer.
            if rides:
                content.last_rides.setdefault(unique_id, rides[-1])
            booked = self._rides.get(unique_id, BookedRides(sql.NEVER, ()))
            missing = (*booked.missing, rides)
            self._rides[unique_id] = booked._replace(missing=missing)
            self._changed.add(unique_id)
            await self.async_write()

    @callback
    def _async_changed(self, unique_id: str, seconds: float) -> None:
        self._changed.add(unique_id)
        self.async_write_within(seconds)

    @callback
    def async_write_within(self, seconds: float) -> None:
        """Schedule a write in at most these seconds, unless a backup is running or the file is closed."""
        loop = self._hass.loop
        at = loop.time() + seconds
        if self._may_write and (not self._timer or at < self._timer.when()):
            self._cancel_timer()
            self._timer = loop.call_at(at, self._async_on_time)

    @callback
    def _cancel_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    @callback
    def _async_on_time(self) -> None:
        self._timer = None
        self._hass.async_create_task(self.async_write(), f"{DOMAIN} write")

    async def async_write(self) -> None:
        """Write changes, unless a backup is running."""
        async with self._lock:
            if self._may_write:
                await self._async_write()

    async def _async_write(self) -> bool:
        """Write all changes in one transaction. Return whether the write succeeded.

        The caller must hold the lock.
        """
        self._cancel_timer()
        content, rides = self.content, dict(self._rides)
        rows = {key: content.row(key) for key in self._changed}
        changes = rows, rides, content.values()
        if not await self._async_try(sql.write, self.title, *changes):
            return False
        # Keep what changed during the write. New rides also contain the rides that were
        # just written.
        new = {key: content.row(key) for key in self._changed}
        self._changed = {key for key in new if key not in rows or new[key] != rows[key]}
        changed_since = (it for it in self._rides.items() if it not in rides.items())
        self._rides = dict(changed_since)
        if any(booked.since == sql.BEGINNING for booked in rides.values()):
            # A tracker was deleted. Empty the write-ahead log, because it still
            # contains the deleted rows.
            await self._async_try(sql.checkpoint)
        return True

    async def _async_try[*Args](
        self, work: Callable[[Connection, *Args], None], *args: *Args
    ) -> bool:
        """Run a transaction; return whether it succeeded. After a failure, log the error and schedule a write."""
        try:
            await self._run(self._file.run, work, *args)
        except sql.FILE_ERRORS as err:
            await self._async_failed(err)
            return False
        if self._is_failing:
            LOGGER.warning("%s: The database can be written again", self.title)
        self._is_failing = False
        self.written_at = dt_util.utcnow()
        return True

    async def _async_failed(self, err: Exception) -> None:
        """Log the error unless the previous write failed, too. Replace a malformed file. Schedule a new attempt."""
        if not self._is_failing:
            LOGGER.warning(
                "%s: The database cannot be written (%s); it is tried again each minute",
                self.title,
                _text(err),
            )
        self._is_failing = True
        if sql.is_malformed(err) or not self._file.is_open:
            await self._async_replace()
        self.async_write_within(_RETRY)

    async def _async_replace(self) -> None:
        """Rename a malformed file, and start a new file with the known states.

        The new file has no rides, so request all rides from the service again. If the
        file was closed but not renamed, try again.
        """
        replace = self._file.replace if self._file.is_open else self._file.open
        with suppress(*sql.FILE_ERRORS):
            await self._run(replace)
            known = self.content.backfill
            self.content.backfill = dict.fromkeys(known, dt_util.utcnow())
            self._changed |= self.content.states.keys()
            await self.async_check_replaced()

    # Queries

    async def rides(self, unique_id: str, start: datetime, end: datetime) -> list[Ride]:
        """Return the finished rides of a tracker that overlap a time range, the oldest first.

        If only the arrival of a ride is known, its start and end are the same. A range
        that begins at this time contains the ride.
        """
        rides = await self._async_query(
            sql.rides_between, self.title, unique_id, start, end
        )
        if new := self._rides.get(unique_id):
            rides = new.merged(rides)
        state = self.content.states.get(unique_id)
        under_way = state and state.ride_under_way
        # If a bike was on a ride when its tracker was set up, the file contains the
        # first part of that ride. While this ride is under way, leave that part out.
        begins = under_way.started_at if under_way else sql.NEVER
        touching = (
            it
            for it in rides
            if it.started_at == start or (it.started_at < end and it.moved_at > start)
        )
        over = (it for it in touching if it.started_at != begins)
        return sorted(over, key=attrgetter("started_at"))

    async def async_info(self) -> dict[str, Any]:
        """Return version, last write, whether writing fails and, if readable, size and number of rides, for diagnostics."""
        sizes = dict[str, int]()
        with suppress(HomeAssistantError):
            sizes = await self._async_query(sql.sizes)
        return {
            **sizes,
            "version": sql.VERSION,
            "written_at": self.written_at,
            "is_failing": self._is_failing,
        }

    async def _async_query[*Args, T](
        self, work: Callable[[Connection, *Args], T], *args: *Args
    ) -> T:
        async with self._lock:
            try:
                return await self._run(self._file.query, work, *args)
            except sql.FILE_ERRORS as err:
                if self._file.is_open and sql.is_malformed(err):
                    await self._async_failed(err)
                raise translated_error(
                    "database_not_readable", HomeAssistantError, error=_text(err)
                ) from err

    # Backups and closing

    async def async_hold(self) -> None:
        """Write all changes into the file, and postpone later writes until `async_release`."""
        async with self._lock:
            if self._file.is_open and await self._async_write():
                await self._async_try(sql.checkpoint)
            self._may_write = False

    @callback
    def async_release(self) -> None:
        """Resume writing, and schedule a write of the changes since `async_hold`."""
        self._may_write = True
        self.async_write_within(SOON)

    async def async_close(self, _event: Event | None = None) -> None:
        """Write the changes, and close the file."""
        async with self._lock:
            self._may_write = False
            # Use no thread for a closed file, so that a failed set-up ends at once.
            if self._file.is_open:
                # Write even during a backup: no later write follows.
                await self._async_write()
                with suppress(DatabaseError):
                    await self._run(self._file.close)


async def async_open_database(hass: HomeAssistant, entry: ConfigEntry) -> Database:
    """Open and read the file. Raise ConfigEntryError for a newer version's file, ConfigEntryNotReady for other errors."""
    file = File(_path(hass, entry), entry.title, import_2_0)
    try:
        content = await hass.async_add_executor_job(file.open)
        database = Database(hass, entry, file, content)
        await database.async_check_replaced()
    except sql.NewerVersionError as err:
        raise translated_error(
            "newer_database", ConfigEntryError, file=str(file.path)
        ) from err
    except sql.FILE_ERRORS as err:
        raise translated_error(
            "database_not_ready", ConfigEntryNotReady, error=_text(err)
        ) from err
    return database


async def async_remove_database(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Delete all files of an account that was removed."""
    await hass.async_add_executor_job(_remove, _path(hass, entry))


def _remove(path: Path) -> None:
    old, *_ = files_of_2_0(path)
    for file in (*path.parent.glob(f"{path.name}*"), *old.parent.glob(f"{old.name}*")):
        with suppress(OSError):
            file.unlink()
    # Remove the folder if it is empty now. If another account has a file in it, `rmdir`
    # fails.
    with suppress(OSError):
        path.parent.rmdir()


def _path(hass: HomeAssistant, entry: ConfigEntry) -> Path:
    return Path(hass.config.path(STORAGE_DIR, DOMAIN, f"{entry.entry_id}.db"))


def _seconds_until_write(old: TrackerState | None, new: TrackerState) -> int:
    """Return the seconds until a change must be written, or 0 if the state is the same."""
    if old is new:
        return 0
    # The bike was armed, taken over or disarmed, or is to be armed again.
    if old is None or (old.changed_at, old.rearming) != (new.changed_at, new.rearming):
        return SOON
    if old.occurrences is not new.occurrences:
        last = old.occurrences[-1].seq if old.occurrences else 0
        fresh = new.occurrences_after(last)
        return SOON if any(it.is_event for it in fresh) else LATER
    return LATER if new.ride_under_way else SELDOM


def translated_error(
    key: str, kind: type[HomeAssistantError], **placeholders: str
) -> HomeAssistantError:
    """Return an error of this class with a translated message."""
    return kind(
        translation_domain=DOMAIN,
        translation_key=key,
        translation_placeholders=placeholders,
    )


def _text(err: Exception) -> str:
    return f"{type(err).__name__}: {err}"
