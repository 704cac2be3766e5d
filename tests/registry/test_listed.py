"""Trackers as the list has them: status, a new one, another ID."""

from datetime import timedelta

from homeassistant.const import STATE_UNAVAILABLE, Platform
from homeassistant.util import dt as dt_util
import pytest

from ..conftest import EMAIL, RED, Bikes, Poll, StateOf, ValueOf
from ..tools.simulator.server import Simulator

GREEN = "860000000000033"


@pytest.mark.usefixtures("setup")
async def test_status_and_nothing_else(
    simulator: Simulator, poll: Poll, writes: list[str], value_of: ValueOf
) -> None:
    """A tracker that goes offline is off within one poll; no other state is written."""
    simulator.set_status(RED, "offline")
    writes.clear()

    await poll()

    assert writes == ["binary_sensor.red_bike_connectivity"]
    assert value_of(f"{RED}_online", Platform.BINARY_SENSOR) == "off"


@pytest.mark.usefixtures("setup")
async def test_idle_polls_write_nothing(poll: Poll, writes: list[str]) -> None:
    """Polls without news write no state, in whatever order the trackers come."""
    writes.clear()

    for _ in range(5):
        await poll()

    assert not writes


@pytest.mark.usefixtures("setup")
async def test_unknown_status(
    simulator: Simulator, poll: Poll, value_of: ValueOf
) -> None:
    """A status the interface does not name is unknown, not off."""
    simulator.set_status(RED, "sleeping")

    await poll()

    assert value_of(f"{RED}_online", Platform.BINARY_SENSOR) == "unknown"


@pytest.mark.usefixtures("setup")
async def test_new_tracker(simulator: Simulator, poll: Poll, value_of: ValueOf) -> None:
    """A tracker that is assigned appears at the next poll, with all its entities."""
    simulator.add_device(GREEN, name="Green bike", email=EMAIL)

    await poll()

    for unique_id, platform in (
        (GREEN, Platform.DEVICE_TRACKER),
        (f"{GREEN}_online", Platform.BINARY_SENSOR),
        (f"{GREEN}_disabled", Platform.BINARY_SENSOR),
        (f"{GREEN}_last_update", Platform.SENSOR),
        (f"{GREEN}_battery", Platform.SENSOR),
    ):
        assert value_of(unique_id, platform) not in (None, STATE_UNAVAILABLE)


@pytest.mark.usefixtures("setup")
async def test_other_internal_id(
    simulator: Simulator, poll: Poll, state_of: StateOf
) -> None:
    """The same `uniqueId` under another internal `id` is the same tracker."""
    simulator.move_internal_id(RED)
    simulator.report(RED, latitude=50.0)

    await poll()

    state = state_of(RED)
    assert state is not None
    assert state.entity_id == "device_tracker.red_bike"
    assert state.attributes["latitude"] == 50.0


@pytest.mark.usefixtures("setup")
async def test_entity_that_fails_does_not_hold_up_the_others(
    bikes: Bikes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A bug in one platform leaves the other platforms' states right."""
    from custom_components.bike_tracker.sensor import BikeTrackerSensor  # noqa: PLC0415

    def _fail(_: BikeTrackerSensor) -> None:
        raise RuntimeError("a bug")

    bikes.simulator.set_status(RED, "offline")
    bikes.simulator.touch([RED], last_update=dt_util.utcnow() + timedelta(minutes=6))
    with monkeypatch.context() as patch:
        patch.setattr(BikeTrackerSensor, "async_write_ha_state", _fail)
        await bikes.poll()

    assert bikes.value_of(f"{RED}_online", Platform.BINARY_SENSOR) == "off"
    assert "a bug" in caplog.text
    caplog.clear()
