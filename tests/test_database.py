"""The database: what survives, when it is written, and what a bad file costs."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
import json
from pathlib import Path
import sqlite3
from time import sleep
from typing import Any
from unittest.mock import patch
import zlib

from homeassistant.components.alarm_control_panel import AlarmControlPanelState
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import (
    ATTR_ENTITY_ID,
    EVENT_HOMEASSISTANT_FINAL_WRITE,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
    Platform,
)
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er, issue_registry as ir
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
    async_fire_time_changed,
)

from custom_components.bike_tracker import backup
from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.database import Content, Database, file as sql
from custom_components.bike_tracker.tracking.ride_state import Ride

from .books import (
    file_of,
    files_in,
    folder_of,
    full_disk,
    query,
    rides_in,
    row,
    state_in,
    store,
)
from .conftest import BLUE, BOB, PASSWORD, RED, Bikes, MakeEntry, async_setup
from .riding import async_ride, go, riding, standing

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
ARMED = AlarmControlPanelState.ARMED_AWAY
DISARMED = AlarmControlPanelState.DISARMED

type Damage = Callable[[Path], None]


def database_of(entry: MockConfigEntry) -> Database:
    """Return the open database of an account."""
    database: Database = entry.runtime_data.coordinator.database
    return database


def starts(rides: list[Ride]) -> list[datetime]:
    """Return when rides started."""
    return [ride.started_at for ride in rides]


def guard_of(bikes: Bikes, tracker: str) -> str | None:
    """Return the state of a guard."""
    return bikes.value_of(f"{tracker}_guard", Platform.ALARM_CONTROL_PANEL)


async def async_arm(bikes: Bikes, tracker: str) -> None:
    """Guard a bike."""
    entity_id = er.async_get(bikes.hass).async_get_entity_id(
        Platform.ALARM_CONTROL_PANEL, DOMAIN, f"{tracker}_guard"
    )
    data = {ATTR_ENTITY_ID: entity_id}
    domain = Platform.ALARM_CONTROL_PANEL
    await bikes.hass.services.async_call(domain, "alarm_arm_away", data, blocking=True)


async def async_raise_alarm(bikes: Bikes) -> None:
    """Let a tracker raise an alarm, which is not written yet."""
    bikes.simulator.report(RED, attributes={"alarm": "sos"})
    await bikes.entry.runtime_data.coordinator.async_refresh()


def has_alarm(bikes: Bikes) -> bool:
    """Return whether the file has this alarm."""
    return "sos" in str(state_in(bikes.hass, bikes.entry).get("alarms"))


async def async_pass(bikes: Bikes, seconds: float) -> None:
    """Let time pass for timers."""
    bikes.freezer.tick(timedelta(seconds=seconds))
    async_fire_time_changed(bikes.hass)
    await bikes.hass.async_block_till_done(wait_background_tasks=True)


async def async_kill(bikes: Bikes) -> None:
    """Cut Home Assistant off: reload the account with the files as they are now."""
    folder = folder_of(bikes.hass)
    files = {file: file.read_bytes() for file in folder.iterdir()}
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    for file in folder.iterdir():
        file.unlink()
    for file, content in files.items():
        file.write_bytes(content)
    await async_setup(bikes.hass, bikes.entry)


# What survives


async def test_everything_survives_a_reload(bikes: Bikes) -> None:
    """States, rides, guards and progress are the same after a reload."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    await async_ride(bikes.simulator, bikes.poll)
    await async_arm(bikes, BLUE)
    before = database_of(bikes.entry).content
    last_fired, evaluation = dict(before.last_fired), before.evaluation
    guard, alarms = before.trackers[BLUE].guard, before.trackers[RED].alarms
    backfill = dict(before.backfill)
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    with patch.object(bikes.simulator, "fault"):
        bikes.simulator.fault("status-503")
        database = Database(bikes.hass, bikes.entry)
        await database.async_open()
    after = database.content
    await database.async_close()
    assert after.last_fired == {BLUE: 0} | last_fired
    assert after.evaluation == evaluation
    assert (after.trackers[BLUE].guard, after.trackers[RED].alarms) == (guard, alarms)
    assert after.backfill == backfill


