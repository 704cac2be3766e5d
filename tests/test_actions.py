"""The actions that return locations, rides, statistics and tracks of bikes."""

import asyncio
from collections.abc import Mapping
import csv
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

from aiohttp import TCPConnector
import gpxpy
from homeassistant.config_entries import ConfigEntryDisabler, ConfigEntryState
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceValidationError,
    Unauthorized,
)
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from homeassistant.util.yaml import parse_yaml
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_mock_service,
)
from syrupy.assertion import SnapshotAssertion
from syrupy.filters import props
import voluptuous as vol

from custom_components.bike_tracker import api
from custom_components.bike_tracker.const import DOMAIN

from .books import row, store
from .conftest import BLUE, BOB, EMAIL, RED, Bikes, async_setup
from .riding import async_set_up_and_ride, go, riding
from .static.project import ROOT
from .tools.simulator.render import Renderer
from .tools.simulator.server import Simulator

pytestmark = pytest.mark.freeze_time("2026-11-20 12:00:00+00:00")

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
NO_TARGET = "None of the targets"
WRONG_TIME = r"end \(by default, now\) must be after"
TOO_MANY = "more than 4000 periods"
FORBIDDEN = "may not write"

type Answer = dict[str, Any]


def times(start: object, end: object = timedelta()) -> Answer:
    """Return the fields for a time range. If a value is a duration, `async_act` adds the current time to it."""
    return {"start_date_time": start, "end_date_time": end}


LAST_HOUR = times(-HOUR)


@pytest.fixture(autouse=True)
async def home(hass: HomeAssistant, freezer: Any) -> None:
    """Set the place and time zone of the house, create its zone, and stop the clock."""
    await hass.config.async_update(
        latitude=48.0, longitude=7.8, time_zone="Europe/Berlin"
    )
    assert await async_setup_component(hass, "zone", {})


