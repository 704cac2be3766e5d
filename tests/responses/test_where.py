"""Where a bike is, in all that can be with it."""

from datetime import timedelta

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_load_integrations
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import EMAIL, RED, Poll, async_setup
from ..test_rides import async_ride, go, riding
from ..tools.simulator.server import Simulator
from ..tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE
from .asking import RIDES, WHERE, Ask, expose, needs_tools

pytestmark = needs_tools


@pytest.mark.usefixtures("exposed")
async def test_at_work(ask: Ask) -> None:
    """A zone is called by its name, and how far it is from home is told."""
    [bike] = await ask(name="Red bike")
    assert bike == {
        "name": "Red bike",
        "place": "Work",
        "latitude": round(DEFAULT_LATITUDE, 4),
        "longitude": round(DEFAULT_LONGITUDE, 4),
        "distance_from_home": "2.0 km",
        "direction_from_home": "north",
        "position_time": "2026-11-20T13:00:00+01:00",
        "position_age": "0 seconds",
        "moving": False,
        "battery": 80,
        "status": "online",
        "guard": "disarmed",
        "last_report_age": "0 seconds",
        "text": (
            "Red bike is at Work, 2.0 km north of home, position from 13:00, "
            "battery 80%."
        ),
    }


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "de",
            "Red bike ist hier: Work, 2,0 km nördlich von zu Hause, "
            "Position von 13:00, Batterie 80 %.",
        ),
        (
            "ja",
            "Red bikeの場所はWork、自宅の北2.0 kmです、測位時刻13:00、バッテリー80%。",
        ),
        (
            "he",
            "\u200f\u2068\u200f\u2068Red bike\u2069: \u2068Work\u2069, \u20682.0 km\u2069 "
            "\u2068מצפון\u2069 לבית\u2069, \u2068מיקום משעה \u206813:00\u2069\u2069, "
            "\u2068סוללה \u206880%\u2069\u2069.",
        ),
    ],
)
@pytest.mark.usefixtures("exposed")
async def test_in_another_language(
    hass: HomeAssistant, ask: Ask, language: str, text: str
) -> None:
    """The sentence has the words, commas and full stop of Home Assistant's language."""
    hass.config.language = language
    await async_load_integrations(hass, {DOMAIN})
    assert (await ask(name="Red bike"))[0]["text"] == text


@pytest.mark.usefixtures("exposed")
async def test_guarded(
    hass: HomeAssistant, simulator: Simulator, poll: Poll, ask: Ask
) -> None:
    """Whether somebody is to be told if it moves, and that it did."""
    target = {"entity_id": "alarm_control_panel.red_bike_guard"}
    await hass.services.async_call(
        "alarm_control_panel", "alarm_arm_away", target, blocking=True
    )
    assert (await ask())[0]["guard"] == "armed"
    await poll()
    simulator.report(RED, motion=True)
    await poll()
    [bike] = await ask()
    assert bike["guard"] == "triggered"
    assert "moving, battery 80%, its guard was triggered." in bike["text"]


@pytest.mark.usefixtures("exposed")
async def test_at_home(
    hass: HomeAssistant, simulator: Simulator, poll: Poll, ask: Ask
) -> None:
    """It is not said how far home is from home."""
    simulator.report(RED, latitude=hass.config.latitude, accuracy=5.0)
    await poll()
    [bike] = await ask()
    assert bike["place"] == "test home"
    assert "direction_from_home" not in bike
    assert bike["text"].startswith("Red bike is at home, position from")


@pytest.mark.usefixtures("exposed")
@pytest.mark.parametrize(
    ("north", "east", "wind"),
    [
        (0.1, 0, "north"),
        (0.1, 0.15, "north_east"),
        (0.001, 0.1, "east"),
        (-0.1, 0.15, "south_east"),
        (-0.1, 0.001, "south"),
        (-0.1, -0.15, "south_west"),
        (-0.001, -0.1, "west"),
        (0.1, -0.15, "north_west"),
    ],
)
async def test_in_no_zone(
    hass: HomeAssistant,
    simulator: Simulator,
    poll: Poll,
    ask: Ask,
    north: float,
    east: float,
    wind: str,
) -> None:
    """There is the address, if the service has one, and the way from home."""
    simulator.report(
        RED,
        latitude=hass.config.latitude + north,
        longitude=hass.config.longitude + east,
        address="Salzstraße 2, Freiburg",
    )
    await poll()
    [bike] = await ask()
    assert "place" not in bike
    assert bike["address"] == "Salzstraße 2, Freiburg"
    assert bike["direction_from_home"] == wind
    words = wind.replace("_", "")
    assert (
        f"is at Salzstraße 2, Freiburg, {bike['distance_from_home']} {words} of"
        in (bike["text"])
    )


