"""Actions: where bikes are, their rides, and the track of one."""

import csv
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import gpxpy
from homeassistant.config_entries import ConfigEntryDisabler
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
import voluptuous as vol

from custom_components.bike_tracker.api import client
from custom_components.bike_tracker.const import DOMAIN

from .books import row, store
from .conftest import (
    BLUE,
    BOB,
    EMAIL,
    PASSWORD,
    RED,
    Bikes,
    MakeEntry,
    Poll,
    async_setup,
)
from .riding import async_ride, go, riding, standing
from .static.project import ROOT
from .tools.simulator.render import Renderer
from .tools.simulator.server import Simulator
from .tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

type Answer = dict[str, Any]


@pytest.fixture(autouse=True)
async def home(hass: HomeAssistant, freezer: Any) -> None:
    """Let there be a zone, and time stand still."""
    await hass.config.async_update(latitude=48.0, longitude=7.8)
    assert await async_setup_component(hass, "zone", {})


@pytest.fixture
async def rides(hass: HomeAssistant, entry: MockConfigEntry) -> list[dict[str, Any]]:
    """Return the rides of an account that is set up, the newest first."""
    rows = [row(DAY), row(2 * DAY, BLUE, start=None), row(8 * DAY)]
    store(hass, entry, rows)
    await async_setup(hass, entry)
    return rows


async def _async_ask(
    hass: HomeAssistant, action: str, data: Answer, context: Context | None = None
) -> Any:
    return await hass.services.async_call(
        DOMAIN, action, data, blocking=True, context=context, return_response=True
    )


async def async_get_rides(
    hass: HomeAssistant, context: Context | None = None, /, **data: Any
) -> list[Answer]:
    """Return what the action answers."""
    return list((await _async_ask(hass, "get_rides", data, context))["rides"])


async def async_get_statistics(
    hass: HomeAssistant, context: Context | None = None, /, **data: Any
) -> list[Answer]:
    """Return the periods that the action answers."""
    return list((await _async_ask(hass, "get_statistics", data, context))["periods"])


async def async_where(
    hass: HomeAssistant, context: Context | None = None, /, **data: Any
) -> list[Answer]:
    """Return what the action answers."""
    return list((await _async_ask(hass, "where", data, context))["bikes"])


async def async_get_track(
    hass: HomeAssistant,
    tracker: str = RED,
    context: Context | None = None,
    /,
    **data: Any,
) -> Any:
    """Return what the action answers: of the last hour unless other times are given."""
    now = dt_util.utcnow()
    [device] = [
        device.id
        for entry in hass.config_entries.async_entries(DOMAIN)
        for device in dr.async_entries_for_config_entry(
            dr.async_get(hass), entry.entry_id
        )
        if device.serial_number == tracker
    ]
    data = {
        "device_id": device,
        "start_date_time": now - HOUR,
        "end_date_time": now,
    } | data
    data = {key: value for key, value in data.items() if value is not None}
    return await _async_ask(hass, "get_track", data, context)


def asked(simulator: Simulator) -> int:
    """Return how often the history was asked for."""
    return sum("deviceId" in request.query for request in simulator.requests)


def device_of(hass: HomeAssistant, tracker: str) -> str:
    """Return the ID of a tracker's device."""
    entity = er.async_get(hass).async_get_entity_id("device_tracker", DOMAIN, tracker)
    found = entity and er.async_get(hass).async_get(entity)
    assert found
    assert found.device_id
    return found.device_id


async def test_rides(hass: HomeAssistant, rides: list[dict[str, Any]]) -> None:
    """All there is to know of each, in order of their start."""
    red, blue = device_of(hass, RED), device_of(hass, BLUE)
    answer = await async_get_rides(hass, device_id=[red, blue])
    assert [ride["device_id"] for ride in answer] == [blue, red]
    assert answer[0]["start"] is None
    assert answer[1] == {
        "device_id": red,
        "name": "Red bike",
        "started_at": rides[0]["started_at"],
        "ended_at": rides[0]["ended_at"],
        "distance": 12.3,
        "duration": 3600,
        "maximum_speed": 28.4,
        "start": {
            "latitude": 48.0,
            "longitude": 7.8,
            "zone": "test home",
            "address": None,
        },
        "end": {
            "latitude": 48.1,
            "longitude": 7.9,
            "zone": None,
            "address": "Am Bach 3",
        },
    }
    [ride] = await async_get_rides(hass, device_id=[red], routes=True)
    assert ride["route"] is None


