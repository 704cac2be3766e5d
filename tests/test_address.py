"""Where a bike is, in the service's words."""

from homeassistant.const import STATE_UNKNOWN, Platform
import pytest

from .conftest import BLUE, RED, Bikes

STREET = "Moltkestraße 1, 69120 Heidelberg"

pytestmark = pytest.mark.usefixtures("setup")


def shown(bikes: Bikes, tracker: str = RED) -> str | None:
    """Return the address that is shown, None if there is no such entity."""
    return bikes.value_of(f"{tracker}_address", Platform.SENSOR)


async def test_exists_once_it_is_reported(bikes: Bikes) -> None:
    """Only trackers of which the service tells one have it."""
    assert (shown(bikes), shown(bikes, BLUE)) == (None, None)
    bikes.simulator.report(RED, address=STREET)
    await bikes.poll()
    assert (shown(bikes), shown(bikes, BLUE)) == (STREET, None)


async def test_is_that_of_the_place(bikes: Bikes) -> None:
    """It stays while the bike does; elsewhere it is another one, or not known."""
    bikes.simulator.report(RED, latitude=48.0, address=STREET)
    await bikes.poll()
    bikes.simulator.report(RED)
    await bikes.poll()
    assert shown(bikes) == STREET
    bikes.simulator.report_no_fix(RED)
    await bikes.poll()
    assert shown(bikes) == STREET

    bikes.simulator.report(RED, latitude=48.1, longitude=7.9)
    await bikes.poll()
    assert shown(bikes) == STATE_UNKNOWN
    bikes.simulator.report(RED, latitude=48.2, address="Salzstraße 2")
    await bikes.poll()
    assert shown(bikes) == "Salzstraße 2"


async def test_moved_during_a_restart(bikes: Bikes) -> None:
    """The street where it was is not shown once it stands in another one."""
    bikes.simulator.report(RED, address="Old street", motion=False)
    await bikes.poll()
    await bikes.hass.config_entries.async_unload(bikes.entry.entry_id)
    position = bikes.simulator.devices[RED].position
    assert position
    latitude = position.latitude + 0.02
    bikes.simulator.report(RED, latitude=latitude, address="New street", motion=False)
    await bikes.hass.config_entries.async_setup(bikes.entry.entry_id)
    await bikes.hass.async_block_till_done(wait_background_tasks=True)
    assert shown(bikes) == "New street"
