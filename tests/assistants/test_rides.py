"""Which rides a bike made."""

from homeassistant.core import HomeAssistant
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM
import pytest
import voluptuous as vol

from ..conftest import Poll
from ..simulator.server import Simulator
from ..test_rides import async_ride
from .asking import RIDES, Ask, needs_tools

pytestmark = needs_tools


@pytest.mark.usefixtures("exposed")
async def test_units_of_the_house(
    hass: HomeAssistant, simulator: Simulator, poll: Poll, ask: Ask
) -> None:
    """Where people count miles they hear miles."""
    hass.config.units = US_CUSTOMARY_SYSTEM
    await async_ride(simulator, poll)
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