@pytest.fixture
async def rides(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Set up the account with three stored rides: two of the red bike and one of the blue bike."""
    store(hass, entry, [row(DAY), row(2 * DAY, BLUE, start=None), row(8 * DAY)])
    await async_setup(hass, entry)


async def async_act(
    hass: HomeAssistant, action: str, user_id: str | None = None, /, **fields: Any
) -> Any:
    """Call an action, by default for the red bike, and return its response. Leave out fields that are None."""
    if not fields.keys() & {"device_id", "entity_id", "area_id"}:
        fields["device_id"] = device_of(hass, RED)
    data = {
        key: dt_util.utcnow() + value if isinstance(value, timedelta) else value
        for key, value in fields.items()
        if value is not None
    }
    context = Context(user_id=user_id) if user_id else None
    return await hass.services.async_call(
        DOMAIN, action, data, blocking=True, context=context, return_response=True
    )


async def async_list(
    hass: HomeAssistant, action: str, user_id: str | None = None, /, **fields: Any
) -> list[Answer]:
    """Call an action, and return the list in its response."""
    return next(iter((await async_act(hass, action, user_id, **fields)).values()))


async def async_get_rides(hass: HomeAssistant, **fields: Any) -> list[Answer]:
    """Call `get_rides`, and return the rides."""
    return await async_list(hass, "get_rides", **fields)


def asked(simulator: Simulator) -> int:
    """Return the number of history requests that the service received."""
    return sum("from" in request.query for request in simulator.requests)


def device_of(hass: HomeAssistant, tracker: str) -> str:
    """Return the device ID of a tracker, or an empty text if the tracker has no device."""
    entity = er.async_get(hass).async_get_entity_id("device_tracker", DOMAIN, tracker)
    found = entity and er.async_get(hass).async_get(entity)
    return (found and found.device_id) or ""


def both(hass: HomeAssistant) -> list[str]:
    """Return the device IDs of the red and the blue bike, in this order."""
    return [device_of(hass, tracker) for tracker in (RED, BLUE)]


def may_write(hass: HomeAssistant, folder: Path, name: str = "local") -> None:
    """Let Home Assistant write only into this folder. Also make it a media folder. *local* is preferred."""
    others = {"others": str(folder.parent)} if name == "local" else {}
    hass.config.media_dirs = others | {name: str(folder)}
    hass.config.allowlist_external_dirs = {str(folder)}


@pytest.mark.usefixtures("rides")
async def test_rides(hass: HomeAssistant, snapshot: SnapshotAssertion) -> None:
    """`get_rides` returns the rides of two bikes, the earliest first, and writes a CSV file with them to a new folder."""
    folder = Path(hass.config.path("new", "folder"))
    may_write(hass, folder)
    devices = both(hass)
    dr.async_get(hass).async_update_device(devices[0], name_by_user="=1+1")
    found = await async_get_rides(
        hass, device_id=devices, routes=True, filename="rides.csv"
    )
    assert [ride["device_id"] for ride in found] == devices[::-1]
    assert found == snapshot(name="rides", exclude=props("device_id"))
    text = (folder / "rides.csv").read_text(encoding="utf-8")
    assert text.splitlines() == snapshot(name="table")
    [ride] = await async_get_rides(hass)
    assert "route" not in ride


async def test_many_rides(
    hass: HomeAssistant, entry: MockConfigEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While many rides are described, other tasks run after each hundred rides."""
    store(hass, entry, [row(it * HOUR) for it in range(250)])
    await async_setup(hass, entry)
    places, steps = Mock(return_value=None), list[int]()
    monkeypatch.setattr("custom_components.bike_tracker.services.zone_name", places)

    async def watch() -> None:
        while True:
            steps.append(places.call_count)
            await asyncio.sleep(0)

    task = hass.async_create_task(watch())
    assert len(await async_get_rides(hass, **times(-20 * DAY))) == 250
    task.cancel()
    # Each ride has two places.
    assert sorted({*steps})[:3] == [0, 200, 400]


@pytest.mark.usefixtures("rides")
@pytest.mark.parametrize(
    ("range_", "count"),
    [
        ({}, 1),
        ({"start_date_time": "0001-01-01 00:00:00"}, 2),
        ({"end_date_time": -2 * DAY}, 1),
        ({"start_date_time": -DAY - MINUTE}, 1),
        ({"start_date_time": -DAY + MINUTE}, 0),
        (times(-30 * DAY, -10 * DAY), 0),
        # Times without a time zone are local times.
        (times("2026-11-19 12:59:00", "2026-11-20 13:00:00"), 1),
        (times("2026-11-19 13:01:00", "2026-11-20 13:00:00"), 0),
    ],
)
async def test_rides_of_a_time(hass: HomeAssistant, range_: Answer, count: int) -> None:
    """Rides that overlap the range are returned. By default, the range ends now, and begins seven days before its end."""
    assert len(await async_get_rides(hass, **range_)) == count


async def test_ride_without_length(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """A ride of which only the arrival is known is found by its own times, as cards request it."""
    store(hass, entry, [row(DAY, duration=0), row(DAY + HOUR)])
    await async_setup(hass, entry)
    [ride] = await async_get_rides(hass, **times(-DAY, -DAY))
    assert ride["started_at"] == ride["ended_at"]
    assert await async_get_rides(hass, **times(-DAY - MINUTE, -DAY)) == []


END_OF_TIME = times("9999-12-31 00:00:00", "9999-12-31 23:59:59")
# The week that contains this range ends after the year 9999: no time can be its end.
LAST_WEEK = times("9999-12-27 00:00:00", "9999-12-28 12:00:00")


@pytest.mark.usefixtures("rides")
@pytest.mark.parametrize(
    ("action", "fields", "error"),
    [
        ("get_rides", {"device_id": None}, NO_TARGET),
        ("get_rides", {"entity_id": "sun.sun"}, NO_TARGET),
        ("get_rides", {"area_id": "none"}, NO_TARGET),
        ("where", {"entity_id": "sun.sun"}, NO_TARGET),
        ("get_track", {"device_id": "gone"}, NO_TARGET),
        ("get_track", times(-7 * DAY - MINUTE), "at most 7 days"),
        ("get_track", times(MINUTE), WRONG_TIME),
        ("get_track", END_OF_TIME, WRONG_TIME),
        ("get_rides", times(timedelta(), -MINUTE), WRONG_TIME),
        ("get_rides", {"end_date_time": datetime.min}, WRONG_TIME),
        ("get_rides", END_OF_TIME, WRONG_TIME),
        ("theft_report", {"end_date_time": "9999-12-31 23:59:59-12:00"}, WRONG_TIME),
        ("get_rides", {"start_date_time": "yesterday"}, "Invalid datetime"),
        ("get_track", {"filename": "/media/../etc/track.gpx"}, "Invalid path"),
        ("get_statistics", times(DAY, -DAY) | {"period": "day"}, WRONG_TIME),
        ("get_statistics", END_OF_TIME, WRONG_TIME),
        ("get_statistics", END_OF_TIME | {"period": "day"}, WRONG_TIME),
        ("get_statistics", LAST_WEEK, WRONG_TIME),
        ("get_statistics", times(-4_000 * DAY) | {"period": "day"}, TOO_MANY),
        ("get_track", LAST_HOUR | {"filename": "/etc/track.gpx"}, FORBIDDEN),
        ("get_track", LAST_HOUR | {"filename": "link.gpx"}, FORBIDDEN),
        ("get_track", LAST_HOUR | {"filename": "track\0.gpx"}, FORBIDDEN),
        ("get_track", LAST_HOUR | {"filename": "\ud800.gpx"}, FORBIDDEN),
    ],
)
async def test_refused(
    bikes: Bikes, tmp_path: Path, action: str, fields: Answer, error: str
) -> None:
    """A wrong target, time range or path is an error, and no history is requested from the service."""
    may_write(bikes.hass, tmp_path)
    (tmp_path / "link.gpx").symlink_to(tmp_path.parent / "elsewhere.gpx")
    with pytest.raises((ServiceValidationError, vol.Invalid), match=error):
        await async_act(bikes.hass, action, **fields)
    assert asked(bikes.simulator) == 0


async def test_ride_under_way(bikes: Bikes) -> None:
    """By default, `get_track` returns the ride under way, or else the newest ride, and `get_statistics` eight weeks."""
    store(bikes.hass, bikes.entry, [row(99 * DAY, it) for it in (RED, BLUE)])
    await async_set_up_and_ride(bikes)
    target = {"device_id": both(bikes.hass)}
    with pytest.raises(ServiceValidationError, match="no reports"):
        await async_act(bikes.hass, "get_track", device_id=target["device_id"][1])
    [ride] = await async_get_rides(bikes.hass, **target)
    answer = await async_act(bikes.hass, "get_track")
    assert list(answer) == ["gpx", "points"]
    assert answer["points"][0]["time"] >= ride["started_at"]
    assert answer["points"][-1]["time"][:19] == ride["ended_at"][:19]
    for kilometers in (103, 103.5):
        go(bikes.simulator, 500, **riding(kilometers))
        await bikes.poll()
    points = (await async_act(bikes.hass, "get_track"))["points"]
    assert points[-1]["time"] > points[0]["time"] >= ride["ended_at"]
    week = await async_act(bikes.hass, "get_track", end_date_time=timedelta())
    assert week["points"][0] == answer["points"][0]
    weeks = await async_list(bikes.hass, "get_statistics", **target)
    days = await async_list(
        bikes.hass, "get_statistics", **target, period="day", **times(-DAY, DAY)
    )
    most = await async_list(
        bikes.hass, "get_statistics", **target, period="day", **times(-3_999 * DAY)
    )
    assert len(most) == 4_000
    for periods, rides in ((weeks, [0] * 7 + [1]), (days, [0, 1, 0])):
        assert [period["total"]["rides"] for period in periods] == rides
    blue, red = weeks[-1]["bikes"]
    assert (blue["name"], blue["rides"]) == ("Blue bike", 0)
    assert red["device_id"] == target["device_id"][0]
    assert red["distance"] == ride["distance"]


@pytest.mark.usefixtures("rides")
async def test_account_that_is_not_set_up(bikes: Bikes, bobs: MockConfigEntry) -> None:
    """Bikes of an unloaded account are left out. If all accounts of the target are unloaded, only `where` succeeds."""
    entries = bikes.hass.config_entries
    bikes.simulator.add_device("green", email=BOB)
    await async_setup(bikes.hass, bobs)
    devices = [device_of(bikes.hass, tracker) for tracker in ("green", RED)]
    await entries.async_unload(bobs.entry_id)
    assert len(await async_get_rides(bikes.hass, device_id=devices)) == 1
    [bike] = await async_list(bikes.hass, "where", device_id=devices)
    assert bike["name"] == "Red bike"
    await entries.async_unload(bikes.entry.entry_id)
    answer = await async_act(bikes.hass, "where")
    assert answer == {"bikes": [], "text": "No bikes found."}
    tracks: list[tuple[str, Answer]] = [("get_track", {}), ("get_track", LAST_HOUR)]
    for action, fields in [("get_rides", {}), ("get_statistics", {}), *tracks]:
        with pytest.raises(HomeAssistantError, match="Red bike is not available"):
            await async_act(bikes.hass, action, **fields)
    # The bikes of a disabled account have no rides, and `get_track` cannot find them.
    user = ConfigEntryDisabler.USER
    await entries.async_set_disabled_by(bikes.entry.entry_id, user)
    assert await async_get_rides(bikes.hass) == []
    with pytest.raises(ServiceValidationError, match=NO_TARGET):
        await async_act(bikes.hass, "get_track")


@pytest.mark.usefixtures("rides")
async def test_where(hass: HomeAssistant, snapshot: SnapshotAssertion) -> None:
    """For each bike, in order of the names, the location and condition are returned as values and as a sentence."""
    bikes = await async_list(hass, "where", device_id=both(hass))
    assert [bike["device_id"] for bike in bikes] == both(hass)[::-1]
    assert bikes == snapshot(exclude=props("device_id"))


@pytest.mark.usefixtures("rides")
@pytest.mark.parametrize(
    ("names", "name", "found"),
    [
        (("Red bike", "Blue bike"), "Red-Bike", "Red bike"),
        (("Red bike", "Blue bike"), "redbike", "Red bike"),
        (("Ve\u0301lo", "🚲"), "Vélo", "Ve\u0301lo"),
        (("Vélo", "🚲"), "ve\u0301lo", "Vélo"),
        (("Grünes Rad", "Rotes Rad"), "grunes rad", "Grünes Rad"),
        (("パパ", "ハハ"), "パパ", "パパ"),
        (("🚲", "🛵"), "🛵", "🛵"),
        (("🚲", "🛵"), "🚲", "🚲"),
        (("Ｂｉｋｅ ①", "🛵"), "bike 1", "Ｂｉｋｅ ①"),
        (("Red bike", "Blue bike"), "sofa", None),
    ],
)
async def test_names(
    hass: HomeAssistant, names: tuple[str, str], name: str, found: str | None
) -> None:
    """Only letters and digits of names are compared, in lower case and without accents. Names of symbols must be equal."""
    for device, called in zip(both(hass), names, strict=True):
        dr.async_get(hass).async_update_device(device, name_by_user=called)
    answer = await async_act(hass, "where", device_id=both(hass), name=name)
    assert [bike["name"] for bike in answer["bikes"]] == ([found] if found else [])
    unknown = "No bike is named sofa. Your bikes: Blue bike, Red bike."
    assert answer["text"].startswith(found or unknown)


async def test_bike_that_is_not_listed(bikes: Bikes) -> None:
    """For a bike that is no longer listed, `where` returns its name without place and values. `get_track` fails."""
    bikes.simulator.override_field(RED, "status", "offline")
    bikes.simulator.report(RED, attributes={"totalDistance": 926.0900001})
    await async_setup(bikes.hass, bikes.entry)
    [listed] = await async_list(bikes.hass, "where")
    assert listed["text"].endswith(", its tracker is offline.")
    # The total distance is rounded to meters.
    assert listed["total_distance"] == 0.926
    bikes.simulator.unassign(EMAIL, RED)
    await bikes.poll()
    [bike] = await async_list(bikes.hass, "where")
    assert bike.keys() == listed.keys()
    known = {key for key, value in bike.items() if value is not None}
    assert known == {"device_id", "name", "on_ride", "text", "guard_text"}
    with pytest.raises(HomeAssistantError, match="not available"):
        await async_act(bikes.hass, "get_track", **LAST_HOUR)


async def test_unload_meanwhile(ready: Bikes, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the account is unloaded while a request connects, the user still gets the track."""
    connect = TCPConnector.connect

    async def _unload(*args: Any, **more: Any) -> Any:
        monkeypatch.undo()
        assert await ready.hass.config_entries.async_unload(ready.entry.entry_id)
        return await connect(*args, **more)

    ready.simulator.report(RED)
    monkeypatch.setattr(TCPConnector, "connect", _unload)
    assert len((await async_act(ready.hass, "get_track", **LAST_HOUR))["points"]) == 1
    assert ready.entry.state is ConfigEntryState.NOT_LOADED


@pytest.mark.usefixtures("rides")
async def test_who_may_read(hass: HomeAssistant, simulator: Simulator) -> None:
    """If the target names a bike that the user may not see, the action fails. In an area, such a bike is left out."""
    garage, (red, blue) = ar.async_get(hass).async_create("Garage"), both(hass)
    for device in (red, blue):
        dr.async_get(hass).async_update_device(device, area_id=garage.id)
    anna = MockUser(id="anna").add_to_hass(hass)
    anna.mock_policy({"entities": {"entity_ids": {"device_tracker.blue_bike": True}}})
    refused: list[tuple[str, str, Mapping[str, Any]]] = [
        ("get_rides", "anna", {}),
        ("get_rides", "anna", {"entity_id": "calendar.red_bike_rides"}),
        ("get_rides", "anna", {"device_id": [blue, red]}),
        ("get_statistics", "anna", {}),
        ("where", "anna", {"entity_id": "device_tracker.red_bike"}),
        ("get_track", "anna", LAST_HOUR),
        ("theft_report", "anna", LAST_HOUR),
        ("where", "nobody", {"device_id": blue}),
    ]
    for action, user, fields in refused:
        with pytest.raises(Unauthorized):
            await async_act(hass, action, user, **fields)
    assert asked(simulator) == 0
    for action, time in (("where", {}), ("get_rides", times(-30 * DAY))):
        [found] = await async_list(hass, action, "anna", area_id=garage.id, **time)
        assert found["name"] == "Blue bike"
    owner = MockUser(is_owner=True).add_to_hass(hass).id
    assert len(await async_list(hass, "where", owner, area_id=garage.id)) == 2


@pytest.mark.usefixtures("rides")
async def test_who_may_write(hass: HomeAssistant, tmp_path: Path) -> None:
    """To write a file, a user must be allowed to control the bike. Without a file, the permission to read is enough."""
    may_write(hass, tmp_path)
    user = MockUser(id="anna").add_to_hass(hass)
    user.mock_policy({"entities": {"all": {"read": True}}})
    assert len(await async_list(hass, "get_rides", "anna")) == 1
    assert (await async_act(hass, "theft_report", "anna", **times(-HOUR)))["html"]
    for action in ("get_rides", "get_track", "theft_report"):
        with pytest.raises(Unauthorized):
            await async_act(hass, action, "anna", filename="file", **LAST_HOUR)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("rides")
@pytest.mark.parametrize("name", [f"{it}1" for it in "=+-@\t\r\n＝＋－＠"])
async def test_no_formula(hass: HomeAssistant, tmp_path: Path, name: str) -> None:
    """In the CSV file, a name that begins like a formula gets an apostrophe."""
    # A relative path is in the only media folder, even if it is not named *local*.
    may_write(hass, tmp_path, "videos")
    red = device_of(hass, RED)
    dr.async_get(hass).async_update_device(red, name_by_user=name)
    await async_get_rides(hass, filename="rides.csv")
    with (tmp_path / "rides.csv").open(encoding="utf-8", newline="") as file:
        _, line = csv.reader(file)
    assert line[2] == f"'{name}"


async def test_track(ready: Bikes, snapshot: SnapshotAssertion) -> None:
    """A track has one point for each measured place, as a list and as GPX with a new segment after a gap."""
    now, simulator = dt_util.utcnow(), ready.simulator
    history: Any = Renderer.history

    # Some services ignore the requested time range: reports outside it are left out.
    def ignore_times(*args: Any) -> Any:
        return history(*args[:-2], args[-2] - DAY, args[-1] + DAY)

    simulator.forget_position(RED)
    moment = now
    for minutes in (90, 50, 49, 10):
        latitude, moment = 48 + minutes / 1_000, now - minutes * MINUTE
        values: Any = {"altitude": 278.0, "speed": 10.0, "last_update": moment}
        simulator.report(RED, latitude=latitude, longitude=7.8, **values)
    simulator.report(RED, last_update=moment)
    old = moment - MINUTE
    simulator.report(RED, valid=False, fix_time=old, last_update=moment + MINUTE)
    simulator.report(RED, latitude=0.0, longitude=0.0, last_update=moment + 2 * MINUTE)
    simulator.report(RED, latitude=48.0, last_update=now - 5 * MINUTE)
    with patch.object(Renderer, "history", ignore_times):
        answer = await async_act(ready.hass, "get_track", **times(-HOUR, -6 * MINUTE))
        with pytest.raises(ServiceValidationError, match="no reports"):
            await async_act(ready.hass, "get_track", **times(-4 * MINUTE, -MINUTE))
    assert answer["points"] == snapshot
    [track] = gpxpy.parse(answer["gpx"]).tracks
    assert track.name == "Red bike"
    assert [len(segment.points) for segment in track.segments] == [2, 1]
    assert asked(simulator) == 2


async def test_track_is_written(ready: Bikes, tmp_path: Path) -> None:
    """The file has the same content as the response. A folder is refused as a file name."""
    may_write(ready.hass, tmp_path)
    file = tmp_path / "rides" / "sunday.gpx"
    ready.simulator.report(RED, last_update=dt_util.utcnow() - MINUTE)
    ready.simulator.rename(RED, "Fahrrad 🚲")
    answer = await async_act(ready.hass, "get_track", **LAST_HOUR, filename=str(file))
    assert file.read_text(encoding="utf-8") == answer["gpx"]
    assert gpxpy.parse(answer["gpx"]).get_points_no()
    with pytest.raises(HomeAssistantError, match=r"could not be written.*directory"):
        await async_act(ready.hass, "get_track", **LAST_HOUR, filename=str(file.parent))


@pytest.mark.parametrize(
    ("hours", "requests"), [(1, 1), (24, 1), (25, 1), (26, 2), (48, 2), (168, 7)]
)
async def test_requests_of_a_track(ready: Bikes, hours: int, requests: int) -> None:
    """One request covers at most 25 hours, the length of the longest local day. A longer range needs several requests."""
    ready.simulator.report(RED, last_update=dt_util.utcnow() - MINUTE)
    await async_act(ready.hass, "get_track", **times(-hours * HOUR))
    assert asked(ready.simulator) == requests


async def test_track_too_large(ready: Bikes, monkeypatch: pytest.MonkeyPatch) -> None:
    """If an answer is too large, both halves of its range are requested. If a short range is too large, the action fails."""
    now = dt_util.utcnow()
    ready.simulator.forget_position(RED)
    moments = [now - minutes * MINUTE for minutes in range(1_400, 0, -7)]
    for number, moment in enumerate(moments):
        latitude = 48 + number / 1_000
        ready.simulator.report(RED, latitude=latitude, last_update=moment)
    monkeypatch.setattr(api, "MAX_BYTES", 40_000)
    points = (await async_act(ready.hass, "get_track", **times(-DAY)))["points"]
    assert len(points) == len(moments)
    assert (requests := asked(ready.simulator)) > 2
    monkeypatch.setattr(api, "MAX_BYTES", 1_000)
    with pytest.raises(HomeAssistantError, match="too many reports"):
        await async_act(ready.hass, "get_track", **times(-DAY))
    # The fifth request is for 1.5 hours. Ranges of less than two hours are not halved,
    # so no more requests follow.
    assert asked(ready.simulator) == requests + 5


@pytest.mark.parametrize("monday", ["2026-03-23", "2026-10-19", "2026-11-02"])
async def test_track_of_a_week(ready: Bikes, monday: str) -> None:
    """A range of seven local days or of seven times 24 hours is allowed, even if clocks change in that week."""
    start = dt_util.start_of_local_day(date.fromisoformat(monday))
    for end in start + 7 * DAY, dt_util.as_utc(start) + 7 * DAY:
        with pytest.raises(ServiceValidationError, match="no reports"):
            await async_act(ready.hass, "get_track", **times(start, end))
    assert asked(ready.simulator) == 14


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("status-401", "has not provided the tracker's reports .*status 401"),
        ("status-404", "has not provided the tracker's reports .*status 404"),
        ("html", "has not provided the tracker's reports"),
        ("status-503", "cannot answer at the moment .*status 503"),
        ("reset-before-body", "could not be reached .*connection lost"),
        ("huge-body", "too many reports in that time"),
    ],
)
async def test_no_answer(ready: Bikes, fault: str, words: str) -> None:
    """If the service does not provide the history, the error of the action has the reason. No new sign-in is started."""
    ready.simulator.fault(fault, path="history")
    with pytest.raises(HomeAssistantError, match=words) as caught:
        await async_act(ready.hass, "get_track", **LAST_HOUR)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert ready.hass.config_entries.flow.async_progress() == []


async def test_too_many_questions(ready: Bikes) -> None:
    """Ten tracks of an account can be requested in a minute. Further requests in that minute are refused."""
    ready.simulator.report(RED, last_update=dt_util.utcnow() - MINUTE)
    for _ in range(10):
        await async_act(ready.hass, "get_track", **LAST_HOUR)
    with pytest.raises(HomeAssistantError, match="Ten tracks were requested"):
        await async_act(ready.hass, "get_track", **LAST_HOUR)
    assert asked(ready.simulator) == 10
    await ready.poll()
    await async_act(ready.hass, "get_track", **LAST_HOUR)
    assert asked(ready.simulator) == 11


async def test_example(bikes: Bikes, label_registry: lr.LabelRegistry) -> None:
    """The last example in docs/automations.md sends a message with the rides and kilometers of the week."""
    document = (ROOT / "docs" / "automations.md").read_text()
    week: Any = parse_yaml(document.split("```yaml")[-1].partition("```")[0])
    week["triggers"] = {"trigger": "event", "event_type": "sunday"}
    messages = async_mock_service(bikes.hass, "notify", "mobile_app_my_phone")
    await async_set_up_and_ride(bikes)
    labels = {label_registry.async_create("bikes").label_id}
    dr.async_get(bikes.hass).async_update_device(
        device_of(bikes.hass, RED), labels=labels
    )
    assert await async_setup_component(bikes.hass, "automation", {"automation": week})
    bikes.hass.bus.async_fire("sunday")
    await bikes.hass.async_block_till_done()
    [message] = messages
    assert message.data["message"].startswith("1 rides this week, 1.")


async def test_actions_without_an_account(hass: HomeAssistant) -> None:
    """The actions exist after the set-up of the integration, even without an account."""
    assert await async_setup_component(hass, DOMAIN, {})
    assert hass.services.async_services_for_domain(DOMAIN).keys() == {
        *("get_rides", "get_statistics", "get_track"),
        *("send_message", "theft_report", "where"),
    }