async def test_ride_is_kept(bikes: Bikes) -> None:
    """A ride is in the file as it was fired, with its places."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    bikes.simulator.override_position(RED, "address", "Am Bach 3")
    await async_ride(bikes.simulator, bikes.poll)
    fired = bikes.state_of(f"{RED}_ride", Platform.EVENT)
    assert fired is not None
    await async_pass(bikes, 11)
    [ride] = rides_in(bikes.hass, bikes.entry)
    assert ride.started_at.isoformat() == fired.attributes["started_at"]
    assert ride.moved_at.isoformat() == fired.attributes["ended_at"]
    assert ride.distance == pytest.approx(fired.attributes["distance"], abs=0.05)
    assert ride.maximum_speed == pytest.approx(fired.attributes["maximum_speed"], 0.1)
    assert ride.start
    assert ride.end
    north = ride.end.latitude - ride.start.latitude
    assert north == pytest.approx(1_000 / 111_195, abs=1e-5)
    assert ride.end.address == "Am Bach 3"


async def test_kill_loses_no_ride(bikes: Bikes) -> None:
    """Five rides of less than an hour, of which the service forgets the history."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    for _ in range(5):
        for number in range(10):
            way = riding(100) if number < 3 else standing(100)
            go(bikes.simulator, 250 if number < 3 else 0, **way)
            await bikes.poll(60)
    await async_pass(bikes, 11)
    bikes.simulator.fault("status-404", path="history")
    await async_kill(bikes)
    assert len(rides_in(bikes.hass, bikes.entry)) == 5


async def test_rides_before_the_next_write(bikes: Bikes) -> None:
    """Queries return rides that are over, written or not."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    await async_ride(bikes.simulator, bikes.poll)
    database, now = database_of(bikes.entry), dt_util.utcnow()
    await database.async_hold()
    await bikes.poll(400)
    await async_ride(bikes.simulator, bikes.poll)
    assert len(rides_in(bikes.hass, bikes.entry)) == 1
    rides = await database.rides(RED, now - DAY, now + DAY)
    assert len(rides) == 2
    assert await database.last_ride(RED) == rides[-1]
    assert await database.rides(RED, now - DAY, rides[1].started_at) == rides[:1]
    database.async_release()
    await async_pass(bikes, 11)
    assert starts(rides_in(bikes.hass, bikes.entry)) == starts(rides)
    last = await database.last_ride(RED)
    assert last
    assert starts([last]) == starts(rides[-1:])
    assert await database.last_ride(BLUE) is None


@pytest.mark.usefixtures("freezer")
async def test_no_limit(bikes: Bikes) -> None:
    """Rides are kept for as long as their tracker is, however many there are."""
    rows = [row(number * HOUR) for number in range(1, 6_001)]
    store(bikes.hass, bikes.entry, [*rows, row(3_000 * DAY)])
    await async_setup(bikes.hass, bikes.entry)
    await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)
    now = dt_util.utcnow()
    rides = await database_of(bikes.entry).rides(RED, now - 4_000 * DAY, now)
    assert len(rides) == 6_001


async def test_setup_reads_a_ride_a_tracker(bikes: Bikes) -> None:
    """A large book costs neither memory nor time: only the last ride is read."""
    rows = [row(n * HOUR, tracker) for n in range(1, 500) for tracker in (RED, BLUE)]
    store(bikes.hass, bikes.entry, rows)
    with patch.object(sql, "_ride", wraps=sql._ride) as read:  # noqa: SLF001
        await async_setup(bikes.hass, bikes.entry)
    assert read.call_count == 2


# When it is written


@pytest.mark.usefixtures("setup")
async def test_how_often_it_is_written(bikes: Bikes) -> None:
    """Within seconds of an event or arming, minutes of a flag, an hour of any report."""

    def battery() -> object:
        return state_in(bikes.hass, bikes.entry)["position"].get("battery_level")

    await async_pass(bikes, 400)
    for number in range(20):
        bikes.simulator.report(RED, attributes={"batteryLevel": number})
        await bikes.poll(120)
    assert battery() == 80
    await bikes.poll(1_500)
    assert battery() == 19

    refresh = bikes.entry.runtime_data.coordinator.async_refresh
    bikes.simulator.report(RED, attributes={"batteryLevel": 1, "alarm": "sos"})
    await refresh()
    # A write that may wait longer does not put it off.
    bikes.simulator.report(RED, attributes={"batteryLevel": 2})
    await refresh()
    await async_pass(bikes, 8)
    assert battery() == 19
    await async_pass(bikes, 3)
    assert battery() == 2
    assert has_alarm(bikes)

    # An arming does not wait for a write that is due later.
    bikes.simulator.report(RED, attributes={"batteryLevel": 3})
    await refresh()
    await async_arm(bikes, RED)
    await async_pass(bikes, 11)
    assert state_in(bikes.hass, bikes.entry)["guard"]

    bikes.simulator.set_status(RED, "offline")
    await refresh()
    await async_pass(bikes, 11)
    assert state_in(bikes.hass, bikes.entry)["online"]["value"] is True
    await async_pass(bikes, 300)
    assert state_in(bikes.hass, bikes.entry)["online"]["value"] is False


async def test_ride_under_way(bikes: Bikes) -> None:
    """Reports of a ride under way are written within five minutes."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll()
    go(bikes.simulator, 500, **riding(100.5))
    await bikes.poll(100)
    go(bikes.simulator, 500, **riding(101))
    await bikes.poll(61)
    latitude = state_in(bikes.hass, bikes.entry)["position"]["latitude"]
    go(bikes.simulator, 500, **riding(101.5))
    await bikes.poll(61)
    await bikes.poll(300)
    now = state_in(bikes.hass, bikes.entry)["position"]["latitude"]
    assert now > latitude