@pytest.mark.usefixtures("rides")
async def test_rides_of_a_time(hass: HomeAssistant) -> None:
    """Those that touch it; without a start seven days before the end, without an end up to now."""
    now, target = dt_util.utcnow(), {"entity_id": "device_tracker.red_bike"}
    for time, count in (
        ({}, 1),
        ({"start_date_time": now - 30 * DAY}, 2),
        ({"end_date_time": now - 2 * DAY}, 1),
        ({"start_date_time": now - DAY - MINUTE}, 1),
        ({"start_date_time": now - DAY + MINUTE}, 0),
        ({"start_date_time": now - 30 * DAY, "end_date_time": now - 10 * DAY}, 0),
    ):
        assert len(await async_get_rides(hass, **target, **time)) == count, time
    local = dt_util.now().replace(tzinfo=None)
    times = {"start_date_time": str(local - DAY - MINUTE), "end_date_time": str(local)}
    assert len(await async_get_rides(hass, **target, **times)) == 1


@pytest.mark.usefixtures("rides")
async def test_targets(
    hass: HomeAssistant,
    area_registry: ar.AreaRegistry,
    device_registry: dr.DeviceRegistry,
) -> None:
    """A bike is meant by any of its entities, its device or its area, under the name it has."""
    garage = area_registry.async_create("Garage")
    device_registry.async_update_device(
        device_of(hass, RED), area_id=garage.id, name_by_user="Mine"
    )
    for target in (
        {"area_id": garage.id},
        {"entity_id": "sensor.red_bike_total_distance"},
        {"entity_id": ["calendar.red_bike_rides", "device_tracker.red_bike"]},
    ):
        [ride] = await async_get_rides(hass, **target)
        assert ride["name"] == "Mine"
    assert len(await async_get_rides(hass, device_id=device_of(hass, BLUE))) == 1


@pytest.mark.usefixtures("rides")
@pytest.mark.parametrize(
    "target", [{}, {"entity_id": "sun.sun"}, {"device_id": "gone"}, {"area_id": "none"}]
)
async def test_target_without_trackers(
    hass: HomeAssistant, target: dict[str, Any]
) -> None:
    """It is an error, not a week without rides."""
    with pytest.raises(ServiceValidationError, match="None of the targets"):
        await async_get_rides(hass, **target)


