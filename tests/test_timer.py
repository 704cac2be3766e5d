"""What is done a while later is done once, and not after the entry was unloaded."""

from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.polling.timer import Timer

from .conftest import Poll


async def test_timer(hass: HomeAssistant, setup: MockConfigEntry, poll: Poll) -> None:
    """It counts from when it was last asked for; afterwards it can be asked for anew."""
    done: list[bool] = []
    timer = Timer(hass, setup, lambda: done.append(timer.is_scheduled))
    assert not timer.is_scheduled
    timer.async_schedule(5)
    await poll(3)
    timer.async_schedule(5)
    await poll(3)
    assert done == []
    await poll(3)
    assert done == [False]
    await poll(60)
    assert done == [False]
    timer.async_schedule(9)
    await poll(8)
    assert done == [False]
    await poll(2)
    assert done == [False, False]

    timer.async_schedule(5)
    await hass.config_entries.async_unload(setup.entry_id)
    assert not timer.is_scheduled
    await poll(60)
    assert done == [False, False]
