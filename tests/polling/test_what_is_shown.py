"""What a position shows, and what is none."""

from homeassistant.const import STATE_UNKNOWN, Platform
from homeassistant.util import dt as dt_util
import pytest

from ..conftest import BLUE, EMAIL, RED, Bikes, Poll, StateOf, async_setup
from ..tools.simulator.server import Simulator
from .places import AT_HOME, AWAY, HOME, asked, place


@pytest.mark.usefixtures("setup")
async def test_tracker_moves(bikes: Bikes) -> None:
    """A tracker enters and leaves zones."""
    assert bikes.value_of(RED) == "home"

    bikes.simulator.report(RED, **AWAY, accuracy=12.5)
    await bikes.poll()

    state = bikes.state(RED)
    assert state.state == "not_home"
    assert place(state) == (48.1, 7.9)
    assert state.attributes["gps_accuracy"] == 12.5
    assert state.attributes["source_type"] == "gps"


@pytest.mark.usefixtures("setup")
async def test_only_what_changed_is_written(bikes: Bikes, writes: list[str]) -> None:
    """A report that changes the battery alone writes the battery, its time and ID alone."""
    await bikes.poll()
    bikes.simulator.report(RED, battery_level=79)
    writes.clear()

    await bikes.poll()

    assert sorted(writes) == [
        "sensor.red_bike_battery",
        "sensor.red_bike_position_id",
        "sensor.red_bike_position_time",
    ]


@pytest.mark.parametrize("year", [1970, 1980])
async def test_never_had_a_fix(bikes: Bikes, year: int) -> None:
    """0/0 in 1970 or 1980 is no place; the battery of such a message counts."""
    bikes.simulator.report_no_fix(RED, year=year)
    await async_setup(bikes.hass, bikes.entry)

    assert bikes.value_of(RED) == STATE_UNKNOWN
    assert bikes.value_of(f"{RED}_battery", Platform.SENSOR) == "80"
    assert bikes.state_of(f"{RED}_position_time", Platform.SENSOR) is None

    bikes.simulator.report(RED, **HOME)
    await bikes.poll()
    assert bikes.value_of(RED) == "home"
    assert bikes.state_of(f"{RED}_position_time", Platform.SENSOR)


@pytest.mark.usefixtures("setup")
async def test_loses_its_fix(bikes: Bikes) -> None:
    """A message without a fix leaves the tracker where it was, and updates the battery."""
    before = bikes.state(f"{RED}_position_time", Platform.SENSOR)
    bikes.simulator.report(
        RED,
        latitude=0.0,
        longitude=0.0,
        valid=False,
        battery_level=12,
        fix_time=dt_util.utc_from_timestamp(0),
    )

    await bikes.poll()

    assert bikes.value_of(RED) == "home"
    assert bikes.value_of(f"{RED}_battery", Platform.SENSOR) == "12"
    assert bikes.state(f"{RED}_position_time", Platform.SENSOR) == before


@pytest.mark.usefixtures("setup")
@pytest.mark.parametrize("internal_id", [None, "shared"])
async def test_internal_id_that_leads_nowhere(
    simulator: Simulator, poll: Poll, state_of: StateOf, internal_id: str | None
) -> None:
    """Without an `id` of its own a tracker stays where it was, and then is found again."""
    shared = simulator.devices[BLUE].id if internal_id else None
    simulator.override_field(RED, "id", shared)
    simulator.report(RED, **AWAY)
    simulator.add_device("860000000000033", name="Green bike", email=EMAIL)
    await poll()
    assert asked(simulator)["positions"] == 2
    assert place(state_of(RED)) == AT_HOME
    assert place(state_of(BLUE)) == AT_HOME

    simulator.clear_overrides(RED)
    await poll()
    assert place(state_of(RED)) == (AWAY["latitude"], AWAY["longitude"])
    assert place(state_of(BLUE)) == AT_HOME
