"""Values that cannot be cost themselves, and nothing else."""

from typing import Any

from homeassistant.const import STATE_UNKNOWN, Platform
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from .conftest import BLUE, RED, Poll, StateOf, ValueOf, async_setup
from .tools.simulator.server import Simulator


@pytest.mark.parametrize("year", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"])
async def test_times_that_cannot_be(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
    value_of: ValueOf,
    year: str,
) -> None:
    """They are unknown, and cost neither the tracker nor the others."""
    simulator.override_field(RED, "lastUpdate", year)
    for field in ("fixTime", "deviceTime"):
        simulator.override_position(RED, field, year)
    for number in range(3):
        for unique_id in (RED, BLUE):
            simulator.report(unique_id, latitude=48.0 + number, motion=True)
        await poll()
    await hass.config_entries.async_reload(setup.entry_id)
    await poll()

    for unique_id in (RED, BLUE):
        state = state_of(unique_id)
        assert state is not None
        assert state.attributes["latitude"] == 50.0
    assert value_of(f"{RED}_last_update", Platform.SENSOR) == STATE_UNKNOWN


@pytest.mark.parametrize("total", [1e308, 10_000_000_001, -1, "far"])
async def test_total_that_cannot_be(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    state_of: StateOf,
    total: Any,
) -> None:
    """No bike went 10 million kilometres: such a total is as good as none."""
    simulator.report(RED, latitude=48.0, attributes={"totalDistance": total})
    simulator.report(BLUE, latitude=48.0, attributes={"totalDistance": 1_234_000})
    await async_setup(hass, entry)

    for unique_id, kilometres in ((RED, 0), (BLUE, 1_234)):
        state = state_of(f"{unique_id}_total_distance", Platform.SENSOR)
        assert state is not None
        assert float(state.state) == kilometres
