"""Which rides a bike made."""

from datetime import timedelta

from homeassistant.core import HomeAssistant
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import voluptuous as vol

from ..books import row, store
from ..conftest import Bikes, Poll, async_setup
from ..test_rides import async_ride
from ..tools.simulator.server import Simulator
from ..tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE
from .asking import RED_BIKE, RIDES, Ask, expose, needs_tools

pytestmark = needs_tools


@pytest.mark.usefixtures("exposed")
async def test_units_of_the_house(bikes: Bikes, ask: Ask) -> None:
    """Where people count miles they hear miles."""
    bikes.hass.config.units = US_CUSTOMARY_SYSTEM
    await async_ride(bikes.simulator, bikes.poll)
    [bike] = await ask()
    assert bike["distance_from_home"] == "1.9 mi"
    [answer] = await ask(RIDES)
    assert answer["rides"][0]["maximum_speed"] == "10 mph"


@pytest.mark.usefixtures("exposed")
async def test_days(simulator: Simulator, poll: Poll, ask: Ask) -> None:
    """Today is a day; more than 31 are 31."""
    await async_ride(simulator, poll)
    for days, since in ((1, "20"), (2, "19"), ("3", "18")):
        [answer] = await ask(RIDES, days=days)
        assert answer["since"] == f"2026-11-{since}T00:00:00+01:00"
    # Summer time ended in between.
    for days in (31, 32, 9_999):
        [answer] = await ask(RIDES, days=days)
        assert answer["since"] == "2026-10-21T00:00:00+02:00"
    for days in (0, -1, "many"):
        with pytest.raises(vol.Invalid):
            await ask(RIDES, days=days)

    await poll(2 * 86_400)
    [answer] = await ask(RIDES, days=2)
    assert (answer["count"], answer["rides"]) == (0, [])
    assert answer["total_distance"] == "0.0 km"
    [answer] = await ask(RIDES)
    assert answer["count"] == 1


async def test_places(hass: HomeAssistant, entry: MockConfigEntry, ask: Ask) -> None:
    """A place is called by its zone, its address or its coordinates, if it is known."""
    work = {"latitude": DEFAULT_LATITUDE, "longitude": DEFAULT_LONGITUDE}
    away = {"latitude": 48.123456, "longitude": 7.8}
    places = [(None, None), (work, away), (away | {"address": "Salzstraße 2"}, None)]
    rides = [
        row(timedelta(hours=hours), duration=300, distance=1.5, start=start, end=end)
        for hours, (start, end) in zip((3, 2, 1), places, strict=True)
    ]
    store(hass, entry, rides)
    await async_setup(hass, entry)
    expose(hass, RED_BIKE)

    [bike] = await ask(RIDES)
    assert [(ride.get("start"), ride.get("end")) for ride in bike["rides"]] == [
        (None, None),
        ("Work", "48.1235, 7.8"),
        ("Salzstraße 2", None),
    ]
    assert (bike["total_distance"], bike["total_duration"]) == ("4.5 km", "15 min")