@pytest.mark.usefixtures("setup")
async def test_occurrence_before_home_assistant_runs(bikes: Bikes) -> None:
    """An alarm that may not be fired yet is written within ten seconds too."""
    await bikes.poll(4_000)
    bikes.hass.set_state(CoreState.starting)
    await async_raise_alarm(bikes)
    await async_pass(bikes, 11)
    bikes.hass.set_state(CoreState.running)
    assert has_alarm(bikes)


@pytest.mark.usefixtures("setup")
async def test_progress_is_written_with_its_rides(bikes: Bikes) -> None:
    """A kill after rides from before were booked requests no day again."""
    await bikes.poll(4_000)
    until = dt_util.utcnow() - 4 * DAY
    ride = Ride(until + HOUR, until + 2 * HOUR, 1.0)
    await database_of(bikes.entry).async_book(RED, [ride], until)
    await async_kill(bikes)
    content = database_of(bikes.entry).content
    assert (content.backfill[RED], content.last_rides[RED]) == (until, ride)


@pytest.mark.usefixtures("setup")
async def test_commits_reach_the_disk(bikes: Bikes) -> None:
    """SQLite waits for the disk with each commit: a power cut loses no transaction."""
    file = database_of(bikes.entry)._file  # noqa: SLF001
    mode = file.run(lambda it: it.execute("PRAGMA synchronous").fetchone())
    assert mode == (2,)


@pytest.mark.usefixtures("setup")
async def test_only_changed_trackers_are_written(bikes: Bikes) -> None:
    """The row of a tracker that did not change stays as it is."""
    await async_pass(bikes, 11)
    mark = "UPDATE tracker SET last_fired = 77 WHERE unique_id = ?"
    query(file_of(bikes.hass, bikes.entry), mark, BLUE)
    await async_raise_alarm(bikes)
    await async_pass(bikes, 11)
    rows = dict(
        query(
            file_of(bikes.hass, bikes.entry),
            "SELECT unique_id, last_fired FROM tracker",
        )
    )
    assert rows[BLUE] == 77
    assert rows[RED] != 77


@pytest.mark.usefixtures("setup")
async def test_slow_disk(bikes: Bikes) -> None:
    """A reload waits for the write under way: nothing is fired twice."""
    await bikes.poll(4_000)
    disk, run = asyncio.Event(), bikes.hass.async_add_executor_job
    file = database_of(bikes.entry)._file  # noqa: SLF001

    waits = [disk.wait()]

    async def slow(target: Any, *args: Any) -> Any:
        if target == file.run and waits:
            await waits.pop()
        return await run(target, *args)

    with patch.object(bikes.hass, "async_add_executor_job", slow):
        events = async_capture_events(bikes.hass, "state_changed")
        await async_raise_alarm(bikes)
        bikes.freezer.tick(11)
        async_fire_time_changed(bikes.hass)
        reload = bikes.hass.async_create_task(
            bikes.hass.config_entries.async_reload(bikes.entry.entry_id),
            eager_start=True,
        )
        await asyncio.to_thread(sleep, 0.5)
        assert not reload.done()
        disk.set()
        await reload
    for _ in range(3):
        await bikes.poll()
    states = [event.data["new_state"] for event in events]
    fired = {
        state.state
        for state in states
        if state and state.entity_id == "event.red_bike_alarm"
    } - {STATE_UNKNOWN, STATE_UNAVAILABLE}
    assert len(fired) == 1


