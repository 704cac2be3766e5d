"""What a tracker says of itself: charging, lock, voltages, firmware and model."""

from typing import Any

from homeassistant.const import STATE_OFF, STATE_ON, Platform
import pytest

from .conftest import BLUE, RED, Bikes, Poll, StateOf, async_setup
from .tools.simulator.server import Simulator

ENTITIES = {
    "charging": Platform.BINARY_SENSOR,
    "lock": Platform.BINARY_SENSOR,
    "battery_voltage": Platform.SENSOR,
    "power_voltage": Platform.SENSOR,
}


@pytest.fixture
def states(state_of: StateOf) -> Any:
    """Return a function for the states of a tracker that exist."""

    def _states(tracker: str = RED) -> dict[str, str]:
        return {
            key: state.state
            for key, platform in ENTITIES.items()
            if (state := state_of(f"{tracker}_{key}", platform))
        }

    return _states


@pytest.mark.usefixtures("all_enabled", "setup")
async def test_values(simulator: Simulator, poll: Poll, states: Any) -> None:
    """Each exists once it is reported, for the tracker that reports it."""
    assert states() == {}

    simulator.report(RED, attributes={"charge": True, "lock": False})
    await poll()
    # A lock that is not locked is on, as Home Assistant has it.
    assert states() == {"charging": STATE_ON, "lock": STATE_ON}

    simulator.report(RED, attributes={"lock": True, "battery": 3.9, "power": 12.3})
    await poll()
    assert states() == {
        "charging": STATE_ON,
        "lock": STATE_OFF,
        "battery_voltage": "3.9",
        "power_voltage": "12.3",
    }
    assert states(BLUE) == {}


async def test_device_page(bikes: Bikes) -> None:
    """Model and firmware stand there and follow what the service says."""

    def device() -> tuple[str | None, str | None]:
        return bikes.device(RED).model, bikes.device(RED).sw_version

    bikes.simulator.override_field(RED, "model", "TK905")
    bikes.simulator.report(RED, attributes={"versionFw": "1.2"})
    await async_setup(bikes.hass, bikes.entry)
    assert device() == ("TK905", "1.2")

    bikes.simulator.report(RED, attributes={"versionFw": "1.3"})
    await bikes.poll()
    assert device() == ("TK905", "1.3")

    bikes.simulator.report(RED, attributes={})
    bikes.simulator.override_field(RED, "model", "TK906")
    await bikes.poll()
    assert device() == ("TK906", "1.3")

    bikes.simulator.override_field(RED, "model", None)
    await bikes.poll()
    assert device() == (None, "1.3")
