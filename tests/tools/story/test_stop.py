"""What was to be done a while later is not, once Home Assistant has stopped."""

from custom_components.bike_tracker.polling.timer import Timer
from tests.conftest import EMAIL

from .home import Home


async def test_timer(home: Home) -> None:
    """It ends with Home Assistant, which unloads no entry then."""
    done: list[bool] = []
    timer = Timer(home.hass, home.entry(EMAIL), lambda: done.append(True))
    timer.async_schedule(5)
    await home.async_stop()
    await home.async_wait(10)
    assert done == []