@pytest.mark.usefixtures("setup")
async def test_failed_setup(bikes: Bikes) -> None:
    """The file is closed before Home Assistant sets the account up again."""
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    seen, log = list[tuple[ConfigEntryState, bool]](), file_of(bikes.hass, bikes.entry)
    log = log.with_name(f"{log.name}-wal")
    bikes.entry.async_on_state_change(
        lambda: seen.append((bikes.entry.state, log.exists()))
    )
    bikes.simulator.fault("status-503")
    await async_setup(bikes.hass, bikes.entry)
    # SQLite deletes the log once nothing has the file open.
    assert seen[-1] == (ConfigEntryState.SETUP_RETRY, False)


@pytest.mark.parametrize("how", ["unload", "final write"])
@pytest.mark.usefixtures("setup")
async def test_stop(bikes: Bikes, how: str) -> None:
    """All that is known is written when Home Assistant stops."""
    await async_raise_alarm(bikes)
    bikes.hass.set_state(CoreState.stopping)
    if how == "unload":
        await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    bikes.hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
    await bikes.hass.async_block_till_done()
    bikes.hass.set_state(CoreState.running)
    assert has_alarm(bikes)


# Deleted means deleted


def holds(hass: HomeAssistant, *texts: str) -> set[str]:
    """Return which texts the files contain."""
    content = b"".join(file.read_bytes() for file in folder_of(hass).iterdir())
    return {text for text in texts if text.encode() in content}


@pytest.mark.usefixtures("setup")
async def test_removed_tracker(bikes: Bikes) -> None:
    """Ten seconds after its device is deleted nothing of a tracker is on the disk."""
    rows = [row(number * HOUR, BLUE) for number in range(1, 60)]
    await async_pass(bikes, 11)
    store(bikes.hass, bikes.entry, [*rows, row(HOUR)])
    assert holds(bikes.hass, RED, BLUE) == {RED, BLUE}
    bikes.entry.runtime_data.async_forget(BLUE)
    now = dt_util.utcnow()
    assert await database_of(bikes.entry).rides(BLUE, now - 9 * DAY, now) == []
    assert await database_of(bikes.entry).last_ride(BLUE) is None
    await async_pass(bikes, 10)
    assert holds(bikes.hass, RED, BLUE) == {RED}
    await async_kill(bikes)
    assert rides_in(bikes.hass, bikes.entry, BLUE) == []
    assert len(rides_in(bikes.hass, bikes.entry)) == 1


@pytest.mark.usefixtures("setup")
async def test_two_accounts_removed_at_once(
    bikes: Bikes, make_entry: MakeEntry, caplog: pytest.LogCaptureFixture
) -> None:
    """No file of either account is left."""
    bikes.simulator.add_account(BOB, PASSWORD)
    bikes.simulator.assign(BOB, RED)
    other = make_entry(BOB)
    await async_setup(bikes.hass, other)
    aside = file_of(bikes.hass, other).with_suffix(".db.20260101T000000.000000Z")
    aside.touch()
    (folder_of(bikes.hass).parent / f"{DOMAIN}.{other.entry_id}.unreadable").touch()
    await bikes.poll(400)
    assert files_in(bikes.hass)
    remove = bikes.hass.config_entries.async_remove
    await asyncio.gather(remove(bikes.entry.entry_id), remove(other.entry_id))
    await bikes.poll(400)
    assert not files_in(bikes.hass)
    assert "Error" not in caplog.text


# Files that cannot be used


def _is_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _is_read_only(file: Path) -> None:
    # The folder of a file system that lets nobody create a file.
    for each in file.parent.iterdir():
        each.unlink()
    file.parent.rmdir()
    file.parent.symlink_to("/sys")


