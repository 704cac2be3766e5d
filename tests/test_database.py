"""The database: its content after a restart, the time of writes, and damaged files.

The *backfill* requests rides from before the set-up from the service, and stores them.
"""

import asyncio
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import reduce
import json
from pathlib import Path
import sqlite3
from time import sleep
from typing import Any
from unittest.mock import patch
import zlib

from homeassistant.components.alarm_control_panel import AlarmControlPanelState
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE, Platform
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)

from custom_components.bike_tracker import backup
from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.database import (
    Content,
    async_open_database,
    file as sql,
)
from custom_components.bike_tracker.tracking.rides import Ride

from .books import file_of, folder_of, full_disk, query, rides_in, row, state_in, store
from .conftest import BLUE, RED, Bikes, async_setup
from .riding import async_ride, async_set_up_and_ride, go, riding, standing

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
ARMED = AlarmControlPanelState.ARMED_AWAY
DISARMED = AlarmControlPanelState.DISARMED
BOTH = {RED, BLUE}
CLOCK = '{"sent_at": "2026-11-30", "delay": 1, "behind": "a text"}'
NOT_RESTORABLE = f'{{"log": {{"settled": {{"clock": {CLOCK}}}, "inputs": [{{}}]}}}}'

type Damage = Callable[[Path], object]


def starts(rides: list[Ride]) -> list[datetime]:
    """Return the start times of rides."""
    return [ride.started_at for ride in rides]


def guard_of(bikes: Bikes, tracker: str) -> str | None:
    """Return the state of a bike's guard, or None if the entity does not exist."""
    return bikes.value_of(f"{tracker}_guard", Platform.ALARM_CONTROL_PANEL)


def arm(bikes: Bikes, tracker: str) -> None:
    """Arm the guard of a bike."""
    changes = bikes.coordinator.data.arm(tracker, dt_util.utcnow())
    assert changes
    bikes.coordinator.async_set_changes(changes)


async def async_raise_alarm(bikes: Bikes) -> None:
    """Let the red bike report an alarm, and poll. Until the next write of the file, the alarm is only in memory."""
    bikes.simulator.report(RED, attributes={"alarm": "sos"})
    await bikes.coordinator.async_refresh()


def replace_text(file: Path, old: bytes, new: bytes) -> None:
    """Replace a text in a file."""
    content = file.read_bytes()
    assert old in content
    file.write_bytes(content.replace(old, new))


def has_alarm(bikes: Bikes) -> bool:
    """Return whether the database file contains the alarm of `async_raise_alarm`."""
    return "sos" in str(state_in(bikes.hass, bikes.entry).get("alarms"))


async def async_unload(bikes: Bikes) -> Path:
    """Unload the account, and return its database file."""
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    return file_of(bikes.hass, bikes.entry)


async def async_opened(bikes: Bikes) -> tuple[Content, list[Ride]]:
    """Open and close the database of the account. Return its content, and the red bike's rides before the first write."""
    database = await async_open_database(bikes.hass, bikes.entry)
    rides = rides_in(bikes.hass, bikes.entry)
    await database.async_close()
    return database.content, rides


# Content after a restart


async def test_everything_survives_a_reload(bikes: Bikes) -> None:
    """After an unload and a new start, rides, guards, alarms, `last_fired`, `evaluation` and `backfill` are the same."""
    bikes.simulator.override_position(RED, "address", "Bächle 3")
    store(bikes.hass, bikes.entry, [row(2 * DAY)])
    await async_set_up_and_ride(bikes)
    arm(bikes, BLUE)
    database, now = bikes.coordinator.database, dt_util.utcnow()
    before, ridden = database.content, await database.rides(RED, now - DAY, now)
    file = await async_unload(bikes)
    [_, (place,)] = query(file, "SELECT end_place FROM ride")
    assert "Bächle 3" in place
    after, rides = await async_opened(bikes)
    assert rides[1:] == ridden == [after.last_rides[RED]]
    assert after.last_fired == {BLUE: 0} | before.last_fired
    assert (after.evaluation, after.backfill) == (before.evaluation, before.backfill)
    assert after.states[BLUE].guard == before.states[BLUE].guard
    assert after.states[RED].alarms == before.states[RED].alarms


async def test_rides_before_the_next_write(bikes: Bikes) -> None:
    """Queries return a finished ride even before it is written. After the write, they read the ride from the file."""
    await async_set_up_and_ride(bikes)
    database, now = bikes.coordinator.database, dt_util.utcnow()
    await database.async_hold()
    await bikes.poll(400)
    await async_ride(bikes)
    assert len(rides_in(bikes.hass, bikes.entry)) == 1
    rides = await database.rides(RED, now - DAY, now + DAY)
    assert len(rides) == 2
    assert await database.rides(RED, now - DAY, rides[1].started_at) == rides[:1]
    assert await database.rides(RED, rides[1].moved_at, now + DAY) == []
    database.async_release()
    await bikes.poll(11)
    assert starts(rides_in(bikes.hass, bikes.entry)) == starts(rides)
    # After the write, the ride is only in the file: if it is deleted there, it is lost.
    query(file_of(bikes.hass, bikes.entry), "DELETE FROM ride")
    assert await database.rides(RED, now - DAY, now + DAY) == []


