"""The ride book: what is kept of rides, for how long, and what becomes of it."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE, Platform
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import BLUE, RED, Bikes, StateOf, async_setup
from ..riding import async_ride, go, standing

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
TIME = "2026-11-20T12:00:00+00:00"


def row(
    ended_ago: timedelta, tracker: str = RED, duration: int = 3600, **more: Any
) -> dict[str, Any]:
    """Return a ride that ended so long ago, as it is answered."""
    ended_at = dt_util.utcnow() - ended_ago
    return {
        "tracker": tracker,
        "started_at": (ended_at - timedelta(seconds=duration)).isoformat(),
        "ended_at": ended_at.isoformat(),
        "distance": 12.3,
        "maximum_speed": 28.4,
        "start": {"latitude": 48.0, "longitude": 7.8, "address": None},
        "end": {"latitude": 48.1, "longitude": 7.9, "address": "Am Bach 3"},
        **more,
    }


def _kept(row: dict[str, Any]) -> dict[str, Any]:
    """Return a ride as it is kept."""
    ride = {key: row[key] for key in ("started_at", "distance", "maximum_speed")}
    ride["moved_at"] = row["ended_at"]
    for end in ("start", "end"):
        place = row[end]
        ride[end] = {**place, "time": TIME} if isinstance(place, dict) else place
    return {"tracker": row["tracker"], "ride": ride}


def file_of(entry: MockConfigEntry) -> str:
    """Return the name of an account's book."""
    return f"{DOMAIN}.{entry.entry_id}.rides"


def store(
    storage: dict[str, Any], entry: MockConfigEntry, rows: object, version: int = 1
) -> None:
    """Let an account have these rides from before."""
    key = file_of(entry)
    rides = [_kept(row) for row in rows] if isinstance(rows, list) else rows
    storage[key] = {"version": version, "key": key, "data": {"rides": rides}}


def rides_in(
    storage: dict[str, Any], entry: MockConfigEntry, tracker: str = RED
) -> list[dict[str, Any]]:
    """Return the rides of a tracker in the file of its account."""
    rows = storage[file_of(entry)]["data"]["rides"]
    return [row["ride"] for row in rows if row["tracker"] == tracker]


def time_of(text: str) -> datetime:
    """Return the time that a text says."""
    return datetime.fromisoformat(text)


@pytest.fixture
def storage(hass_storage: dict[str, Any]) -> dict[str, Any]:
    """Return the files."""
    return hass_storage


