"""What is done a while later is done once, and not after the entry was unloaded."""

from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.asking.later import Later

from .conftest import Poll


async def test_later(hass: HomeAssistant, setup: MockConfigEntry, poll: Poll) -> None:
    """It counts from when it was last asked for; afterwards it can be asked for anew."""
    done: list[bool] = []
    later = Later(hass, setup, 5, lambda: done.append(later.is_scheduled))
    assert not later.is_scheduled
    later.async_schedule()
    await poll(3)
    later.async_schedule()
    await poll(3)
    assert done == []
    await poll(3)
    assert done == [False]
    await poll(60)
    assert done == [False]
    later.async_schedule(9)
    await poll(8)
    assert done == [False]
    await poll(2)
    assert done == [False, False]

    later.async_schedule()
    await hass.config_entries.async_unload(setup.entry_id)
    assert not later.is_scheduled
    await poll(60)
    assert done == [False, False]