async def test_large_book(bikes: Bikes) -> None:
    """A ride of eight years ago is kept. The set-up reads only the newest ride of each tracker."""
    rows = [row(n * HOUR, tracker) for n in range(1, 2_001) for tracker in (RED, BLUE)]
    store(bikes.hass, bikes.entry, [*rows, row(3_000 * DAY)])
    with patch.object(sql, "_ride", wraps=sql._ride) as read:  # noqa: SLF001
        await async_setup(bikes.hass, bikes.entry)
    assert read.call_count == 2
    now = dt_util.utcnow()
    rides = await bikes.coordinator.database.rides(RED, now - 4_000 * DAY, now)
    assert len(rides) == 2_001


def rides_of(*hours: float, distance: float = 1.0) -> list[Ride]:
    """Return rides that start at these hours of a day. Each lasts half an hour."""
    day = datetime(2026, 11, 20, tzinfo=UTC)
    begins = (day + hour * HOUR for hour in hours)
    return [Ride(it, it + HOUR / 2, distance, 20.5) for it in begins]


@pytest.mark.parametrize(
    ("since", "new", "found"),
    [
        # All stored rides that start at `since` or later are replaced.
        (2, (2, 4), (1, 2, 4)),
        (2.1, (4,), (1, 2, 4)),
        (9, (), (1, 2, 3)),
        # A stored ride with the same start as a new ride is replaced.
        (9, (2,), (1, 2, 3)),
        (9, (2.5,), (1, 2, 2.5, 3)),
        # Without `since`, a new ride is added only if it overlaps no stored ride.
        (None, (1, 1.25, 1.5, 2.4, 5), (1, 1.5, 2, 3, 5)),
        (None, (0.5, 0.6, 2.5), (0.5, 1, 2, 2.5, 3)),
    ],
)
def test_rides_that_are_booked(
    since: float | None, new: tuple[float, ...], found: tuple[float, ...]
) -> None:
    """New rides replace the stored rides from `since` on, or are added between them. Rides of 0 km are never stored."""
    with closing(sqlite3.connect(":memory:")) as file:
        sql.create(file)
        for tracker in (RED, BLUE):
            sql.add_missing(file, tracker, rides_of(1, 2, 3))
        rides = [*rides_of(*new), *rides_of(7, distance=0)]
        known = sql.rides_between(file, "", RED, sql.BEGINNING, sql.NEVER)
        if since is None:
            sql.add_missing(file, RED, rides)
        else:
            [edge] = starts(rides_of(since))
            booked = sql.BookedRides(edge, rides)
            sql.replace_rides(file, RED, booked)
            # Before the write, queries merge new and stored rides, with the same result.
            assert sorted(booked.merged(known)) == rides_of(*found)
            # An earlier replacement that is not written yet is combined with the new one.
            [ride] = rides_of(3)
            both = booked.after(sql.BookedRides(ride.started_at, [ride], [rides]))
            assert (both.since, both.missing) == (min(edge, ride.started_at), [rides])
            assert sorted(both.merged(known)) == rides_of(*found)
        [first, *_] = starts(rides_of(found[0]))
        [*_, last] = rides_of(*found)
        all_of_red = sql.rides_between(file, "", RED, first, last.moved_at)
        assert sorted(all_of_red) == rides_of(*found)
        assert sql.rides_between(file, "", RED, last.moved_at, sql.NEVER) == []
        assert sql.rides_between(file, "", RED, sql.BEGINNING, first) == []
        assert sql.sizes(file)["rides"] == len(found) + 3


# Time of writes


CHANGES: dict[str, Callable[[Bikes], object]] = {
    "alarm": lambda bikes: bikes.simulator.report(RED, attributes={"alarm": "sos"}),
    "arming": lambda bikes: arm(bikes, RED),
    "guard again": lambda bikes: arm(bikes, RED),
    "disarming": lambda bikes: bikes.coordinator.async_set_changes(
        bikes.coordinator.data.disarm(RED, dt_util.utcnow(), "Ann")
    ),
    "offline": lambda bikes: bikes.simulator.set_status(RED, "offline"),
    "moved": lambda bikes: go(bikes.simulator, 500, **riding(102)),
    "battery": lambda bikes: bikes.simulator.report(RED, battery_level=7),
    "voltage": lambda bikes: bikes.simulator.report(RED, attributes={"battery": 3.9}),
}


