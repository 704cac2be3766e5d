"""Where a bike is, in the service's words."""

from collections.abc import Callable

from homeassistant.const import STATE_UNKNOWN, Platform
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from .conftest import BLUE, RED, Bikes, Poll, StateOf
from .tools.simulator.server import Simulator

STREET = "Moltkestraße 1, 69120 Heidelberg"

type Shown = Callable[..., str | None]


@pytest.fixture
def shown(setup: MockConfigEntry, state_of: StateOf) -> Shown:
    """Return a function for the address that is shown, None if there is no such entity."""

    def _shown(tracker: str = RED) -> str | None:
        state = state_of(f"{tracker}_address", Platform.SENSOR)
        return state.state if state else None

    return _shown


async def test_exists_once_it_is_reported(
    simulator: Simulator, poll: Poll, shown: Shown
) -> None:
    """Only trackers of which the service tells one have it."""
    assert (shown(), shown(BLUE)) == (None, None)
    simulator.report(RED, address=STREET)
    await poll()
    assert (shown(), shown(BLUE)) == (STREET, None)


async def test_is_that_of_the_place(
    simulator: Simulator, poll: Poll, shown: Shown
) -> None:
    """It stays while the bike does; elsewhere it is another one, or not known."""
    simulator.report(RED, latitude=48.0, address=STREET)
    await poll()
    simulator.report(RED)
    await poll()
    assert shown() == STREET
    simulator.report_no_fix(RED)
    await poll()
    assert shown() == STREET

    simulator.report(RED, latitude=48.1, longitude=7.9)
    await poll()
    assert shown() == STATE_UNKNOWN
    simulator.report(RED, latitude=48.2, address="Salzstraße 2")
    await poll()
    assert shown() == "Salzstraße 2"


async def test_long_address(simulator: Simulator, poll: Poll, shown: Shown) -> None:
    """Home Assistant takes no state of more than 255 characters."""
    simulator.report(RED, address="ä" * 300)
    await poll()
    assert shown() == "ä" * 255


@pytest.mark.usefixtures("setup")
async def test_moved_during_a_restart(bikes: Bikes, shown: Shown) -> None:
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
    assert shown() == "New street"