async def test_statistics(bikes: Bikes) -> None:
    """Eight weeks up to now, without the ride under way; or the periods of a range."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    devices = [device_of(bikes.hass, tracker) for tracker in (RED, BLUE)]
    await async_ride(bikes.simulator, bikes.poll)
    [ride] = await async_get_rides(bikes.hass, device_id=devices)
    for meters in (103, 103.5):
        go(bikes.simulator, 500, **riding(meters))
        await bikes.poll()
    periods = await async_get_statistics(bikes.hass, device_id=devices)
    assert len(periods) == 8
    assert [period["total"]["rides"] for period in periods] == [0] * 7 + [1]
    blue, red = periods[-1]["bikes"]
    assert (blue["name"], blue["rides"]) == ("Blue bike", 0)
    assert (red["device_id"], red["distance"]) == (devices[0], ride["distance"])
    started_at = datetime.fromisoformat(ride["started_at"])
    days = await async_get_statistics(
        bikes.hass,
        device_id=devices,
        period="day",
        start_date_time=started_at - DAY,
        end_date_time=started_at + DAY,
    )
    assert [day["total"]["rides"] for day in days] == [0, 1, 0]


@pytest.mark.usefixtures("rides")
@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        ("2026-11-24 00:00", "2026-11-23 00:00", "end must be after"),
        ("9999-12-31 00:00", "9999-12-31 20:00", "end must be after"),
        ("2000-01-01 00:00", "2026-01-01 00:00", "more than 4000 periods"),
    ],
)
async def test_statistics_of_a_wrong_range(
    hass: HomeAssistant, start: str, end: str, words: str
) -> None:
    """A range that has no end, or too many periods, is refused."""
    times = {"start_date_time": start, "end_date_time": end}
    target = {"entity_id": "device_tracker.red_bike"}
    with pytest.raises(ServiceValidationError, match=words):
        await async_get_statistics(hass, **target, period="day", **times)


@pytest.mark.usefixtures("rides")
async def test_statistics_of_the_last_week_of_all(hass: HomeAssistant) -> None:
    """A week that ends in the year 10000 is refused in words."""
    times = {
        "start_date_time": "9999-12-27 00:00:00",
        "end_date_time": "9999-12-28 12:00:00",
    }
    target = {"entity_id": "device_tracker.red_bike"}
    with pytest.raises(ServiceValidationError, match="end must be after"):
        await async_get_statistics(hass, **target, **times)


@pytest.mark.usefixtures("rides")
async def test_account_that_is_not_set_up(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """The actions are there, and say whose account is missing; one that is disabled is not."""
    device = device_of(hass, RED)
    await hass.config_entries.async_unload(entry.entry_id)
    assert await async_where(hass, device_id=device) == []
    for action in (
        async_get_rides(hass, device_id=device),
        async_get_statistics(hass, device_id=device),
        async_get_track(hass),
        async_get_track(hass, start_date_time=None, end_date_time=None),
    ):
        with pytest.raises(HomeAssistantError, match="Red bike is not available"):
            await action
    await hass.config_entries.async_set_disabled_by(
        entry.entry_id, ConfigEntryDisabler.USER
    )
    assert await async_get_rides(hass, device_id=device) == []
    with pytest.raises(ServiceValidationError, match="None of the targets"):
        await async_get_track(hass)


@pytest.mark.usefixtures("rides")
async def test_one_account_of_two(
    hass: HomeAssistant, simulator: Simulator, make_entry: MakeEntry
) -> None:
    """One that is not loaded does not take away the bikes of the other."""
    simulator.add_account(BOB, PASSWORD)
    simulator.add_device("green", email=BOB)
    other = make_entry(BOB)
    await async_setup(hass, other)
    devices = [device_of(hass, tracker) for tracker in ("green", RED)]
    await hass.config_entries.async_unload(other.entry_id)
    assert len(await async_get_rides(hass, device_id=devices)) == 1
    [bike] = await async_where(hass, device_id=devices)
    assert bike["name"] == "Red bike"


async def test_where(hass: HomeAssistant, rides: list[dict[str, Any]]) -> None:
    """What is known of each bike, by name, and the same as a sentence."""
    devices = [device_of(hass, tracker) for tracker in (RED, BLUE)]
    blue, red = await async_where(hass, device_id=devices)
    assert blue["name"] == "Blue bike"
    position_time = red.pop("position_time")
    time = dt_util.parse_datetime(position_time)
    assert time
    assert dt_util.as_utc(time) == dt_util.utcnow().replace(microsecond=0)
    assert red == {
        "device_id": devices[0],
        "name": "Red bike",
        "place": None,
        "address": None,
        "latitude": DEFAULT_LATITUDE,
        "longitude": DEFAULT_LONGITUDE,
        "distance_from_home": 170.159,
        "direction_from_home": "north_east",
        "moving": False,
        "status": "online",
        "battery": 80,
        "guard": "disarmed",
        "on_ride": False,
        "total_distance": 0,
        "guard_changed_by": None,
        "text": (
            "Red bike is 170.2 km northeast of home, "
            f"position from {dt_util.now():%H:%M}, battery 80%."
        ),
    }


@pytest.mark.usefixtures("rides")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Red-Bike", "Red bike is 170.2 km northeast"),
        ("redbike", "Red bike is 170.2 km northeast"),
        ("sofa", "No bike is named sofa. Your bikes: Blue bike, Red bike."),
    ],
)
async def test_where_by_name(hass: HomeAssistant, name: str, text: str) -> None:
    """Letters alone are compared, as speech has no others; who is unknown is told."""
    devices = [device_of(hass, tracker) for tracker in (RED, BLUE)]
    answer = await _async_ask(hass, "where", {"device_id": devices, "name": name})
    assert answer["text"].startswith(text)
    assert len(answer["bikes"]) == (name != "sofa")


@pytest.mark.parametrize(
    ("names", "name", "found"),
    [
        (("Ve\u0301lo", "🚲"), "Vélo", "Ve\u0301lo"),
        (("Vélo", "🚲"), "ve\u0301lo", "Vélo"),
        (("🚲", "🛵"), "🛵", "🛵"),
        (("🚲", "🛵"), "🚲", "🚲"),
        (("Ｂｉｋｅ ①", "🛵"), "bike 1", "Ｂｉｋｅ ①"),
    ],
)
async def test_names_beyond_letters(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    device_registry: dr.DeviceRegistry,
    names: tuple[str, str],
    name: str,
    found: str,
) -> None:
    """Composed and decomposed letters are the same; an emoji is only itself."""
    devices = [device_of(hass, tracker) for tracker in (RED, BLUE)]
    for device, called in zip(devices, names, strict=True):
        device_registry.async_update_device(device, name_by_user=called)
    bikes = await async_where(hass, device_id=devices, name=name)
    assert [bike["name"] for bike in bikes] == [found]


async def test_where_while_nothing_is_loaded(
    hass: HomeAssistant, setup: MockConfigEntry
) -> None:
    """It is said that there is no bike."""
    device_id = device_of(hass, RED)
    await hass.config_entries.async_unload(setup.entry_id)
    answer = await _async_ask(hass, "where", {"device_id": device_id})
    assert answer == {"bikes": [], "text": "No bikes found."}


@pytest.mark.usefixtures("rides")
async def test_who_may_read(
    hass: HomeAssistant,
    simulator: Simulator,
    area_registry: ar.AreaRegistry,
    device_registry: dr.DeviceRegistry,
) -> None:
    """A bike that a user may not read is refused by its name, and left out of an area."""
    garage = area_registry.async_create("Garage")
    red, blue = device_of(hass, RED), device_of(hass, BLUE)
    for device in (red, blue):
        device_registry.async_update_device(device, area_id=garage.id)
    user = MockUser(id="anna").add_to_hass(hass)
    user.mock_policy({"entities": {"entity_ids": {"device_tracker.blue_bike": True}}})
    anna = Context(user_id=user.id)
    long_ago = dt_util.utcnow() - 30 * DAY
    for action in (
        async_get_rides(hass, anna, device_id=red),
        async_get_statistics(hass, anna, device_id=red),
        async_get_rides(hass, anna, entity_id=["calendar.red_bike_rides"]),
        async_get_rides(hass, anna, device_id=[blue, red]),
        async_where(hass, anna, entity_id="device_tracker.red_bike"),
        async_get_track(hass, RED, anna),
        async_where(hass, Context(user_id="nobody"), device_id=blue),
    ):
        with pytest.raises(Unauthorized):
            await action
    assert asked(simulator) == 0
    [bike] = await async_where(hass, anna, area_id=garage.id)
    assert bike["name"] == "Blue bike"
    [ride] = await async_get_rides(
        hass, anna, area_id=garage.id, start_date_time=long_ago
    )
    assert ride["name"] == "Blue bike"
    admin = Context(user_id=MockUser(is_owner=True).add_to_hass(hass).id)
    assert len(await async_where(hass, admin, area_id=garage.id)) == 2


@pytest.mark.usefixtures("rides")
async def test_who_may_write(hass: HomeAssistant, tmp_path: Path) -> None:
    """A file takes control of the bike: to read it is not enough."""
    hass.config.media_dirs = {"local": str(tmp_path)}
    user = MockUser(id="anna").add_to_hass(hass)
    user.mock_policy({"entities": {"all": {"read": True}}})
    anna, target = Context(user_id=user.id), {"entity_id": "device_tracker.red_bike"}
    assert len(await async_get_rides(hass, anna, **target)) == 1
    for action in (
        async_get_rides(hass, anna, **target, filename="rides.csv"),
        async_get_track(hass, RED, anna, filename="track.gpx"),
    ):
        with pytest.raises(Unauthorized):
            await action
    assert list(tmp_path.iterdir()) == []


async def test_rides_as_a_file(
    hass: HomeAssistant,
    rides: list[dict[str, Any]],
    device_registry: dr.DeviceRegistry,
    tmp_path: Path,
) -> None:
    """A table with a header, in which no name is a formula; the media folder may be new."""
    folder = tmp_path / "media"
    hass.config.media_dirs = {"local": str(folder)}
    hass.config.allowlist_external_dirs = {str(folder)}
    red, blue = device_of(hass, RED), device_of(hass, BLUE)
    device_registry.async_update_device(red, name_by_user="=1+1")
    target = {"device_id": [red, blue]}
    answer = await async_get_rides(hass, **target, filename="rides.csv")
    assert len(answer) == 2
    header, *lines = (folder / "rides.csv").read_text(encoding="utf-8").splitlines()
    assert header == (
        "started_at,ended_at,name,distance_km,duration_s,maximum_speed_kmh,"
        "start_latitude,start_longitude,start_zone,start_address,"
        "end_latitude,end_longitude,end_zone,end_address"
    )
    first, second = answer
    assert lines == [
        f"{first['started_at']},{first['ended_at']},Blue bike,12.3,3600,28.4,"
        ",,,,48.1,7.9,,Am Bach 3",
        f"{second['started_at']},{second['ended_at']},'=1+1,12.3,3600,28.4,"
        "48.0,7.8,test home,,48.1,7.9,,Am Bach 3",
    ]


@pytest.mark.usefixtures("rides")
@pytest.mark.parametrize("name", ["\n=1+1", "＝1+1", "＠SUM(A1)", "+1", "\r-1"])
async def test_cell_that_is_no_formula(
    hass: HomeAssistant,
    device_registry: dr.DeviceRegistry,
    tmp_path: Path,
    name: str,
) -> None:
    """No name begins a formula. A house may name its only media folder otherwise."""
    hass.config.media_dirs = {"videos": str(tmp_path)}
    hass.config.allowlist_external_dirs = {str(tmp_path)}
    red = device_of(hass, RED)
    device_registry.async_update_device(red, name_by_user=name)
    await async_get_rides(hass, device_id=red, filename="rides.csv")
    with (tmp_path / "rides.csv").open(encoding="utf-8", newline="") as file:
        _, row = csv.reader(file)
    assert row[2] == f"'{name}"


async def test_track_of_the_last_ride(bikes: Bikes) -> None:
    """Without times it is that of the ride under way, else of the last one."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    device = {"device_id": device_of(bikes.hass, RED)}
    times: Answer = {"start_date_time": None, "end_date_time": None}
    with pytest.raises(ServiceValidationError, match="No ride of Red bike is known"):
        await async_get_track(bikes.hass, **times)
    await async_ride(bikes.simulator, bikes.poll)
    [ride] = await async_get_rides(bikes.hass, **device)
    answer = await async_get_track(bikes.hass, **times)
    assert list(answer) == ["gpx", "points"]
    assert answer["points"][0]["time"] >= ride["started_at"]
    assert answer["points"][-1]["time"][:19] == ride["ended_at"][:19]
    go(bikes.simulator, 500, **riding(103))
    await bikes.poll()
    go(bikes.simulator, 500, **riding(103.5))
    await bikes.poll()
    answer = await async_get_track(bikes.hass, **times)
    assert answer["points"][-1]["time"] > ride["ended_at"]
    assert answer["points"][0]["time"] >= ride["ended_at"]


