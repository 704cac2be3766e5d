"""Accounts of many trackers."""

from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from ..conftest import EMAIL, Poll, async_setup
from ..tools.simulator.server import Simulator


async def test_many_trackers_come_and_go(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator, poll: Poll
) -> None:
    """Fleets are added and told in portions; none is forgotten."""
    trackers = [f"35{number:013}" for number in range(250)]
    for tracker in trackers:
        simulator.add_device(tracker, email=EMAIL)
    await async_setup(hass, entry)
    assert len(hass.states.async_entity_ids("device_tracker")) == 252

    for tracker in trackers:
        simulator.set_status(tracker, "offline")
    await poll()
    assert (
        sum(state.state == "off" for state in hass.states.async_all("binary_sensor"))
        == 250 + 2 * 252
    )

    simulator.fault("status-500")
    await poll()
    assert all(
        state.state == STATE_UNAVAILABLE
        for state in hass.states.async_all("device_tracker")
    )


async def test_thousands_of_trackers(
    hass: HomeAssistant, setup: MockConfigEntry, simulator: Simulator, poll: Poll
) -> None:
    """A fleet of any size is read whole."""
    for number in range(1_100):
        simulator.add_device(f"35{number:013}", email=EMAIL, latitude=None)

    await poll()

    assert len(hass.states.async_entity_ids("device_tracker")) == 1_102
