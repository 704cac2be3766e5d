"""The calendar of a bike contains its rides."""

from datetime import timedelta
import re
from typing import Any

from homeassistant.components.calendar import CalendarEntity, CalendarEvent
from homeassistant.components.calendar.const import DATA_COMPONENT
from homeassistant.const import STATE_OFF, STATE_ON, STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest

from .books import row, store
from .conftest import BLUE, EMAIL, RED, Bikes, async_setup
from .riding import go, riding, standing
from .test_rides_from_before import ride_on_days

CALENDAR = "calendar.red_bike_rides"
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
HOME = {"latitude": 48.0, "longitude": 7.8, "address": None}
NOWHERE = {"latitude": 10.0, "longitude": 10.0, "address": None}


@pytest.fixture(autouse=True)
async def home(hass: HomeAssistant) -> None:
    """Create the zone of the house at the place `HOME`."""
    await hass.config.async_update(latitude=48.0, longitude=7.8)
    assert await async_setup_component(hass, "zone", {})


def calendar_of(bikes: Bikes) -> CalendarEntity:
    """Return the calendar of the red bike."""
    calendar = bikes.hass.data[DATA_COMPONENT].get_entity(CALENDAR)
    assert calendar
    return calendar


async def async_events(
    bikes: Bikes, start_ago: timedelta = 2 * DAY, end_ago: timedelta = -DAY
) -> list[CalendarEvent]:
    """Return the red bike's calendar events from `start_ago` to `end_ago` before now. A negative value is after now."""
    start, end = (dt_util.utcnow() - ago for ago in (start_ago, end_ago))
    return await calendar_of(bikes).async_get_events(bikes.hass, start, end)


async def test_ride_that_is_over(bikes: Bikes) -> None:
    """The event of a finished ride has its times, distance, duration, maximum speed and places."""
    now, ride = dt_util.utcnow(), row(HOUR, start=HOME)
    store(bikes.hass, bikes.entry, [ride, row(HOUR, BLUE)])
    await async_setup(bikes.hass, bikes.entry)
    event = CalendarEvent(
        start=now - 2 * HOUR,
        end=now - HOUR,
        summary="12.3 km · Red bike",
        description="1 h 0 min, max. 28 km/h",
        location="test home → Am Bach 3",
        uid=f"{RED} {ride['started_at']}",
    )
    assert await async_events(bikes) == [event]
    assert await async_events(bikes, 1.5 * HOUR, 1.4 * HOUR) == [event]
    assert await async_events(bikes, 0.9 * HOUR) == []
    assert await async_events(bikes, 3 * HOUR, 2.1 * HOUR) == []


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({"start": None, "end": None}, {"location": None}),
        ({"start": NOWHERE, "end": None}, {"location": None}),
        ({"start": NOWHERE, "end": HOME}, {"location": "? → test home"}),
        ({"start": None}, {"location": "? → Am Bach 3"}),
        ({"start": HOME | {"address": "Lane"}}, {"location": "Lane → Am Bach 3"}),
        ({"end": None, "start": HOME}, {"location": "test home → ?"}),
        ({"maximum_speed": None, "duration": 32 * 60 + 29}, {"description": "32 min"}),
        ({"language": "ar"}, {"summary": "\u206812.3 km\u2069 · Red bike"}),
        ({"distance": 0.04}, {"summary": "0.0 km · Red bike"}),
        ({"distance": 104.25}, {"summary": "104.2 km · Red bike"}),
        # The decimal sign follows Home Assistant's language, even if the integration
        # has no texts in that language.
        ({"language": "de"}, {"summary": "12,3 km · Red bike"}),
        ({"language": "hi"}, {"summary": "12.3 km · Red bike"}),
    ],
)
async def test_texts(
    bikes: Bikes, more: dict[str, Any], shown: dict[str, str | None]
) -> None:
    """Unknown values are left out. If only one place is unknown, it is shown as a question mark."""
    language = more.pop("language", "en")
    store(bikes.hass, bikes.entry, [row(HOUR, **more)])
    await async_setup(bikes.hass, bikes.entry)
    bikes.hass.config.language = language
    [event] = await async_events(bikes)
    assert {key: getattr(event, key) for key in shown} == shown