@pytest.mark.usefixtures("setup")
async def test_service_that_ignores_the_time(
    bikes: Bikes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it reports from other times is no part of the track."""
    history = Renderer.history

    def whole_history(
        self: Renderer, email: str, device_id: str, start: datetime, end: datetime
    ) -> Any:
        return history(self, email, device_id, start - DAY, end + DAY)

    monkeypatch.setattr(Renderer, "history", whole_history)
    now = dt_util.utcnow()
    bikes.simulator.forget_position(RED)
    bikes.simulator.report(RED, last_update=now - MINUTE)
    time: Answer = {"start_date_time": now - HOUR, "end_date_time": now - 30 * MINUTE}
    with pytest.raises(ServiceValidationError, match="no reports"):
        await async_get_track(bikes.hass, **time)


async def test_track(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry
) -> None:
    """Every report of that time, as a list and as GPX."""
    now = dt_util.utcnow()
    simulator.forget_position(RED)
    for minutes in (90, 50, 49, 10):
        simulator.report(
            RED,
            latitude=48 + minutes / 1_000,
            longitude=7.8,
            altitude=278.0,
            speed=10.0,
            last_update=now - minutes * MINUTE,
        )
    answer = await async_get_track(hass)
    assert answer["points"] == [
        {
            "time": (now - minutes * MINUTE).isoformat(timespec="milliseconds")[:23]
            + "000+00:00",
            "latitude": 48 + minutes / 1_000,
            "longitude": 7.8,
            "speed": 18.5,
            "altitude": 278.0,
        }
        for minutes in (50, 49, 10)
    ]
    [track] = gpxpy.parse(answer["gpx"]).tracks
    assert track.name == "Red bike"
    assert [len(segment.points) for segment in track.segments] == [2, 1]
    assert asked(simulator) == 1


async def test_track_is_written(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry, tmp_path: Path
) -> None:
    """Where Home Assistant may write, into a folder that may be new; an answer is not needed."""
    hass.config.allowlist_external_dirs = {str(tmp_path)}
    file = tmp_path / "rides" / "sunday.gpx"
    simulator.forget_position(RED)
    simulator.report(RED, last_update=dt_util.utcnow() - MINUTE)
    simulator.rename(RED, "Fahrrad 🚲")
    answer = await async_get_track(hass, filename=str(file))
    assert file.read_text(encoding="utf-8") == answer["gpx"]
    with file.open(encoding="utf-8") as opened:
        assert len(gpxpy.parse(opened).tracks[0].segments[0].points) == 1


async def test_file_that_may_not_be_written(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry, tmp_path: Path
) -> None:
    """It is refused before anything is asked for, as are names that no file can have."""
    hass.config.allowlist_external_dirs = {str(tmp_path)}
    (tmp_path / "link.gpx").symlink_to(tmp_path.parent / "elsewhere.gpx")
    for filename in (
        "/etc/track.gpx",
        str(tmp_path / "link.gpx"),
        str(tmp_path / "track\0.gpx"),
        str(tmp_path / "\ud800.gpx"),
    ):
        with pytest.raises(ServiceValidationError, match="may not write"):
            await async_get_track(hass, filename=filename)
    with pytest.raises(vol.Invalid):
        await async_get_track(hass, filename="/media/../etc/track.gpx")
    assert asked(simulator) == 0


@pytest.mark.parametrize(
    ("hours", "requests"), [(1, 1), (24, 1), (25, 1), (26, 2), (48, 2), (168, 7)]
)
async def test_requests_of_a_track(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    hours: int,
    requests: int,
) -> None:
    """A day is one request, with its last second and also if it has 25 hours."""
    now = dt_util.utcnow()
    simulator.report(RED, last_update=now - MINUTE)
    await async_get_track(hass, start_date_time=now - hours * HOUR)
    assert asked(simulator) == requests


async def test_track_of_parts_that_are_too_large(
    hass: HomeAssistant,
    simulator: Simulator,
    setup: MockConfigEntry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An answer of more than 8 MiB is requested in halves; no report comes twice."""
    now = dt_util.utcnow()
    simulator.forget_position(RED)
    moments = [now - minutes * MINUTE for minutes in range(1_400, 0, -7)]
    for number, moment in enumerate(moments):
        simulator.report(RED, latitude=48 + number / 1_000, last_update=moment)
    monkeypatch.setattr(client, "MAX_BYTES", 40_000)
    track = await async_get_track(hass, start_date_time=now - DAY)
    assert len(track["points"]) == len(moments)
    assert (requests := asked(simulator)) > 2
    monkeypatch.setattr(client, "MAX_BYTES", 1_000)
    with pytest.raises(HomeAssistantError, match="too many reports"):
        await async_get_track(hass, start_date_time=now - DAY)
    # The first hour tells that shorter parts do not help.
    assert asked(simulator) == requests + 5


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize("action", ["get_track", "get_rides", "get_statistics"])
async def test_end_of_all_time(hass: HomeAssistant, action: str) -> None:
    """Times near the year 9999 are refused in words."""
    data = {
        "device_id": device_of(hass, RED),
        "start_date_time": "9999-12-31 00:00:00",
        "end_date_time": "9999-12-31 23:59:59",
    }
    with pytest.raises(ServiceValidationError, match="end must be after"):
        await _async_ask(hass, action, data)


@pytest.mark.usefixtures("setup")
async def test_questions_that_are_refused(
    bikes: Bikes, device_registry: dr.DeviceRegistry
) -> None:
    """Times that are too long or none, and devices that are no bikes."""
    now = dt_util.utcnow()
    other = MockConfigEntry(domain="other")
    other.add_to_hass(bikes.hass)
    car = device_registry.async_get_or_create(
        config_entry_id=other.entry_id, identifiers={("other", RED)}, name="Car"
    )
    for data, words in (
        ({"start_date_time": now - 7 * DAY - MINUTE}, "at most 7 days"),
        ({"start_date_time": now + MINUTE}, "end must be after"),
        ({"device_id": car.id}, "None of the targets"),
        ({"device_id": "gone"}, "None of the targets"),
    ):
        with pytest.raises(ServiceValidationError, match=words):
            await async_get_track(bikes.hass, **data)
    assert asked(bikes.simulator) == 0


@pytest.mark.parametrize("monday", ["2026-03-23", "2026-10-19", "2026-11-02"])
async def test_track_of_a_week(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry, monday: str
) -> None:
    """It is one also if clocks are set back or forward in it."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    start = dt_util.start_of_local_day(date.fromisoformat(monday))
    # By the clocks, and by the hours.
    for end in start + 7 * DAY, dt_util.as_utc(start) + 7 * DAY:
        with pytest.raises(ServiceValidationError, match="no reports"):
            await async_get_track(hass, start_date_time=start, end_date_time=end)
    assert asked(simulator) == 14


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("status-400", r"has not provided the tracker's reports .*status 400"),
        ("status-401", r"has not provided the tracker's reports .*status 401"),
        ("status-404", r"has not provided the tracker's reports .*status 404"),
        ("html", "has not provided the tracker's reports"),
        ("status-503", "cannot answer at the moment .*status 503"),
        ("reset-before-body", "could not be reached .*connection lost"),
        ("huge-body", "too many reports in that time"),
    ],
)
async def test_service_that_does_not_answer(
    bikes: Bikes, fault: str, words: str
) -> None:
    """The error says what to do; nobody is asked to sign in."""
    bikes.simulator.fault(fault, path="history")
    with pytest.raises(HomeAssistantError, match=words) as caught:
        await async_get_track(bikes.hass)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert bikes.hass.config_entries.flow.async_progress() == []


async def test_too_many_questions(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry, poll: Poll
) -> None:
    """Ten a minute are asked; the poll goes on."""
    simulator.report(RED, last_update=dt_util.utcnow() - MINUTE)
    for _ in range(10):
        await async_get_track(hass)
    with pytest.raises(HomeAssistantError, match="Ten tracks were requested"):
        await async_get_track(hass)
    assert asked(simulator) == 10
    await poll()
    await async_get_track(hass)
    assert asked(simulator) == 11


async def test_example(
    bikes: Bikes, label_registry: lr.LabelRegistry, device_registry: dr.DeviceRegistry
) -> None:
    """What the documentation shows tells the kilometers of the week."""
    document = (ROOT / "docs" / "automations.md").read_text()
    week = _parsed(document.split("```yaml")[-1].partition("```")[0])
    week["triggers"] = {"trigger": "event", "event_type": "sunday"}
    messages = async_mock_service(bikes.hass, "notify", "mobile_app_my_phone")
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    label = label_registry.async_create("bikes")
    device_registry.async_update_device(
        device_of(bikes.hass, RED), labels={label.label_id}
    )
    assert await async_setup_component(bikes.hass, "automation", {"automation": week})
    await async_ride(bikes.simulator, bikes.poll)
    bikes.hass.bus.async_fire("sunday")
    await bikes.hass.async_block_till_done()
    [message] = messages
    assert message.data["message"].startswith("1 rides this week, 1.")


async def test_actions_without_an_account(hass: HomeAssistant) -> None:
    """They are there as soon as the integration is."""
    assert await async_setup_component(hass, DOMAIN, {})
    assert hass.services.async_services_for_domain(DOMAIN).keys() == {
        "get_rides",
        "get_statistics",
        "get_track",
        "send_message",
        "theft_report",
        "where",
    }


def _parsed(text: str) -> Any:
    return parse_yaml(text)


async def test_what_is_no_point(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry
) -> None:
    """Messages without a fix, places nobody was at, and fixes that came twice."""
    now = dt_util.utcnow()
    simulator.forget_position(RED)
    moment = now - 30 * MINUTE
    simulator.report(RED, latitude=48.0, longitude=7.8, last_update=moment)
    simulator.report(RED, last_update=moment)
    simulator.report(RED, valid=False, fix_time=moment, last_update=moment + MINUTE)
    simulator.report(RED, latitude=0.0, longitude=0.0, last_update=moment + 2 * MINUTE)
    [point] = (await async_get_track(hass))["points"]
    assert (point["latitude"], point["speed"]) == (48.0, 0)


async def test_where_of_a_bike_that_is_not_listed(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry, poll: Poll
) -> None:
    """Nothing is known of it but its name; before, that its tracker was offline."""
    simulator.override_field(RED, "status", "offline")
    await poll()
    [bike] = await async_where(hass, device_id=device_of(hass, RED))
    assert bike["text"].endswith(", its tracker is offline.")
    simulator.unassign(EMAIL, RED)
    await poll()
    [bike] = await async_where(hass, device_id=device_of(hass, RED))
    assert {key for key in bike if bike[key] is not None} == {
        *("device_id", "name", "on_ride", "text")
    }
    with pytest.raises(ServiceValidationError, match="None of the targets"):
        await async_where(hass, entity_id="sun.sun")


@pytest.mark.usefixtures("rides")
async def test_time_that_is_none(hass: HomeAssistant) -> None:
    """What ends before it starts is refused, as are words and years that are no time."""
    now, target = dt_util.utcnow(), {"entity_id": "device_tracker.red_bike"}
    for times in (
        {"start_date_time": now, "end_date_time": now - MINUTE},
        {"end_date_time": datetime.min},
    ):
        with pytest.raises(ServiceValidationError, match="end must be after"):
            await async_get_rides(hass, **target, **times)
    with pytest.raises(vol.Invalid):
        await async_get_rides(hass, **target, start_date_time="yesterday")


async def test_file_that_cannot_be_written(
    hass: HomeAssistant, simulator: Simulator, setup: MockConfigEntry, tmp_path: Path
) -> None:
    """The error says which file, and why."""
    hass.config.allowlist_external_dirs = {str(tmp_path)}
    simulator.report(RED, last_update=dt_util.utcnow() - MINUTE)
    with pytest.raises(HomeAssistantError, match="could not be written.*directory"):
        await async_get_track(hass, filename=str(tmp_path))
