"""Tracks as GPX: their content, read with an independent library, and the permission for their links."""

from datetime import datetime
from typing import Any

from aiohttp.test_utils import TestClient
from homeassistant.components.http.auth import async_sign_path
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator
from yarl import URL

from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.responses.track import Track, gpx
from custom_components.bike_tracker.tracking.routes import decode

from ..books import row, store
from ..conftest import RED, Bikes
from ..riding import async_set_up_and_ride
from ..test_actions import HOUR, MINUTE, async_get_rides, device_of
from .conftest import read

NOW = datetime.fromisoformat("2026-11-20T12:00:00+00:00")


def report(minutes: float, *place: float) -> Position:
    """Return a report: `minutes` after `NOW`, at a latitude, a longitude, maybe an altitude."""
    values: Any = zip(("latitude", "longitude", "altitude"), place, strict=False)
    return Position(1, 1, NOW + minutes * MINUTE, **dict(values))


def test_points() -> None:
    """The GPX file has the time, place and altitude of each point. After more than half an hour without a report, a new segment begins."""
    rows = [(0, 47.9990076, 7.8421043, 278.04), (30, -0.0000001, -179.5), (61, 1, 1, 0)]
    text = gpx("Fahrrad", Track([report(*it) for it in rows]).segments())
    assert [
        [(it.time, it.latitude, it.longitude, it.elevation) for it in segment.points]
        for segment in read(text).segments
    ] == [
        [
            (NOW, 47.9990076, 7.8421043, 278.0),
            (NOW + 30 * MINUTE, -0.0000001, -179.5, None),
        ],
        [(NOW + 61 * MINUTE, 1, 1, 0)],
    ]
    # The XML begins with the root element, without a declaration.
    assert text.startswith(
        '<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1" '
        'creator="Bike Tracker for Home Assistant">'
    )


@pytest.mark.parametrize(
    ("name", "known"),
    [
        *((it, it) for it in ("<b>&amp;</b>", 'Ann\'s "bike"', "自転車", "🚲", "]]>")),
        ("Red\ufffe\uffff\x00\x1b\ud800 bike", "Red bike"),
    ],
)
def test_texts(name: str, known: str) -> None:
    """The file is valid XML, even with markup or forbidden characters in a name, or a point without a time."""
    track = read(gpx(name, [[{"latitude": 48.0, "longitude": 8.0}]], f"of {name}"))
    assert (track.name, track.description) == (known, f"of {known}")
    assert track.segments[0].points[0].time is None


@pytest.fixture
async def http(hass: HomeAssistant) -> None:
    """Start Home Assistant's web server before the integration is set up."""
    assert await async_setup_component(hass, "http", {})


@pytest.fixture
async def client(
    http: None, ready: Bikes, hass_client: ClientSessionGenerator
) -> TestClient[Any, Any]:
    """Return a web client that is signed in as an administrator."""
    return await hass_client()


def path(device_id: str, start: object = NOW - HOUR, end: object = NOW) -> str:
    """Return the path of the download of a bike's track between two times."""
    address = URL(f"/api/{DOMAIN}/gpx/{device_id}")
    return str(address.with_query(start=str(start), end=str(end)))


async def test_track_of_the_service(bikes: Bikes, client: TestClient[Any, Any]) -> None:
    """The download has the reports of the service. Its file name contains the bike and the day."""
    bikes.simulator.rename(RED, 'Vélo "rouge"')
    bikes.simulator.forget_position(RED)
    for minutes in (50, 49, 10):
        bikes.simulator.report(RED, last_update=NOW - minutes * MINUTE)
    await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)
    response = await client.get(path(device_of(bikes.hass, RED)))
    assert response.status == 200
    assert response.content_type == "application/gpx+xml"
    assert response.headers["Content-Disposition"] == (
        'attachment; filename="velo_rouge_2026-11-20.gpx"; '
        "filename*=UTF-8''V%C3%A9lo%20%22rouge%22%202026-11-20.gpx"
    )
    track = read(await response.text())
    assert track.name == 'Vélo "rouge"'
    assert track.description is None
    assert [len(segment.points) for segment in track.segments] == [2, 1]


@pytest.mark.usefixtures("client")
async def test_link(bikes: Bikes, hass_client_no_auth: ClientSessionGenerator) -> None:
    """A signed link works without a sign-in. Without its signature, or with a changed time, it is refused."""
    hass = bikes.hass
    bikes.simulator.report(RED, last_update=NOW - MINUTE)
    client, device = await hass_client_no_auth(), device_of(hass, RED)
    user = await hass.auth.async_create_user("Ann", group_ids=["system-admin"])
    token = await hass.auth.async_create_refresh_token(user, "https://example.com")
    signed = async_sign_path(hass, path(device), HOUR, refresh_token_id=token.id)
    other_time = URL(signed).update_query(start=str(NOW - 2 * HOUR))
    for link, status in ((path(device), 401), (signed, 200), (other_time, 401)):
        assert (await client.get(link)).status == status


async def test_who_may_read(
    bikes: Bikes, client: TestClient[Any, Any], hass_admin_user: MockUser
) -> None:
    """Without the permission to read the bike, a user gets the status 401."""
    bikes.simulator.report(RED, last_update=NOW - MINUTE)
    hass_admin_user.groups = []
    for entities, status in (
        ({"device_tracker.blue_bike": True}, 401),
        ({"device_tracker.red_bike": {"read": True}}, 200),
    ):
        hass_admin_user.mock_policy({"entities": {"entity_ids": entities}})
        assert (await client.get(path(device_of(bikes.hass, RED)))).status == status


@pytest.mark.parametrize(
    ("times", "status"),
    [
        (("yesterday",), 400),
        ((NOW, ""), 400),
        ((NOW, NOW - HOUR), 400),
        ((NOW - 8 * 24 * HOUR,), 400),
        # In this range, no report exists, and only a ride without a route.
        ((NOW - 5 * HOUR, NOW - 4 * HOUR), 404),
    ],
)
async def test_wrong_time(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    client: TestClient[Any, Any],
    times: Any,
    status: int,
) -> None:
    """The answer to a wrong time range is an error status with a message."""
    store(hass, entry, [row(4 * HOUR)])
    response = await client.get(path(device_of(hass, RED), *times))
    assert response.status == status
    assert (await response.json())["message"]
    # For an unknown device the answer is 404.
    assert (await client.get(path("unknown"))).status == 404


@pytest.mark.usefixtures("http")
@pytest.mark.parametrize("fault", ["status-404", "status-503", "html"])
async def test_service_without_history(
    bikes: Bikes, hass_client: ClientSessionGenerator, fault: str
) -> None:
    """If the service provides no history, the file contains the stored routes, and a note with the reason."""
    await async_set_up_and_ride(bikes)
    bikes.simulator.fault(fault, path="history")
    device, now = device_of(bikes.hass, RED), dt_util.utcnow()
    [ride] = await async_get_rides(bikes.hass, device_id=device, routes=True)
    client = await hass_client()
    response = await client.get(path(device, now - HOUR, now))
    track = read(await response.text())
    why, source = (track.description or "").split(" These are ")
    assert source == "the stored routes of the rides, within 10 meters."
    # The note contains the reason only one time.
    assert why.startswith("The server ")
    assert why.count("The server ") == 1
    [segment] = track.segments
    line = [(it.latitude, it.longitude) for it in segment.points]
    assert line == decode(ride["route"])
    times = [f"{it.time:%FT%T}" for it in segment.points]
    assert times == [ride["started_at"][:19], ride["ended_at"][:19]]