def _is_newer(file: Path) -> None:
    query(file, "PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("damage", "state", "reason"),
    [
        (_is_folder, ConfigEntryState.SETUP_RETRY, "database_not_ready"),
        (_is_read_only, ConfigEntryState.SETUP_RETRY, "database_not_ready"),
        (_is_newer, ConfigEntryState.SETUP_ERROR, "newer_database"),
    ],
)
@pytest.mark.usefixtures("setup")
async def test_file_that_stays(
    bikes: Bikes, damage: Damage, state: ConfigEntryState, reason: str
) -> None:
    """The account waits or refuses; nothing is renamed or deleted."""
    entry, file = bikes.entry, file_of(bikes.hass, bikes.entry)
    await bikes.hass.config_entries.async_unload(entry.entry_id)
    damage(file)
    before = file.read_bytes() if file.is_file() else None
    await async_setup(bikes.hass, entry)
    assert entry.state is state
    assert entry.error_reason_translation_key == reason
    assert (file.read_bytes() if file.is_file() else None) == before
    assert not ir.async_get(bikes.hass).issues


@pytest.mark.usefixtures("setup")
async def test_locked_file(bikes: Bikes) -> None:
    """A guard stays armed although another program locks the file at start-up."""
    await async_arm(bikes, RED)
    entry, file = bikes.entry, file_of(bikes.hass, bikes.entry)
    await bikes.hass.config_entries.async_unload(entry.entry_id)
    with (
        patch.object(sql, "BUSY_SECONDS", 0.01),
        closing(sqlite3.connect(file)) as other,
    ):
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        await async_setup(bikes.hass, entry)
        assert entry.reason
    await bikes.poll()
    assert entry.state is ConfigEntryState.LOADED
    assert guard_of(bikes, RED) == ARMED


def _is_no_database(file: Path) -> None:
    file.write_text("the state" * 1_000)


def _is_cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:4_500])


def _is_of_another_program(file: Path) -> None:
    file.unlink()
    query(file, "CREATE TABLE tracker (name TEXT)")


@pytest.mark.parametrize("damage", [_is_no_database, _is_cut, _is_of_another_program])
@pytest.mark.usefixtures("setup")
async def test_malformed_file(bikes: Bikes, damage: Damage) -> None:
    """It is renamed, a new one begins, and a repair issue names it while it exists."""
    entry, file = bikes.entry, file_of(bikes.hass, bikes.entry)
    asides = []
    for number in range(2):
        await async_arm(bikes, RED)
        await bikes.hass.config_entries.async_unload(entry.entry_id)
        damage(file)
        before = file.read_bytes()
        await async_setup(bikes.hass, entry)
        assert entry.state is ConfigEntryState.LOADED
        assert guard_of(bikes, RED) == DISARMED
        asides = sorted(file.parent.glob(f"{file.name}.*Z"))
        assert len(asides) == number + 1
        assert asides[-1].read_bytes() == before
        [issue] = ir.async_get(bikes.hass).issues.values()
        assert issue.translation_key == "database_replaced"
        assert issue.translation_placeholders
        assert issue.translation_placeholders["file"] == str(asides[-1])
        bikes.freezer.tick(1)
    for aside in asides:
        aside.unlink()
    await bikes.hass.config_entries.async_reload(entry.entry_id)
    assert not ir.async_get(bikes.hass).issues


@pytest.mark.usefixtures("setup")
async def test_empty_file(bikes: Bikes) -> None:
    """It is a new one: a kill may leave it so while the first one is created."""
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    file_of(bikes.hass, bikes.entry).write_bytes(b"")
    await async_setup(bikes.hass, bikes.entry)
    assert bikes.entry.state is ConfigEntryState.LOADED
    assert not ir.async_get(bikes.hass).issues


