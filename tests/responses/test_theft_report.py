"""The theft report: its content, its sources, and that values are escaped, never read as HTML."""

from base64 import b64decode
from datetime import datetime
import re
from typing import Any

from homeassistant.core import Context
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockUser
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator
from syrupy.assertion import SnapshotAssertion
from yarl import URL

from custom_components.bike_tracker.responses import bike_of, texts
from custom_components.bike_tracker.responses.drawing import route_as_svg
from custom_components.bike_tracker.responses.theft_report import (
    START,
    async_link_to_report,
)
from custom_components.bike_tracker.tracking.routes import decode

from ..conftest import BLUE, EMAIL, PASSWORD, RED, Bikes, async_setup
from ..riding import async_set_up_and_ride
from ..test_actions import DAY, MINUTE, async_act, async_get_rides, device_of
from ..tools.simulator.world import DEFAULT_LATITUDE
from .conftest import read

MARKUP = '<script>alert("&")</script>'
ESCAPED = "&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;"


async def async_report(bikes: Bikes, **data: Any) -> Any:
    """Call the action `theft_report`, by default for the red bike, and return its answer."""
    return await async_act(bikes.hass, "theft_report", **data)


async def async_set_up_and_guard(bikes: Bikes, address: str = "Am Bach 3") -> None:
    """Set the account up after a report of the red bike, and guard this bike."""
    bikes.simulator.report(RED, accuracy=5, address=address)
    await async_setup(bikes.hass, bikes.entry)
    await bikes.async_guard()


async def async_steal(bikes: Bikes, stands: int = 0, **more: Any) -> None:
    """Let the red bike move north for six minutes, then stand for `stands` minutes, with a report in each minute."""
    for minute in range(1, 7 + stands):
        is_moving = minute < 7
        bikes.simulator.report(
            RED,
            latitude=DEFAULT_LATITUDE + min(minute, 6) / 1_000,
            accuracy=5,
            motion=is_moving,
            speed=10.0 * is_moving,
            address=f"Rue {minute}",
            **more,
        )
        await bikes.poll()


def _times(html: str) -> list[tuple[str, str]]:
    """Return the latitude, with 5 decimals, and the time of each row in the table of positions."""
    cell = r'<td class="number"><bdi>(.*?)</bdi></td>'
    rows = re.findall(rf"<tr><td>.?</td>{cell}{cell}", html)
    return [(f"{float(place.split(',')[0]):.5f}", time) for time, place in rows]