@pytest.mark.parametrize(
    ("moves", "changes", "seconds"),
    [
        (0, "offline", 300),
        # In this test, the third report starts the ride, because the second could be a
        # GPS error. The start of a ride is an event.
        (2, "moved", 10),
        (3, "moved", 300),
        (0, "battery", 3600),
        # A less urgent change, before or after an event or an arming, does not postpone
        # the write.
        (0, "battery, alarm, voltage", 10),
        (0, "offline, arming, battery", 10),
        # The choice of a person is written, even if it changes no guard yet.
        (0, "disarming", 10),
        (3, "guard again", 10),
    ],
)
async def test_delays(bikes: Bikes, moves: int, changes: str, seconds: int) -> None:
    """Changes are written after ten seconds (event, arming), five minutes (status, ride) or an hour (other reports)."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    if changes == "guard again":
        arm(bikes, RED)
    for number in range(moves):
        go(bikes.simulator, 500, **riding(100.5 + number / 2))
        await bikes.poll()
    await bikes.coordinator.database.async_write()
    before = state_in(bikes.hass, bikes.entry)
    for change in changes.split(", "):
        CHANGES[change](bikes)
        await bikes.coordinator.async_refresh()
    await bikes.poll(59, times=seconds // 60)
    await bikes.poll(seconds - seconds // 60 * 59 - 2)
    assert state_in(bikes.hass, bikes.entry) == before
    await bikes.poll(3)
    assert state_in(bikes.hass, bikes.entry) != before


async def test_occurrence_before_home_assistant_runs(ready: Bikes) -> None:
    """An alarm that waits until Home Assistant has started is written. After it is fired, `last_fired` is written, too."""
    await ready.poll(4_000)
    ready.hass.set_state(CoreState.starting)
    ready.simulator.set_status(RED, "offline")
    await async_raise_alarm(ready)
    await ready.poll(11)
    assert has_alarm(ready)
    fired = "SELECT last_fired FROM tracker WHERE unique_id = ?"
    file = file_of(ready.hass, ready.entry)
    before = query(file, fired, RED)
    ready.hass.set_state(CoreState.running)
    await ready.poll()
    await ready.poll(11)
    assert query(file, fired, RED) > before


async def test_last_ride_from_before(ready: Bikes) -> None:
    """Even if rides from before the set-up, the newest first, are added again, `last_rides` has the newest ride in the file."""
    await ready.poll(11)
    database, now = ready.coordinator.database, dt_util.utcnow()
    rides = [Ride(now - n * HOUR, now - n * HOUR + HOUR, 1.0) for n in (3, 6, 9)]
    again = rides[0]._replace(started_at=rides[0].started_at + HOUR / 9, distance=2)
    for ride in (*rides, again):
        await database.async_book(RED, [ride], now - DAY)
    assert database.content.last_rides[RED] == rides[0]


@pytest.mark.parametrize("table", ["tracker", "ride"])
async def test_one_transaction(bikes: Bikes, table: str) -> None:
    """If writing the states or writing the rides fails, the file gets neither. The next attempt writes both."""
    await async_set_up_and_ride(bikes)
    file, database = file_of(bikes.hass, bikes.entry), bikes.coordinator.database
    await database.async_hold()
    await bikes.poll(400)
    await async_ride(bikes)
    before = query(file, numbers := "SELECT last_fired FROM tracker")
    fails = f"BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END"
    query(file, f"CREATE TRIGGER failing {fails}")
    database.async_release()
    await bikes.poll(11)
    assert query(file, numbers) == before
    assert len(rides_in(bikes.hass, bikes.entry)) == 1
    query(file, "DROP TRIGGER failing")
    await bikes.poll(61)
    assert query(file, numbers) > before
    assert len(rides_in(bikes.hass, bikes.entry)) == 2


async def test_file(ready: Bikes) -> None:
    """Only the user who runs Home Assistant can read the file. The settings of SQLite have the expected values."""
    settings = {
        # With this value, SQLite waits for the disk at each commit, so that a power cut
        # loses no transaction.
        "synchronous": 2,
        "journal_mode": "wal",
        "secure_delete": 1,
        "page_size": 512,
        "cache_size": -500,
        "user_version": 1,
    }
    # Use the connection that writes, because each connection has its own settings.
    run = ready.coordinator.database._file.run  # noqa: SLF001
    rows = {
        name: run(sqlite3.Connection.execute, f"PRAGMA {name}").fetchone()
        for name in settings
    }
    assert rows == {name: (value,) for name, value in settings.items()}
    file = file_of(ready.hass, ready.entry)
    modes = [path.stat().st_mode & 0o777 for path in (file, file.parent)]
    assert modes == [0o600, 0o700]


async def test_only_changed_trackers_are_written(ready: Bikes) -> None:
    """If the state of a tracker did not change, its row is not written. A new name is no change of the state."""
    await ready.poll(11)
    file = file_of(ready.hass, ready.entry)
    query(file, "UPDATE tracker SET last_fired = 77")
    ready.simulator.rename(BLUE, "Old bike")
    await async_raise_alarm(ready)
    await ready.poll(11)
    rows = dict(query(file, "SELECT unique_id, last_fired FROM tracker"))
    assert (rows[BLUE], rows[RED] == 77) == (77, False)


async def test_slow_disk(ready: Bikes) -> None:
    """A reload waits for the end of a write. What changed during the write is written, too: an arming, and a deleted tracker."""
    await ready.poll(4_000)
    store(ready.hass, ready.entry, [row(HOUR, BLUE)])
    disk, run = asyncio.Event(), ready.hass.async_add_executor_job
    file, waits = ready.coordinator.database._file, [disk.wait()]  # noqa: SLF001

    async def slow(target: Any, *args: Any) -> Any:
        if target == file.run and waits:
            await waits.pop()
        return await run(target, *args)

    with patch.object(ready.hass, "async_add_executor_job", slow):
        await async_raise_alarm(ready)
        ready.freezer.tick(11)
        async_fire_time_changed(ready.hass)
        arm(ready, RED)
        ready.entry.runtime_data.async_forget(BLUE)
        reload = ready.hass.async_create_task(
            ready.hass.config_entries.async_reload(ready.entry.entry_id),
            eager_start=True,
        )
        await asyncio.to_thread(sleep, 0.5)
        assert not reload.done()
        disk.set()
        await reload
    assert not rides_in(ready.hass, ready.entry, BLUE) and guard_of(ready, RED) == ARMED


async def test_failed_setup(ready: Bikes) -> None:
    """After a failed set-up, the file is closed before Home Assistant tries again."""
    file, seen = await async_unload(ready), list[tuple[ConfigEntryState, bool]]()
    log = file.with_name(f"{file.name}-wal")
    ready.entry.async_on_state_change(
        lambda: seen.append((ready.entry.state, log.exists()))
    )
    ready.simulator.fault("status-503")
    await async_setup(ready.hass, ready.entry)
    # SQLite deletes its log when the file is closed.
    assert seen[-1] == (ConfigEntryState.SETUP_RETRY, False)


@pytest.mark.parametrize("how", ["unload", "final write", "unload during a backup"])
async def test_stop(ready: Bikes, how: str) -> None:
    """When Home Assistant stops, changes are written at once: at the unload or the final write, even during a backup."""
    if "backup" in how:
        await backup.async_pre_backup(ready.hass)
    await async_raise_alarm(ready)
    ready.hass.set_state(CoreState.stopping)
    if "unload" in how:
        await async_unload(ready)
        await backup.async_post_backup(ready.hass)
    ready.hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
    await ready.hass.async_block_till_done()
    ready.hass.set_state(CoreState.running)
    assert has_alarm(ready)


# Deletion of a tracker


def holds(hass: HomeAssistant, *texts: str) -> set[str]:
    """Return the texts that at least one file in the folder of databases contains."""
    content = b"".join(file.read_bytes() for file in folder_of(hass).iterdir())
    return {text for text in texts if text.encode() in content}


async def test_removed_tracker(ready: Bikes) -> None:
    """Ten seconds after a tracker is deleted, no file of a database contains its ID. Data of other trackers stays."""
    rows = [row(number * HOUR, BLUE) for number in range(1, 60)]
    await ready.poll(11)
    store(ready.hass, ready.entry, [*rows, row(HOUR)])
    assert holds(ready.hass, RED, BLUE) == {RED, BLUE}
    ready.simulator.set_status(BLUE, "offline")
    await async_raise_alarm(ready)
    database, now = ready.coordinator.database, dt_util.utcnow()
    rides = [Ride(now - HOUR, now, 1.0)]
    await database.async_book(BLUE, rides, now)
    ready.entry.runtime_data.async_forget(BLUE)
    # An answer about earlier rides, requested before the deletion, is not stored.
    await database.async_book(BLUE, rides, now)
    assert await database.rides(BLUE, now - 9 * DAY, now) == []
    content = database.content
    for known in (content.backfill, content.last_fired, content.last_rides):
        assert BLUE not in known
    await ready.poll(10)
    assert holds(ready.hass, RED, BLUE) == {RED}
    assert has_alarm(ready)
    assert len(rides_in(ready.hass, ready.entry)) == 1


# Unusable files


async def test_file_that_stays(ready: Bikes) -> None:
    """A file of a newer version stays, and the set-up fails. An empty file is used. No file is renamed."""
    entry, file = ready.entry, await async_unload(ready)
    query(file, "PRAGMA user_version = 99")
    before = file.read_bytes()
    await async_setup(ready.hass, entry)
    failed = (ConfigEntryState.SETUP_ERROR, "newer_database")
    assert (entry.state, entry.error_reason_translation_key) == failed
    assert entry.error_reason_translation_placeholders
    assert file.read_bytes() == before
    # If Home Assistant was killed while it created the file, the file may be empty.
    file.write_bytes(b"")
    await ready.hass.config_entries.async_reload(entry.entry_id)
    assert entry.state is ConfigEntryState.LOADED
    assert not ir.async_get(ready.hass).issues


async def test_locked_file(ready: Bikes) -> None:
    """If another program locks the file, the set-up is tried again later, and guards stay armed."""
    arm(ready, RED)
    file = await async_unload(ready)
    with (
        patch.object(sql, "BUSY_SECONDS", 0.01),
        closing(sqlite3.connect(file)) as other,
    ):
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        await async_setup(ready.hass, ready.entry)
        assert ready.entry.error_reason_translation_placeholders
    await ready.poll()
    assert ready.entry.state is ConfigEntryState.LOADED
    assert guard_of(ready, RED) == ARMED


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_text("the state" * 1_000),
        lambda file: file.write_bytes(file.read_bytes()[:4_500]),
        lambda file: replace_text(file, b"CREATE TABLE ride", b"CREATE \xd1ABLE ride"),
    ],
    ids=["no database", "cut off", "not UTF-8"],
)
async def test_malformed_file(ready: Bikes, damage: Damage) -> None:
    """A damaged file is renamed, and a new file is created. A repair issue names the newest renamed file while it exists."""
    asides = []
    for number in range(2):
        arm(ready, RED)
        file = await async_unload(ready)
        damage(file)
        before = file.read_bytes()
        await async_setup(ready.hass, ready.entry)
        assert ready.entry.state is ConfigEntryState.LOADED
        assert guard_of(ready, RED) == DISARMED
        asides = sorted(file.parent.glob(f"{file.name}.*Z"))
        assert len(asides) == number + 1
        assert asides[-1].read_bytes() == before
        [issue] = ir.async_get(ready.hass).issues.values()
        assert issue.translation_key == "database_replaced"
        assert issue.translation_placeholders
        assert issue.translation_placeholders["file"] == str(asides[-1])
        ready.freezer.tick(1)
    for aside in asides:
        aside.unlink()
    await ready.hass.config_entries.async_reload(ready.entry.entry_id)
    assert not ir.async_get(ready.hass).issues


async def test_column_that_is_not_readable(ready: Bikes) -> None:
    """If the name of a column is damaged, the first query replaces the file, and guards stay armed."""
    arm(ready, RED)
    replace_text(await async_unload(ready), b"maximum_speed", b"maximum_sp\xd1ed")
    await async_setup(ready.hass, ready.entry)
    database, now = ready.coordinator.database, dt_util.utcnow()
    with pytest.raises(HomeAssistantError) as err:
        await database.rides(RED, now - DAY, now)
    assert err.value.translation_key == "database_not_readable"
    assert await database.rides(RED, now - DAY, now) == []
    await ready.hass.config_entries.async_reload(ready.entry.entry_id)
    assert guard_of(ready, RED) == ARMED


def test_log_of_a_malformed_file(tmp_path: Path) -> None:
    """SQLite's log of a damaged file is renamed with the file, because the log may contain data that the file lacks."""
    path = tmp_path / "bikes.db"
    for suffix in ("", "-wal", "-shm"):
        path.with_name(f"{path.name}{suffix}").write_text(f"old{suffix}")
    file = sql.File(path, "bikes", lambda *_: None)
    assert file.replace().states == {}
    file.close()
    aside = file.replaced()
    for suffix in ("", "-wal", "-shm"):
        assert Path(f"{aside}{suffix}").read_text() == f"old{suffix}"


