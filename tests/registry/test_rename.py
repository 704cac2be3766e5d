"""Trackers that get another name."""

from typing import Any

from homeassistant.const import STATE_OFF, Platform
from homeassistant.helpers import device_registry as dr
import pytest

from ..conftest import BLUE, RED, Bikes


@pytest.mark.usefixtures("setup")
async def test_rename(bikes: Bikes, device_of: Any) -> None:
    """A rename is followed; entity ids stay."""
    bikes.simulator.rename(RED, "Fast bike")

    await bikes.poll()

    assert device_of(bikes.entry, RED).name == "Fast bike"
    tracker = bikes.hass.states.get("device_tracker.red_bike")
    online = bikes.hass.states.get("binary_sensor.red_bike_connectivity")
    assert tracker is not None
    assert online is not None
    assert tracker.name == "Fast bike"
    assert online.name == "Fast bike Connectivity"


@pytest.mark.usefixtures("setup")
async def test_rename_of_a_device_that_a_person_named(
    bikes: Bikes, device_of: Any, device_registry: dr.DeviceRegistry
) -> None:
    """The name a person gave wins."""
    device_registry.async_update_device(
        device_of(bikes.entry, RED).id, name_by_user="Mine"
    )
    bikes.simulator.rename(RED, "Fast bike")

    await bikes.poll()

    tracker = bikes.hass.states.get("device_tracker.red_bike")
    assert tracker is not None
    assert tracker.name == "Mine"


@pytest.mark.usefixtures("setup")
async def test_broken_name(
    bikes: Bikes,
    device_of: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An error with one device costs its name until the next report, and no other's."""
    update = dr.DeviceRegistry.async_update_device

    def broken(self: dr.DeviceRegistry, device_id: str, **changes: Any) -> Any:
        if device_id == device_of(bikes.entry, RED).id:
            raise ValueError
        return update(self, device_id, **changes)

    with monkeypatch.context() as patches:
        patches.setattr(dr.DeviceRegistry, "async_update_device", broken)
        for tracker in (RED, BLUE):
            bikes.simulator.rename(tracker, "Fast bike")
        bikes.simulator.set_status(RED, "offline")
        await bikes.poll()
    assert device_of(bikes.entry, RED).name == "Red bike"
    assert device_of(bikes.entry, BLUE).name == "Fast bike"
    online = bikes.state_of(f"{RED}_online", Platform.BINARY_SENSOR)
    assert online is not None
    assert online.state == STATE_OFF
    assert f"{bikes.entry.title}: Unexpected error storing a tracker" in caplog.text

    bikes.simulator.touch([RED])
    await bikes.poll()
    assert device_of(bikes.entry, RED).name == "Fast bike"