async def test_no_position(
    hass: HomeAssistant, simulator: Simulator, entry: MockConfigEntry, ask: Ask
) -> None:
    """A tracker that never had a place is nowhere."""
    simulator.add_device("7", name="Green bike", email=EMAIL, latitude=None)
    simulator.override_field("7", "lastUpdate", None)
    await async_setup(hass, entry)
    expose(hass, "device_tracker.green_bike")
    [bike] = await ask()
    assert bike == {
        "name": "Green bike",
        "text": "The location of Green bike is unknown.",
        "status": "online",
        "guard": "disarmed",
    }


@pytest.mark.usefixtures("exposed")
async def test_silent_for_a_day(poll: Poll, ask: Ask) -> None:
    """How old it is, is told in words."""
    await poll(25 * 3_600 + 60)
    [bike] = await ask()
    assert bike["position_age"] == bike["last_report_age"] == "1 day 1 hour"


@pytest.mark.usefixtures("exposed")
async def test_clock_that_is_ahead(simulator: Simulator, poll: Poll, ask: Ask) -> None:
    """What will be is now."""
    now = (await ask())[0]["position_time"]
    simulator.report(RED, fix_time=dt_util.utcnow() + timedelta(minutes=4))
    await poll()
    [bike] = await ask()
    assert bike["position_time"] > now
    assert bike["position_age"] == "0 seconds"


@pytest.mark.usefixtures("exposed")
async def test_low_speed(simulator: Simulator, poll: Poll, ask: Ask) -> None:
    """Whose receiver reports the speed of noise does not move."""
    simulator.report(RED, motion=True, speed=1.0)
    await poll()
    [bike] = await ask()
    assert "moving" not in bike["text"]


@pytest.mark.usefixtures("exposed")
async def test_on_a_ride(simulator: Simulator, poll: Poll, ask: Ask) -> None:
    """It is told, with how far it came; the last rides come with their sums."""
    await async_ride(simulator, poll)
    go(simulator, 500, **riding(103))
    await poll()
    [bike] = await ask()
    assert bike["moving"] is True
    assert bike["on_ride"].keys() == {
        *("started_at", "distance", "duration", "maximum_speed", "start")
    }

    [answer] = await ask(RIDES, name="red bike", days=1)
    [ride] = answer["rides"]
    assert ride["distance"] == answer["total_distance"]
    assert answer["not_over_yet"] == bike["on_ride"]
    assert answer["count"] == 1


@pytest.mark.usefixtures("exposed")
async def test_outage(simulator: Simulator, poll: Poll, ask: Ask) -> None:
    """What was known is told, and that it may be otherwise now."""
    simulator.fault("status-503")
    await poll()
    [bike] = await ask()
    assert bike["place"] == "Work"
    assert "does not answer" in bike["note"]
    assert bike["text"].endswith("the service does not answer at the moment.")
    [bike] = await ask(RIDES)
    assert "does not answer" in bike["note"]


async def test_nothing_known(
    hass: HomeAssistant,
    exposed: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    ask: Ask,
) -> None:
    """That is told of a bike which is not listed, and of one whose account does not work."""
    simulator.unassign(EMAIL, RED)
    await poll()
    for tool in (WHERE, RIDES):
        [bike] = await ask(tool)
        assert bike["note"].startswith("Nothing is known of it at the moment")
    await hass.config_entries.async_unload(exposed.entry_id)
    for tool in (WHERE, RIDES):
        [bike] = await ask(tool)
        # Not that it was not ridden.
        assert bike.keys() - {"text"} == {"name", "note"}
        assert bike["note"].startswith("Nothing is known")