@pytest.mark.parametrize("text", ["", "{", '{"online": 7}', '{"guard": {}}'])
@pytest.mark.usefixtures("setup")
async def test_row_that_is_not_readable(
    bikes: Bikes, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    """It costs that tracker's state; others and all rides stay."""
    await async_arm(bikes, RED)
    await async_arm(bikes, BLUE)
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    file = file_of(bikes.hass, bikes.entry)
    state = zlib.compress(text.encode()) if text else b""
    query(file, "UPDATE tracker SET state = ? WHERE unique_id = ?", state, BLUE)
    query(file, "INSERT OR REPLACE INTO account VALUES ('evaluated_at', '7')")
    store(bikes.hass, bikes.entry, [row(HOUR, BLUE)])
    await async_setup(bikes.hass, bikes.entry)
    assert (guard_of(bikes, RED), guard_of(bikes, BLUE)) == (ARMED, DISARMED)
    assert "Unexpected error reading a tracker" in caplog.text
    assert len(rides_in(bikes.hass, bikes.entry, BLUE)) == 1
    assert not ir.async_get(bikes.hass).issues


async def test_tracker_that_cannot_be_stored(
    bikes: Bikes, caplog: pytest.LogCaptureFixture
) -> None:
    """It costs no other tracker."""
    await async_setup(bikes.hass, bikes.entry)
    database = database_of(bikes.entry)
    database.content.trackers[BLUE] = 7  # type: ignore[assignment]
    await async_raise_alarm(bikes)
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    assert has_alarm(bikes)
    assert "Unexpected error storing a tracker" in caplog.text


@pytest.mark.usefixtures("setup")
async def test_full_disk(bikes: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """Everything stays in memory, is tried again, and is logged once."""
    await async_pass(bikes, 4_000)
    file = file_of(bikes.hass, bikes.entry)
    await async_raise_alarm(bikes)
    with full_disk(file):
        for _ in range(5):
            await async_pass(bikes, 61)
        now = dt_util.utcnow()
        assert await database_of(bikes.entry).rides(RED, now - DAY, now) == []
    assert not has_alarm(bikes)
    lines = [line for line in caplog.messages if "database" in line]
    assert len(lines) == 1
    assert "cannot be written" in lines[0]
    await async_pass(bikes, 61)
    assert has_alarm(bikes)
    assert "can be written again" in caplog.text


async def test_rides_while_the_disk_is_full(bikes: Bikes) -> None:
    """Rides of a full disk are answered, and written once in the end."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    await async_ride(bikes.simulator, bikes.poll)
    await async_pass(bikes, 11)
    database, now = database_of(bikes.entry), dt_util.utcnow()
    with full_disk(file_of(bikes.hass, bikes.entry)):
        for _ in range(4):
            await bikes.poll(400)
            await async_ride(bikes.simulator, bikes.poll)
        rides = await database.rides(RED, now - DAY, now + DAY)
        assert len(rides) == 5
        # Rides from before come again, once there is room.
        old = Ride(now - 3 * DAY, now - 3 * DAY + HOUR, 1.0)
        until = database.content.backfill[RED]
        await database.async_book(RED, [old], now - 4 * DAY)
        assert database.content.backfill[RED] == until
    assert len(rides_in(bikes.hass, bikes.entry)) == 1
    await async_pass(bikes, 61)
    assert starts(rides_in(bikes.hass, bikes.entry)) == starts(rides)


@pytest.mark.usefixtures("setup")
async def test_file_that_is_damaged_while_running(bikes: Bikes) -> None:
    """States are written to a new file, and rides of the last 30 days come again."""
    await async_arm(bikes, RED)
    await async_pass(bikes, 11)
    file, database = file_of(bikes.hass, bikes.entry), database_of(bikes.entry)
    store(bikes.hass, bikes.entry, [row(number * HOUR) for number in range(1, 1_000)])
    await database.async_hold()
    database.async_release()
    with file.open("r+b") as content:
        content.write(b"\xff" * file.stat().st_size)
    database.content.backfill[RED], now = None, dt_util.utcnow()
    with pytest.raises(HomeAssistantError) as err:
        await database.rides(RED, now - DAY, now)
    assert err.value.translation_key == "database_not_readable"
    assert await database.rides(RED, now - DAY, now) == []
    await async_raise_alarm(bikes)
    await async_pass(bikes, 61)
    assert [it.translation_key for it in ir.async_get(bikes.hass).issues.values()] == [
        "database_replaced"
    ]
    assert state_in(bikes.hass, bikes.entry)["guard"]
    await async_kill(bikes)
    assert guard_of(bikes, RED) != DISARMED
    assert database_of(bikes.entry).content.backfill[RED] == now


# Backups


@pytest.mark.usefixtures("setup")
async def test_backup(bikes: Bikes, tmp_path: Path) -> None:
    """The file alone has everything, and does not change until the backup is made."""
    await async_raise_alarm(bikes)
    await backup.async_pre_backup(bikes.hass)
    file = file_of(bikes.hass, bikes.entry)
    copy = tmp_path / "copy.db"
    copy.write_bytes(file.read_bytes())
    bikes.simulator.report(RED, attributes={"alarm": "tow"})
    await bikes.poll(4_000)
    # A history answer of the backfill does not wait: other trackers need the history.
    now, database = dt_util.utcnow(), database_of(bikes.entry)
    until = database.content.backfill[RED]
    assert not await database.async_book(RED, [Ride(now, now + HOUR, 1.0)], now)
    assert database.content.backfill[RED] == until
    await database.async_write()
    assert "tow" not in str(state_in(bikes.hass, bikes.entry))
    assert copy.read_bytes() == file.read_bytes()
    [(state,)] = query(copy, "SELECT state FROM tracker WHERE unique_id = ?", RED)
    assert "sos" in str(sql.unpacked(state))
    await backup.async_post_backup(bikes.hass)
    await async_pass(bikes, 11)
    assert "tow" in str(state_in(bikes.hass, bikes.entry))


@pytest.mark.usefixtures("setup")
async def test_stop_during_a_backup(bikes: Bikes) -> None:
    """It is written all the same: later is too late."""
    await backup.async_pre_backup(bikes.hass)
    await async_raise_alarm(bikes)
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    await backup.async_post_backup(bikes.hass)
    assert has_alarm(bikes)


async def test_backup_with_a_slow_disk(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A backup does not wait for ever."""
    await async_setup(hass, entry)
    monkeypatch.setattr(backup, "BACKUP_TIMEOUT_SECONDS", 0.01)
    async with database_of(entry)._lock:  # noqa: SLF001
        await backup.async_pre_backup(hass)
    await backup.async_post_backup(hass)
    assert "may miss the last minutes" in caplog.text


async def test_write_that_a_backup_gives_up(
    hass: HomeAssistant, entry: MockConfigEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a slow disk did not write before a backup is written after it."""
    await async_setup(hass, entry)
    database = database_of(entry)
    await database.async_write()
    coordinator = entry.runtime_data.coordinator
    coordinator.async_set_guards(coordinator.data.arm(RED, dt_util.utcnow()))
    monkeypatch.setattr(backup, "BACKUP_TIMEOUT_SECONDS", 0.01)

    async def never(*_: Any) -> None:
        await asyncio.Event().wait()

    with patch.object(hass, "async_add_executor_job", never):
        await backup.async_pre_backup(hass)
    await backup.async_post_backup(hass)
    await database.async_write()
    assert state_in(hass, entry)["guard"]


@pytest.mark.usefixtures("setup")
async def test_closed_file(bikes: Bikes) -> None:
    """Who comes too late is refused; a backup does not mind."""
    database, now = database_of(bikes.entry), dt_util.utcnow()
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    with pytest.raises(HomeAssistantError) as err:
        await database.rides(RED, now - DAY, now)
    assert err.value.translation_key == "database_not_readable"
    await database.async_hold()
    await database.async_write()
    assert state_in(bikes.hass, bikes.entry)


# Import of the files of 2.0


def of_2_0() -> dict[str, Any]:
    """Return files that 2.0.0 wrote: three rides, one under way, one guarded bike."""
    text = (Path(__file__).parent / "of_2_0.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def write_2_0(bikes: Bikes, **files: Any) -> list[Path]:
    """Write files of 2.0; return their paths."""
    storage = folder_of(bikes.hass).parent
    storage.mkdir(exist_ok=True)
    names = {"states": "", "rides": ".rides"}
    paths = []
    for name, content in files.items():
        path = storage / f"{DOMAIN}.{bikes.entry.entry_id}{names[name]}"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        paths.append(path)
    return paths


@pytest.fixture
def with_2_0(bikes: Bikes) -> Bikes:
    """Return the bikes at the time of the files, while the service is down."""
    bikes.freezer.move_to("2026-11-20T13:00:00+00:00")
    bikes.simulator.fault("status-503")
    return bikes


async def async_imported(bikes: Bikes) -> tuple[Content, list[Ride]]:
    """Return what the database has once it was open, and the rides of a tracker."""
    database, now = Database(bikes.hass, bikes.entry), dt_util.utcnow()
    await database.async_open()
    rides = await database.rides(RED, now - 99 * DAY, now)
    await database.async_close()
    return database.content, rides


async def test_import(with_2_0: Bikes) -> None:
    """States, guards, rides, progress and evaluation come over; the files go."""
    files = write_2_0(with_2_0, **of_2_0())
    content, rides = await async_imported(with_2_0)
    assert not [file for file in files if file.exists()]
    red, blue = content.trackers[RED], content.trackers[BLUE]
    assert red.position
    assert red.position.latitude == pytest.approx(49.4415786)
    assert [alarm.word for alarm in red.alarms] == ["vibration"]
    assert blue.guard
    assert blue.guard.armed_at == datetime(2026, 11, 20, 12, 55, 25, tzinfo=UTC)
    assert content.last_fired == {RED: 11, BLUE: 0}
    assert content.evaluation
    assert content.evaluation.at == datetime(2026, 11, 20, 12, 57, 27, tzinfo=UTC)
    assert content.backfill.keys() == {RED, BLUE}
    assert [round(ride.distance, 2) for ride in rides[-2:]] == [1.67, 1.58]
    # Nothing is imported twice.
    assert (await async_imported(with_2_0))[1] == rides


@pytest.mark.parametrize("left", [("states",), ("rides",), ("states", "rides")])
async def test_kill_during_the_import(with_2_0: Bikes, left: tuple[str, ...]) -> None:
    """After a kill before the files are removed, the next import doubles nothing."""
    files = write_2_0(with_2_0, **of_2_0())
    before, expected = await async_imported(with_2_0)
    write_2_0(with_2_0, **{name: of_2_0()[name] for name in left})
    after, rides = await async_imported(with_2_0)
    assert rides == expected
    assert after.trackers[BLUE].guard == before.trackers[BLUE].guard
    assert not [file for file in files if file.exists()]


async def test_rides_that_only_the_states_have(with_2_0: Bikes) -> None:
    """The book of 2.0 was written hourly: its last rides are in the other file."""
    files = of_2_0()
    files["rides"]["data"]["rides"] = []
    write_2_0(with_2_0, **files)
    _, rides = await async_imported(with_2_0)
    assert len(rides) == 2


async def test_used_2_0_again(with_2_0: Bikes) -> None:
    """Rides of another time with 2.0 are added, and its states are the newer ones."""
    write_2_0(with_2_0, **of_2_0())
    _, before = await async_imported(with_2_0)
    files = of_2_0()
    del files["states"]["data"]["trackers"][BLUE]["guard"]
    [first, *_] = files["rides"]["data"]["rides"]
    first["ride"] |= {
        "started_at": "2026-10-01T12:00:00Z",
        "moved_at": "2026-10-01T13:00:00Z",
    }
    write_2_0(with_2_0, **files)
    content, rides = await async_imported(with_2_0)
    assert len(rides) == len(before) + 1
    assert content.trackers[BLUE].guard is None


def _bad_tracker(files: dict[str, Any]) -> None:
    files["states"]["data"]["trackers"][BLUE]["online"]["changed_at"] = "soon"


def _bad_ride(files: dict[str, Any]) -> None:
    files["rides"]["data"]["rides"].append({"tracker": RED, "ride": {"distance": 1}})


def _bad_parts(files: dict[str, Any]) -> None:
    files["states"]["data"] |= {"last_fired": 7, "evaluation": "never"}
    files["rides"]["data"]["backfill"] = [3]


def _no_states(files: dict[str, Any]) -> None:
    files["states"] = "{"


def _no_book(files: dict[str, Any]) -> None:
    files["rides"] = {"version": 1, "data": [7]}


def _of_1_2(files: dict[str, Any]) -> None:
    files["states"] = {"version": 1, "data": {"positions": {}}}


@pytest.mark.parametrize(
    ("damage", "trackers", "rides", "kept"),
    [
        (_bad_tracker, {RED}, 2, 0),
        (_bad_ride, {RED, BLUE}, 2, 0),
        (_bad_parts, {RED, BLUE}, 2, 0),
        (_no_states, set(), 2, 1),
        (_no_book, {RED, BLUE}, 2, 1),
        (_of_1_2, set(), 2, 0),
    ],
)
async def test_import_of_damaged_files(
    with_2_0: Bikes,
    damage: Callable[[dict[str, Any]], None],
    trackers: set[str],
    rides: int,
    kept: int,
) -> None:
    """An unreadable part costs what it holds; an unreadable file is kept."""
    files = of_2_0()
    damage(files)
    paths = write_2_0(with_2_0, **files)
    content, found = await async_imported(with_2_0)
    assert (content.trackers.keys(), len(found)) == (trackers, rides)
    assert not [path for path in paths if path.exists()]
    storage = folder_of(with_2_0.hass).parent
    assert len(list(storage.glob("*.unreadable"))) == kept


async def test_import_that_cannot_be_read(with_2_0: Bikes) -> None:
    """A read error disarms no guard: the account waits, and the files stay."""
    [states] = write_2_0(with_2_0, states=of_2_0()["states"])
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