def _events(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the label and the value of each row below *What happened*."""
    events = report["html"].partition("What happened")[2].partition("</table>")[0]
    return re.findall(r"<th>(.*?)</th><td>(.*?)</td>", re.sub("</?bdi>", "", events))


async def test_stolen_bike(
    bikes: Bikes, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page shows how the bike was guarded, what triggered the guard, and where the bike is now."""
    await bikes.hass.config.async_set_time_zone("Europe/Berlin")
    await async_set_up_and_guard(bikes)
    await async_steal(bikes)
    report = await async_report(bikes, owner="Ann\nRue 1", frame_number="WTU123")
    assert report["positions"] == 6
    html = report["html"]
    assert html.partition("<body>")[2].splitlines() == snapshot
    # Fields that the owner left empty do not appear.
    assert "Insurance" not in html and PASSWORD not in html
    assert len(read(report["gpx"]).segments[0].points) == 6

    bikes.hass.config.language = "de"
    await texts.async_load_texts(bikes.hass)
    # From 2026.11 on, an update of the integration removes its texts from the cache.
    monkeypatch.setattr(texts, "async_get_cached_translations", lambda *_: {})
    await texts.async_load_texts(bikes.hass)
    html = (await async_report(bikes))["html"]
    labels = ("Bewacht", "Wurde bewegt", "Zuletzt gesehen", "Tracking-Dienst", "Zeit")
    headings = ("Diebstahlbericht: Red bike", "Was geschehen ist", "Positionen")
    assert all(f">{it}</" in html for it in labels + headings)
    assert '<html lang="de" dir="ltr">' in html
    bikes.hass.config.language = "he"
    assert '<html lang="he" dir="rtl">' in (await async_report(bikes))["html"]


async def test_alarm(ready: Bikes, hass_admin_user: MockUser) -> None:
    """If an alarm triggered the guard, the page shows it as *Alarm*. The page names the user who guarded the bike."""
    await ready.async_guard(context=Context(user_id=hass_admin_user.id))
    ready.simulator.report(RED, attributes={"alarm": "vibration"})
    await ready.poll()
    html = (await async_report(ready, start_date_time=-MINUTE))["html"]
    assert "<th>Alarm</th>" in html and "Was moved" not in html
    assert hass_admin_user.name in html


async def test_after_a_theft(bikes: Bikes, hass_admin_user: MockUser) -> None:
    """After *Guard again* and *It's me*, the report still has the arming, trigger and places of the theft."""
    bikes.simulator.report(RED, accuracy=5)
    before = dt_util.utcnow()
    await async_setup(bikes.hass, bikes.entry)
    await bikes.poll(600)
    await bikes.async_guard(context=Context(user_id=hass_admin_user.id))
    await async_steal(bikes, stands=7)
    during = _events(await async_report(bikes))
    assert [label for label, _ in during] == ["Guarded", "Was moved", "Last seen"]
    assert hass_admin_user.name and hass_admin_user.name in during[0][1]
    await bikes.async_guard()
    again = _events(await async_report(bikes))
    assert again[:2] == during[:2]
    assert [label for label, _ in again[2:]] == ["Guarded", "Last seen"]
    await bikes.async_guard("disarm")
    report = await async_report(bikes)
    assert (_events(report), report["positions"]) == (during, 13)
    # The bike was not guarded before and after this time.
    await bikes.poll(600)
    bikes.simulator.report(RED)
    for times in (
        {"start_date_time": before, "end_date_time": before + MINUTE},
        {"start_date_time": dt_util.utcnow() - MINUTE},
    ):
        guarded = _events(await async_report(bikes, **times))[0]
        assert guarded == ("Guarded", "Not guarded")


async def test_after_a_theft_by_a_slow_clock(bikes: Bikes) -> None:
    """If the tracker's clock is an hour behind, the report after *It's me* still has the theft, and all times are right, also of a later ride."""

    async def async_report_late(**more: Any) -> None:
        time = dt_util.utcnow() - 60 * MINUTE
        await bikes.async_report(fix_time=time, device_time=time, **more)

    time = dt_util.utcnow() - 60 * MINUTE
    bikes.simulator.report(RED, fix_time=time, device_time=time)
    await async_setup(bikes.hass, bikes.entry)
    for _ in range(5):
        await async_report_late(motion=False)
    await bikes.async_guard()
    await async_report_late(motion=False)
    await async_report_late(motion=True)
    await bikes.async_guard("disarm")
    report = await async_report(bikes)
    first, second = times = ("2026-11-20 13:05:05", "2026-11-20 13:06:06")
    events = {"Guarded": first, "Was moved": second, "Last seen": second}
    assert [(key, time[:19]) for key, time in _events(report)] == [*events.items()]
    assert tuple(time for _, time in _times(report["html"])) == times
    [segment] = read(report["gpx"]).segments
    assert [f"{it.time:%H:%M:%S}" for it in segment.points] == ["12:05:05", "12:06:06"]
    for north in (0.003, 0.006):
        await async_report_late(latitude=DEFAULT_LATITUDE + north, motion=True)
    events = dict(_events(await async_report(bikes, start_date_time=-2 * MINUTE)))
    assert events["Ride"].startswith(first)


async def test_guarded_after_a_ride(bikes: Bikes) -> None:
    """If the bike is only guarded after the thief's ride, the report contains this ride."""
    bikes.simulator.report(RED, accuracy=5)
    await async_setup(bikes.hass, bikes.entry)
    await async_steal(bikes, stands=7)
    await bikes.async_guard()
    report = await async_report(bikes)
    assert report["positions"] >= 12
    [ride] = [value for label, value in _events(report) if label == "Ride"]
    assert all(f"{DEFAULT_LATITUDE + it:.6f}" in ride for it in (0, 0.006))
    report = await async_report(bikes, start_date_time=-MINUTE)
    assert "<th>Ride</th>" not in report["html"]


async def test_everything_is_text(bikes: Bikes) -> None:
    """Markup in values from the server or from the user is shown as text."""
    await async_set_up_and_guard(bikes, address=MARKUP)
    bikes.simulator.rename(RED, MARKUP)
    bikes.simulator.override_field(RED, "model", MARKUP)
    await async_steal(bikes, attributes={"alarm": MARKUP})
    texts = dict.fromkeys(("owner", "frame_number", "color", "insurance"), MARKUP)
    report = await async_report(bikes, **texts)
    assert report["html"].count(ESCAPED) >= 8
    assert read(report["gpx"]).name == MARKUP
    words = ("<script", "src=", "href=", "url(", "@import", "onload")
    assert not [it for it in words if it in report["html"].lower()]


async def test_long_track(ready: Bikes) -> None:
    """Of 100 positions, the page lists 24, including the first and the last. It links to a GPX file with all."""
    ready.simulator.rename(RED, MARKUP)
    await ready.poll()
    now = dt_util.utcnow()
    ready.simulator.forget_position(RED)
    for minute in range(100, 0, -1):
        ready.simulator.report(
            RED, latitude=48 + minute / 1_000, last_update=now - minute * MINUTE
        )
    report = await async_report(ready, start_date_time=-200 * MINUTE)
    assert report["positions"] == 100
    assert report["html"].count("<tr><td>") == 1 + 24
    link, note = report["html"].partition("<a ")[2].split("</a>")[0].split(">")
    assert note.startswith("24 of 100 positions.")
    name, data = f'download="{ESCAPED}.gpx"', 'href="data:application/gpx+xml;base64,'
    assert link.startswith(f"{name} {data}")
    assert b64decode(link.removeprefix(f"{name} {data}")).decode() == report["gpx"]
    assert all(it in report["html"] for it in ("48.100000", "48.001000"))
    assert "Not guarded" in report["html"]
    assert len(read(report["gpx"]).segments[0].points) == 100


async def test_long_rest(ready: Bikes) -> None:
    """If the bike stood for long before the theft, the page lists when it stood there, and the whole theft."""
    now = dt_util.utcnow()
    ready.simulator.forget_position(RED)
    for minute in range(100, 0, -1):
        north, time = max(10 - minute, 0) / 1_000, now - minute * MINUTE
        ready.simulator.report(RED, latitude=48 + north, last_update=time)
    report = await async_report(ready, start_date_time=-200 * MINUTE)
    assert "11 of 100 positions." in report["html"]
    places = [place for place, _ in _times(report["html"])]
    assert places == ["48.00000", *(f"48.00{meter}00" for meter in range(10))]


async def test_service_does_not_answer(ready: Bikes) -> None:
    """If the request for the history fails, the report has the last known places, the stored route, and the reason."""
    await ready.async_report(accuracy=5)
    await ready.async_guard()
    ready.simulator.fault("status-503", path="history")
    report = await async_report(ready)
    assert report["positions"] == 1 and "503" in report["html"]
    assert "<tr><td>●</td>" in report["html"]
    assert read(report["gpx"]).segments[0].points[0].time
    await ready.async_report(accuracy=5, attributes={"alarm": "vibration"})
    await ready.async_guard()
    await ready.async_report(accuracy=5)
    assert (await async_report(ready))["positions"] == 3
    await async_steal(ready)
    report = await async_report(ready)
    # The table shows where the bike was guarded, where the guard was triggered, and the
    # ends of the ride. The GPX file has all places of the stored route.
    shown = _times(report["html"])
    norths = [f"{DEFAULT_LATITUDE + minute / 1_000:.5f}" for minute in (0, 1, 6)]
    assert sorted({place for place, _ in shown}) == norths
    assert report["positions"] == len(shown)
    await ready.async_guard("disarm")
    assert _times((await async_report(ready))["html"]) == shown
    track = read(report["gpx"])
    assert len(track.segments[0].points) == 7
    assert "503" in (track.description or "")
    assert f"{len(shown)} of 7 positions." in report["html"]
    assert all(it in report["html"] for it in ("<polyline", "stored routes"))


async def test_report_after_a_pause(bikes: Bikes) -> None:
    """Without a history, the table has the place where the guard was triggered, also if that report starts the ride."""
    await async_set_up_and_guard(bikes)
    bikes.simulator.fault("status-503", path="history")
    await bikes.poll(1200)
    await async_steal(bikes)
    places = [place for place, _ in _times((await async_report(bikes))["html"])]
    assert f"{DEFAULT_LATITUDE + 0.001:.5f}" in places


async def test_stored_routes(bikes: Bikes) -> None:
    """If the service has no history, the drawing shows the stored route of the newest ride. The page has the reason."""
    await async_set_up_and_ride(bikes)
    bikes.simulator.fault("status-404", path="history")
    device = device_of(bikes.hass, RED)
    [ride] = await async_get_rides(bikes.hass, device_id=device, routes=True)
    report, line = await async_report(bikes), decode(ride["route"])
    _, polyline, *_ = report["html"].split("<polyline")
    assert polyline.partition(">")[0].count(",") == len(line)
    [segment] = read(report["gpx"]).segments
    assert [(it.latitude, it.longitude) for it in segment.points] == line
    bikes.hass.config.language = "de"
    await texts.async_load_texts(bikes.hass)
    html = (await async_report(bikes))["html"]
    assert re.search(
        r'"note">Der Server hat .* nach\. Dies sind die gespeicherten', html
    )
    # Errors of Home Assistant itself are in English.
    assert texts.error_text(bikes.hass, HomeAssistantError("No action")) == "No action"


async def test_no_report(ready: Bikes) -> None:
    """If a report is not possible, the error has the reason. A report of an unlisted bike is possible."""
    # The green bike's tracker has never had a fix.
    ready.simulator.add_device("green", email=EMAIL, latitude=None)
    await ready.poll()
    green = device_of(ready.hass, "green")
    refused: list[tuple[dict[str, Any], str]] = [
        ({}, "No ride of Red bike"),
        ({"start_date_time": -8 * DAY}, "at most 7 days"),
        ({"device_id": "gone"}, "None of the targets"),
        ({"device_id": green, "start_date_time": 0 * DAY}, "no reports"),
    ]
    for data, error in refused:
        with pytest.raises(ServiceValidationError, match=error):
            await async_report(ready, **data)
    # The history has a report that no poll returned.
    ready.simulator.report("green", is_buffered=True)
    report = await async_report(ready, device_id=green, start_date_time=-MINUTE)
    assert "Last seen" not in report["html"]
    ready.simulator.unassign(EMAIL, RED)
    await ready.poll()
    assert (await async_report(ready, start_date_time=-MINUTE))["positions"] == 1
    await ready.hass.config_entries.async_unload(ready.entry.entry_id)
    with pytest.raises(HomeAssistantError, match="not available"):
        await async_report(ready, start_date_time=-MINUTE)


async def test_bike_guarded_for_long(ready: Bikes) -> None:
    """If a bike has been guarded for weeks, its report begins seven days ago."""
    await ready.async_guard()
    ready.freezer.tick(20 * DAY)
    ready.simulator.report(RED, last_update=dt_util.utcnow() - 8 * DAY)
    ready.simulator.report(RED, last_update=dt_util.utcnow() - 6 * DAY)
    report = await async_report(ready)
    [segment] = read(report["gpx"]).segments
    assert [it.time for it in segment.points] == [dt_util.utcnow() - 6 * DAY]
    with pytest.raises(ServiceValidationError, match="must be after"):
        await async_report(ready, end_date_time=-21 * DAY)


async def test_link(bikes: Bikes, hass_client_no_auth: ClientSessionGenerator) -> None:
    """For a day, a link opens the report of one bike without a sign-in. An old link is no failed sign-in. If Home Assistant has no address, no link exists."""
    hass, home = bikes.hass, "https://home.example.com"
    assert await async_setup_component(hass, "http", {})
    await async_set_up_and_guard(bikes)
    hass.config.external_url = home
    client = await hass_client_no_auth()

    def link(unique_id: str = RED, since: datetime | None = None) -> URL:
        bike = bike_of(hass, device_of(hass, unique_id))
        return URL((bike and async_link_to_report(hass, bike, since)) or "")

    async def status(of: URL) -> int:
        return (await client.get(of.relative())).status

    async def error(of: URL) -> str:
        answer = await client.get(of.relative())
        assert answer.content_type == "text/plain"
        return f"{answer.status} {await answer.text()}"

    first = link()
    assert f"{first}".startswith(f"{home}/api/bike_tracker/theft_report/")
    page = await client.get(first.relative())
    assert page.content_type == "text/html"
    assert "<title>Theft report: Red bike</title>" in await page.text()
    unknown = "404 No ride of Blue bike is known yet. Choose a start and an end time"
    assert await error(link(BLUE)) == unknown
    until = int(first.query["until"])
    for wrong in ({"until": until + 1}, {"signature": "é"}, {START: "2026"}):
        assert await status(first.update_query(wrong)) == 401
    for path in (link(BLUE).path, f"{first.path}0"):
        assert await status(first.with_path(path, keep_query=True)) == 401
    await bikes.poll(600)
    await async_steal(bikes)
    guard = bikes.coordinator.data.states[RED].guard
    assert guard
    theft, old = (link(since=guard.armed_at - days * DAY) for days in (0, 20))
    assert old.query[START] == (dt_util.utcnow() - 6 * DAY).isoformat()
    await bikes.async_guard("disarm")
    assert await status(theft) == 200
    query = bikes.simulator.requests[-1].query
    assert f"from={guard.armed_at:%Y-%m-%dT%H:%M:%S}" in query
    bikes.freezer.tick(until - dt_util.utcnow().timestamp())
    assert await status(first) == 200
    bikes.freezer.tick(2)
    assert (await error(first)).startswith("410 This link has expired.")
    hass.config.api = hass.config.external_url = None
    assert link() == URL()
    await hass.config_entries.async_unload(bikes.entry.entry_id)
    assert await status(first) == 401


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [[(48.0, 7.8)]],
        [[(48.0, 7.8), (48.0, 7.9)]],
        # A route that crosses the date line.
        [[(10.0, 179.99), (10.0, -179.99)]],
        [[(48.0, 7.8), (48.01, 7.8)], [(48.02, 7.8)]],
    ],
)
def test_drawing(lines: Any, snapshot: SnapshotAssertion) -> None:
    """The SVG of each route matches the snapshot. Without a point, the SVG is empty."""
    assert route_as_svg(lines).split("><") == snapshot
