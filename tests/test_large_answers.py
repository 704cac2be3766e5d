"""Lists that are too large to be read."""

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from .conftest import BLUE, RED, Poll, StateOf, ValueOf, async_setup
from .tools.simulator.server import Simulator

TOO_LONG = b"[" + b" " * 8 * 2**20 + b"]"


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what we warned of, and worse."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelname in {"WARNING", "ERROR"}
        and record.name.startswith("custom_components.bike_tracker")
    ]


@pytest.mark.usefixtures("freezer")
async def test_positions_that_never_worked(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    poll: Poll,
    value_of: ValueOf,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One warning says of which account, and what it means; all else works."""
    simulator.raw_positions(TOO_LONG)
    await async_setup(hass, entry)
    for _ in range(4):
        simulator.report_many()
        await poll(3 * 3600)

    assert value_of(f"{RED}_online", Platform.BINARY_SENSOR) == "on"
    [warning] = warnings(caplog)
    assert warning.startswith(f"{entry.title}: Positions cannot be fetched")
    assert "the list is too large" in warning
    assert "more than 8 MiB" in warning


async def test_positions_that_worked(
    setup: MockConfigEntry,
    simulator: Simulator,
    poll: Poll,
    state_of: StateOf,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The same, among whatever other failures; and again after they worked meanwhile."""
    for number in (1, 2):
        for fault, answer in ((None, TOO_LONG), ("status-503", None), (None, TOO_LONG)):
            simulator.fault(fault, path="positions")
            simulator.raw_positions(answer)
            simulator.report(BLUE, latitude=48.0)
            await poll(600)
        assert len(warnings(caplog)) == number
        assert "too large" in warnings(caplog)[-1]

        simulator.raw_positions(None)
        simulator.report(BLUE, latitude=50.0 + number)
        await poll(600)
        await poll(600)
        state = state_of(BLUE)
        assert state is not None
        assert state.attributes["latitude"] == 50.0 + number
