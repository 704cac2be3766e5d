"""Lists that are too large to be read."""

from homeassistant.const import Platform
import pytest

from .conftest import BLUE, RED, Bikes, async_setup

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
    bikes: Bikes, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning says of which account, and what it means; all else works."""
    bikes.simulator.raw_positions(TOO_LONG)
    await async_setup(bikes.hass, bikes.entry)
    for _ in range(4):
        bikes.simulator.report_many()
        await bikes.poll(3 * 3600)

    assert bikes.value_of(f"{RED}_online", Platform.BINARY_SENSOR) == "on"
    [warning] = warnings(caplog)
    assert warning.startswith(f"{bikes.entry.title}: Positions cannot be fetched")
    assert "more than 8 MiB" in warning


@pytest.mark.usefixtures("setup")
async def test_positions_that_worked(
    bikes: Bikes, caplog: pytest.LogCaptureFixture
) -> None:
    """The same, among whatever other failures; and again after they worked meanwhile."""
    for number in (1, 2):
        for fault, answer in ((None, TOO_LONG), ("status-503", None), (None, TOO_LONG)):
            bikes.simulator.fault(fault, path="positions")
            bikes.simulator.raw_positions(answer)
            bikes.simulator.report(BLUE, latitude=48.0)
            await bikes.poll(600)
        assert len(warnings(caplog)) == number
        assert "more than 8 MiB" in warnings(caplog)[-1]

        bikes.simulator.raw_positions(None)
        bikes.simulator.report(BLUE, latitude=50.0 + number)
        await bikes.poll(600)
        await bikes.poll(600)
        state = bikes.state(BLUE)
        assert state.attributes["latitude"] == 50.0 + number