@pytest.mark.parametrize(
    "text", ["", "{", '{"online": 7}', '{"guard": {}}', NOT_RESTORABLE]
)
async def test_row_that_is_not_readable(
    ready: Bikes, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    """If the state of a tracker is unreadable, the tracker loses it. Other trackers and all rides are kept."""
    arm(ready, RED)
    arm(ready, BLUE)
    file = await async_unload(ready)
    state = zlib.compress(text.encode()) if text else b""
    query(file, "UPDATE tracker SET state = ? WHERE unique_id = ?", state, BLUE)
    for name in ("evaluated_at", "sent"):
        query(file, "INSERT OR REPLACE INTO account VALUES (?, '7')", name)
    store(ready.hass, ready.entry, [row(HOUR, BLUE)])
    await async_setup(ready.hass, ready.entry)
    assert (guard_of(ready, RED), guard_of(ready, BLUE)) == (ARMED, DISARMED)
    for what in ("a tracker", "the last evaluation", "the sent messages"):
        assert f"{ready.entry.title}: Unexpected error reading {what}" in caplog.text
    assert len(rides_in(ready.hass, ready.entry, BLUE)) == 1
    assert not ir.async_get(ready.hass).issues


async def test_unreadable_ride(bikes: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """If the disk changed some bits of rides, only these rides are missing, and the log reports them."""
    rows = [row(number * HOUR) for number in (2, 4, 6, 8, 10)]
    store(bikes.hass, bikes.entry, rows)
    file = file_of(bikes.hass, bikes.entry)
    for damage in (
        "UPDATE ride SET end_place = '{}' WHERE rowid = 1",
        "UPDATE ride SET end_place = CAST(x'7bff7d' AS TEXT) WHERE rowid = 2",
        "UPDATE ride SET start_place = 7 WHERE rowid = 3",
        'UPDATE ride SET "end" = 1 << 62 WHERE rowid = 4',
    ):
        query(file, damage)
    await async_setup(bikes.hass, bikes.entry)
    database, now = bikes.coordinator.database, dt_util.utcnow()
    [ride] = await database.rides(RED, now - DAY, now)
    assert ride.started_at.isoformat() == rows[4]["started_at"]
    assert f"{bikes.entry.title}: Unexpected error reading a ride" in caplog.text


async def test_text_that_is_not_readable(ready: Bikes) -> None:
    """If the disk changed a text so that it is not UTF-8, the account is set up, and other trackers keep their state."""
    arm(ready, BLUE)
    file = await async_unload(ready)
    damaged = "UPDATE tracker SET unique_id = CAST(x'ff' AS TEXT) WHERE unique_id = ?"
    query(file, damaged, RED)
    await async_setup(ready.hass, ready.entry)
    assert (guard_of(ready, RED), guard_of(ready, BLUE)) == (DISARMED, ARMED)


async def test_failing_tracker(ready: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """If the state of a tracker cannot be stored, the states of other trackers are still stored."""
    ready.coordinator.database.content.states[BLUE] = 7  # type: ignore[assignment]
    await async_raise_alarm(ready)
    await async_unload(ready)
    assert has_alarm(ready)
    assert f"{ready.entry.title}: Unexpected error storing a tracker" in caplog.text


async def test_full_disk(bikes: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """While the disk is full, changes stay in memory, and a write is tried each minute. Failure and recovery are logged."""
    await async_set_up_and_ride(bikes)
    await bikes.poll(11)
    database, now = bikes.coordinator.database, dt_util.utcnow()
    with full_disk(file_of(bikes.hass, bikes.entry)):
        for _ in range(4):
            await bikes.poll(400)
            await async_ride(bikes)
        await async_raise_alarm(bikes)
        await bikes.poll()
        rides = await database.rides(RED, now - DAY, now + DAY)
        assert len(rides) == 5
        assert (await database.async_info())["is_failing"]
    assert len(rides_in(bikes.hass, bikes.entry)) == 1
    [line] = [line for line in caplog.messages if "database" in line]
    assert line.startswith(f"{bikes.entry.title}: The database cannot be written (")
    await bikes.poll(58)
    assert not has_alarm(bikes)
    await bikes.poll(3)
    assert has_alarm(bikes)
    assert starts(rides_in(bikes.hass, bikes.entry)) == starts(rides)
    assert f"{bikes.entry.title}: The database can be written again" in caplog.messages
    assert (await database.async_info())["is_failing"] is False


async def test_damage_meanwhile(ready: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """If the file is damaged while Home Assistant runs, a new file gets all states, and the backfill begins again.

    If the damaged file cannot be renamed, the next write tries again.
    """
    arm(ready, RED)
    await ready.poll(11)
    file, database = file_of(ready.hass, ready.entry), ready.coordinator.database
    rows = [row(number * HOUR) for number in range(1, 1_000)]

    async def async_damage() -> None:
        store(ready.hass, ready.entry, rows)
        await database.async_hold()
        database.async_release()
        with file.open("r+b") as content:
            content.write(b"\xff" * file.stat().st_size)

    await async_damage()
    database.content.backfill[RED], now = None, dt_util.utcnow()
    with (
        patch.object(Path, "replace", side_effect=PermissionError),
        pytest.raises(HomeAssistantError) as err,
    ):
        await database.rides(RED, now - DAY, now)
    assert err.value.translation_key == "database_not_readable"
    await database.async_write()
    assert await database.rides(RED, now - DAY, now) == []
    await async_raise_alarm(ready)
    await ready.poll(61)
    [issue] = ir.async_get(ready.hass).issues.values()
    assert issue.translation_key == "database_replaced"
    assert state_in(ready.hass, ready.entry)["guard"]
    untils = dict(query(file, "SELECT unique_id, backfill FROM tracker"))
    assert untils.keys() == {RED, BLUE}
    # Changes after a query that renames the file are written, too.
    await async_damage()
    with pytest.raises(HomeAssistantError):
        await database.rides(RED, now - DAY, now)
    await async_raise_alarm(ready)
    assert "Unexpected error" not in caplog.text
    assert datetime.fromisoformat(json.loads(untils[RED])) == now


# Backups


async def test_backup(ready: Bikes, tmp_path: Path) -> None:
    """During a backup, the database file is complete and does not change. Changes are written after the backup."""
    await async_raise_alarm(ready)
    await backup.async_pre_backup(ready.hass)
    file = file_of(ready.hass, ready.entry)
    copy = tmp_path / "copy.db"
    copy.write_bytes(file.read_bytes())
    ready.simulator.report(RED, attributes={"alarm": "tow"})
    await ready.poll(4_000)
    now, database = dt_util.utcnow(), ready.coordinator.database
    await database.async_book(RED, [Ride(now, now + HOUR, 1.0)], now)
    await database.async_write()
    assert "tow" not in str(state_in(ready.hass, ready.entry))
    assert copy.read_bytes() == file.read_bytes()
    [(state,)] = query(copy, "SELECT state FROM tracker WHERE unique_id = ?", RED)
    assert "sos" in str(sql.unpacked(state))
    await backup.async_post_backup(ready.hass)
    await ready.poll(11)
    assert "tow" in str(state_in(ready.hass, ready.entry))
    assert len(rides_in(ready.hass, ready.entry)) == 1


async def test_backup_with_a_slow_disk(
    hass: HomeAssistant, entry: MockConfigEntry, caplog: pytest.LogCaptureFixture
) -> None:
    """A backup waits for the disk only for a limited time. Changes that it misses are written after the backup."""
    await async_setup(hass, entry)
    coordinator, never = entry.runtime_data.coordinator, asyncio.Event().wait
    await coordinator.database.async_write()
    coordinator.async_set_changes(coordinator.data.arm(RED, dt_util.utcnow()))
    with (
        patch.object(backup, "BACKUP_TIMEOUT_SECONDS", 0.01),
        patch.object(hass, "async_add_executor_job", lambda *_: never()),
    ):
        await backup.async_pre_backup(hass)
    assert f"{entry.title}: The backup may miss the last minutes" in caplog.messages
    await backup.async_post_backup(hass)
    await coordinator.database.async_write()
    assert state_in(hass, entry)["guard"]


async def test_canceled_booking(ready: Bikes) -> None:
    """If Home Assistant stops before rides of the backfill are written, its last write contains them."""
    database, now = ready.coordinator.database, dt_util.utcnow()
    never, until = asyncio.Event().wait, now - DAY
    with patch.object(ready.hass, "async_add_executor_job", lambda *_: never()):
        rides = [Ride(now - HOUR, now, 1.0)]
        booking = asyncio.create_task(database.async_book(RED, rides, until))
        await asyncio.sleep(0)
        booking.cancel()
        await asyncio.wait([booking])
    file = await async_unload(ready)
    assert rides_in(ready.hass, ready.entry) == rides
    [(stored,)] = query(file, "SELECT backfill FROM tracker WHERE unique_id = ?", RED)
    assert datetime.fromisoformat(json.loads(stored)) == until


async def test_closed_file(ready: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """A closed database reads rides, but never changes its file: a write or a backup does nothing, and logs no error."""
    database, now = ready.coordinator.database, dt_util.utcnow()
    store(ready.hass, ready.entry, [row(HOUR)])
    file = await async_unload(ready)
    assert len(await database.rides(RED, now - DAY, now)) == 1
    await database.async_write()
    await database.async_hold()
    assert state_in(ready.hass, ready.entry)
    file.write_bytes(b"\xff" * file.stat().st_size)
    for error in ("file is not a database", "unable to open database file"):
        with pytest.raises(HomeAssistantError, match=error) as err:
            await database.rides(RED, now - DAY, now)
        assert err.value.translation_key == "database_not_readable"
        assert [*file.parent.iterdir()] == [file][: file.exists()]
        file.unlink(missing_ok=True)
    assert "cannot be written" not in caplog.text


# Import of the files of 2.0


def of_2_0() -> Any:
    """Return the content of files of 2.0.0: two finished rides, a ride under way, and a guarded bike."""
    return json.loads(Path(__file__).with_name("of_2_0.json").read_text("utf-8"))


def write_2_0(bikes: Bikes, files: dict[str, Any]) -> list[Path]:
    """Write files of version 2.0: `states`, `rides` or both. Return their paths."""
    storage = folder_of(bikes.hass).parent
    storage.mkdir(exist_ok=True)
    states = f"{DOMAIN}.{bikes.entry.entry_id}"
    paths = {"states": storage / states, "rides": storage / f"{states}.rides"}
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        paths[name].write_text(text)
    return [paths[name] for name in files]


@pytest.fixture
def with_2_0(bikes: Bikes) -> Bikes:
    """Set the clock to the time of the files of 2.0, let all requests to the service fail, and return the bikes."""
    bikes.freezer.move_to("2026-11-20T13:00:00+00:00")
    bikes.simulator.fault("status-503")
    return bikes


async def test_import(with_2_0: Bikes) -> None:
    """States, guards, rides, `last_fired` and `backfill` are imported once. Then the files are deleted."""
    files = write_2_0(with_2_0, of_2_0())
    content, rides = await async_opened(with_2_0)
    assert not [file for file in files if file.exists()]
    red, blue = content.states[RED], content.states[BLUE]
    assert red.position
    assert red.position.latitude == pytest.approx(49.4415786)
    assert [alarm.word for alarm in red.alarms] == ["vibration"]
    assert blue.guard
    assert blue.guard.armed_at == datetime(2026, 11, 20, 12, 55, 25, tzinfo=UTC)
    assert content.last_fired == {RED: 11, BLUE: 0}
    assert content.backfill.keys() == {RED, BLUE}
    assert [round(ride.distance, 2) for ride in rides[-2:]] == [1.67, 1.58]
    # If Home Assistant is killed before the files are deleted, the next start adds no
    # ride twice.
    for left in ([], ["states"], ["rides"], ["states", "rides"]):
        write_2_0(with_2_0, {name: of_2_0()[name] for name in left})
        after, again = await async_opened(with_2_0)
        assert (again, after.states[BLUE].guard) == (rides, blue.guard)
        assert not [file for file in files if file.exists()]


async def test_used_2_0_again(with_2_0: Bikes) -> None:
    """If 2.0 writes files again, its new ride is added, and its states, which were shown last, replace the stored states."""
    write_2_0(with_2_0, of_2_0())
    _, before = await async_opened(with_2_0)
    files = of_2_0()
    trackers = files["states"]["data"]["trackers"]
    del trackers[BLUE]["guard"]
    trackers[BLUE]["ride_state"]["total"] = 9
    trackers[RED]["ride_state"] |= {"total": None, "highest_total": 2}
    [first, *_] = files["rides"]["data"]["rides"]
    for name, hour in (("started_at", 12), ("moved_at", 13)):
        first["ride"][name] = f"2026-10-01T{hour}:00:00Z"
    write_2_0(with_2_0, files)
    content, rides = await async_opened(with_2_0)
    assert len(rides) == len(before) + 1
    blue, red = content.states[BLUE], content.states[RED]
    assert (blue.guard, blue.ride_state.total, blue.highest_total) == (None, 9, 9)
    assert red.highest_total == 2


@pytest.mark.parametrize(
    ("place", "value", "left", "words"),
    [
        # The file of states also has the newest rides, because 2.0 wrote the file of
        # rides only each hour. So no ride is lost here.
        ("rides.data.rides", [], BOTH, ""),
        ("rides.data.rides", [{"tracker": RED, "ride": {}}], BOTH, "importing a ride"),
        ("rides.data.rides", 7, BOTH, ""),
        ("rides.data.backfill", [3], BOTH, ""),
        (f"states.data.trackers.{BLUE}.online", 7, {RED}, "importing a tracker"),
        ("states.data.last_fired", 7, BOTH, ""),
        ("states", "{", set(), "cannot be read (JSON"),
        ("rides", {"version": 1, "data": [7]}, BOTH, "cannot be read ("),
        # Bike Tracker 1.2 wrote files with another `version`. They are ignored, and
        # nothing is logged.
        ("states.version", 1, set(), ""),
        ("rides.version", 2, BOTH, ""),
    ],
)
async def test_import_of_damaged_files(
    with_2_0: Bikes,
    caplog: pytest.LogCaptureFixture,
    place: str,
    value: Any,
    left: set[str],
    words: str,
) -> None:
    """A file with an unreadable part is renamed, and the rest of it is imported. `left` has the imported trackers."""
    files = of_2_0()
    *parts, last = place.split(".")
    reduce(dict.__getitem__, parts, files)[last] = value
    paths = write_2_0(with_2_0, files)
    content, rides = await async_opened(with_2_0)
    assert (content.states.keys(), len(rides)) == (left, 2)
    assert not [path for path in paths if path.exists()]
    asides = [path.with_name(f"{path.name}.unreadable") for path in paths]
    damaged = [place.startswith(name) and bool(words) for name in files]
    assert [aside.exists() for aside in asides] == damaged
    lines = [it for it in caplog.messages if it.startswith(with_2_0.entry.title)]
    assert words in "".join(lines)
    assert bool(lines) is bool(words)


async def test_import_that_cannot_be_read(with_2_0: Bikes) -> None:
    """If a file of 2.0 cannot be opened, the set-up is tried again later. The file stays, and no guard is disarmed."""
    states, _ = write_2_0(with_2_0, of_2_0())
    text = states.read_text()
    states.unlink()
    states.mkdir()
    await async_setup(with_2_0.hass, with_2_0.entry)
    assert with_2_0.entry.error_reason_translation_key == "database_not_ready"
    states.rmdir()
    states.write_text(text)
    with_2_0.simulator.fault(None)
    await with_2_0.poll()
    assert with_2_0.entry.state is ConfigEntryState.LOADED
    assert guard_of(with_2_0, BLUE) == ARMED