async def async_write(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Have the book written."""
    await hass.config_entries.async_unload(entry.entry_id)
    await hass.async_block_till_done()


async def test_ride_is_kept(bikes: Bikes, storage: dict[str, Any]) -> None:
    """Each that went anywhere, as it was told."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    bikes.simulator.override_position(RED, "address", "Am Bach 3")
    await async_ride(bikes.simulator, bikes.poll)
    fired = bikes.state_of(f"{RED}_ride", Platform.EVENT)
    assert fired is not None
    await async_write(bikes.hass, bikes.entry)

    [ride] = rides_in(storage, bikes.entry)
    for name, attribute in {"started_at": "started_at", "moved_at": "ended_at"}.items():
        assert time_of(ride[name]) == time_of(fired.attributes[attribute])
    for name in ("distance", "maximum_speed"):
        assert ride[name] == pytest.approx(fired.attributes[name], abs=0.05)
    assert ride["end"]["latitude"] - ride["start"]["latitude"] == pytest.approx(
        1_000 / 111_195, abs=1e-5
    )
    assert ride["end"]["address"] == "Am Bach 3"


async def test_written_seldom(bikes: Bikes, storage: dict[str, Any]) -> None:
    """An hour after a ride, or when Home Assistant stops; once without one."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll(4_000)
    assert rides_in(storage, bikes.entry) == []
    del storage[file_of(bikes.entry)]
    await async_ride(bikes.simulator, bikes.poll)
    assert file_of(bikes.entry) not in storage
    await bikes.poll(3_000)
    assert file_of(bikes.entry) not in storage
    await bikes.poll(600)
    assert len(rides_in(storage, bikes.entry)) == 1
    del storage[file_of(bikes.entry)]
    await bikes.poll(4_000)
    assert file_of(bikes.entry) not in storage
    await async_ride(bikes.simulator, bikes.poll)
    bikes.hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
    await bikes.hass.async_block_till_done()
    assert len(rides_in(storage, bikes.entry)) == 2


@pytest.mark.usefixtures("freezer")
async def test_limits(bikes: Bikes, storage: dict[str, Any]) -> None:
    """Three years and 5,000 rides: the oldest of all trackers go first."""
    rows = [row(number * HOUR / 10, (RED, BLUE)[number % 2]) for number in range(6_000)]
    store(storage, bikes.entry, [row(1_096 * DAY), *reversed(rows), row(1_094 * DAY)])
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    await async_ride(bikes.simulator, bikes.poll)
    await async_write(bikes.hass, bikes.entry)
    kept = [*rides_in(storage, bikes.entry), *rides_in(storage, bikes.entry, BLUE)]
    assert len(kept) == 5_000
    oldest = min(time_of(ride["moved_at"]) for ride in kept)
    assert oldest == time_of(rows[4_998]["ended_at"])


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ({"version": 1, "data": ["ride"]}, "TypeError"),
        ({"version": 1, "data": {"rides": 7}}, "TypeError"),
        ({"version": 1, "data": {"rides": [{"tracker": "1"}]}}, "TypeError"),
        ({"version": 9, "data": {"rides": []}}, "UnsupportedStorageVersionError"),
    ],
    ids=["list", "number", "half", "newer"],
)
async def test_file_that_is_not_readable(
    hass: HomeAssistant,
    storage: dict[str, Any],
    entry: MockConfigEntry,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    state_of: StateOf,
    content: dict[str, Any],
    error: str,
) -> None:
    """It costs the book, with one warning, and is kept aside; all else works."""
    hass.config.config_dir = str(tmp_path)
    file = tmp_path / ".storage" / file_of(entry)
    file.parent.mkdir()
    file.write_text("the book")
    storage[file.name] = content
    await async_setup(hass, entry)

    assert state_of(RED) is not None
    assert not file.exists()
    aside = file.with_name(f"{file.name}.unreadable")
    assert aside.read_text() == "the book"
    [warning] = [line for line in caplog.messages if "ride book" in line]
    assert error in warning
    assert str(aside) in warning


async def test_file_that_cannot_be_kept_aside(
    hass: HomeAssistant,
    storage: dict[str, Any],
    entry: MockConfigEntry,
    state_of: StateOf,
) -> None:
    """It is lost, and all else works."""
    store(storage, entry, 7)
    await async_setup(hass, entry)
    assert state_of(RED) is not None


async def test_clock_that_was_ahead(bikes: Bikes, storage: dict[str, Any]) -> None:
    """A start years ahead of all rides costs none of them, whatever is ridden then."""
    store(storage, bikes.entry, [row(DAY), row(2 * DAY)])
    now = dt_util.utcnow()
    go(bikes.simulator, 0, **standing(100))
    bikes.freezer.move_to(now + 5 * 365 * DAY)
    await async_setup(bikes.hass, bikes.entry)
    await async_write(bikes.hass, bikes.entry)
    bikes.freezer.move_to(now)
    await async_setup(bikes.hass, bikes.entry)
    await async_ride(bikes.simulator, bikes.poll)
    await async_write(bikes.hass, bikes.entry)
    assert len(rides_in(storage, bikes.entry)) == 3


async def test_account_that_is_removed(
    hass: HomeAssistant, storage: dict[str, Any], entry: MockConfigEntry
) -> None:
    """Its book goes with it, loaded or not."""
    store(storage, entry, [row(DAY)])
    await async_setup(hass, entry)
    await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()
    assert file_of(entry) not in storage