async def test_name_of_the_bike(bikes: Bikes) -> None:
    """If the account has several bikes, the event names the bike. With a single bike, it does not."""
    store(bikes.hass, bikes.entry, [row(HOUR)])
    await async_setup(bikes.hass, bikes.entry)
    devices = dr.async_get(bikes.hass)
    devices.async_update_device(bikes.device(RED).id, name_by_user="City bike")
    await bikes.hass.async_block_till_done()
    [event] = await async_events(bikes)
    assert event.summary == "12.3 km · City bike"
    bikes.simulator.unassign(EMAIL, BLUE)
    await bikes.poll()
    [event] = await async_events(bikes)
    assert event.summary == "12.3 km"


async def test_ride_under_way(bikes: Bikes) -> None:
    """A ride under way is the current event, and the calendar has a single event for it."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    state = bikes.state(CALENDAR)
    assert (state.state, state.name) == (STATE_OFF, "Red bike Rides")
    assert await async_events(bikes) == []
    await bikes.poll()
    go(bikes.simulator, 500, **riding(100.5))
    await bikes.poll()
    state = bikes.state(CALENDAR)
    assert (state.state, state.attributes["message"]) == (STATE_ON, "0.5 km · Red bike")
    [event] = await async_events(bikes)
    assert event.summary == "0.5 km · Red bike"
    assert await async_events(bikes, 2 * DAY, DAY) == []
    go(bikes.simulator, 300, **riding(100.8))
    moved_at = dt_util.utcnow()
    await bikes.poll()
    assert bikes.state(CALENDAR).attributes["message"] == "0.8 km · Red bike"
    # Two minutes later, the event in the calendar ends at the newest movement, so the
    # last minute has no event.
    await bikes.poll(120)
    [event] = await async_events(bikes)
    assert abs(event.end_datetime_local - moved_at) < timedelta(seconds=2)
    assert await async_events(bikes, HOUR / 60) == []


async def test_available_in_an_outage(ready: Bikes) -> None:
    """During an outage, the calendar stays available: its rides are stored in Home Assistant.

    The calendar of a tracker that is no longer listed is unavailable.
    """
    ready.simulator.fault("status-503")
    await ready.poll()
    assert ready.state(CALENDAR).state == STATE_OFF
    ready.simulator.fault(None)
    ready.simulator.unassign(EMAIL, RED)
    await ready.poll(300)
    assert ready.state(CALENDAR).state == STATE_UNAVAILABLE


@pytest.mark.skipif(
    not hasattr(CalendarEntity, "async_subscribe_events"),
    reason="nobody can subscribe to a calendar",
)
@pytest.mark.usefixtures("with_rides_from_before")
async def test_open_calendar_shows_rides_from_before(bikes: Bikes) -> None:
    """Rides from before the set-up appear in an open calendar when they are loaded. The calendar's state is not written."""
    ride_on_days(bikes.simulator, 3)
    bikes.simulator.fault("status-503", path="history")
    await async_setup(bikes.hass, bikes.entry)
    now, before = dt_util.utcnow(), bikes.state(CALENDAR)
    bikes.simulator.fault(None, path="history")
    shown: list[int] = []
    stop = calendar_of(bikes).async_subscribe_events(
        now - 5 * DAY, now, lambda events: shown.append(len(events or []))
    )
    await bikes.poll(times=9)
    stop()
    assert shown == sorted(shown)
    assert shown[-1] == 3
    assert bikes.state(CALENDAR).last_updated == before.last_updated


async def test_each_bike_has_a_color(bikes: Bikes) -> None:
    """Ten bikes have ten different colors. A color that the user chose stays."""
    for number in range(8):
        bikes.simulator.add_device(f"{number}", email=EMAIL)
    await async_setup(bikes.hass, bikes.entry)
    registry = er.async_get(bikes.hass)
    calendars = [it for it in registry.entities.values() if it.domain == "calendar"]
    colors = {it.options["calendar"]["color"] for it in calendars}
    assert len([it for it in colors if re.fullmatch("#[0-9a-f]{6}", it)]) == 10
    one, own = calendars[0], {"color": "#123456"}
    registry.async_update_entity_options(one.entity_id, "calendar", own)
    await bikes.hass.config_entries.async_reload(bikes.entry.entry_id)
    assert registry.entities[one.entity_id].options["calendar"] == own
