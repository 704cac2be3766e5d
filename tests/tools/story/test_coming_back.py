"""What is held back while a tracker comes back is its place, and nothing else."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import Event, callback
from homeassistant.helpers import entity_registry as er
import pytest

from custom_components.bike_tracker.const import DOMAIN
from tests.conftest import EMAIL, RED
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .home import Home
from .listener import automation
from .riding import async_ride, async_stand, report

AWAY = 48.1

type Begin = Callable[[], list[Event[Any]]]


def where(home: Home) -> float | None:
    """Return where the red bike is shown."""
    state = home.hass.states.get("device_tracker.red_bike")
    return state.attributes.get("latitude") if state else None


def value(home: Home, entity_id: str) -> str:
    """Return the state of an entity."""
    state = home.hass.states.get(entity_id)
    assert state is not None
    return state.state


def runs(home: Home) -> list[str]:
    """Return what triggers told of the red bike."""
    return [fired.what for fired in home.listener.triggers if fired.tracker == RED]


def away(home: Home, **more: Any) -> None:
    """Have the red bike report from somewhere else, under way."""
    home.simulator.report(
        RED, latitude=AWAY, longitude=7.9, speed=10, motion=True, **more
    )


async def async_outage(home: Home, minutes: float) -> None:
    """Let nothing of the service be in reach, and then let it be again."""
    home.simulator.fault("status-503")
    home.simulator.live_fault("session-503")
    await home.async_wait(minutes * 60)


async def async_well_again(home: Home) -> None:
    """Let the service be well, and ask it."""
    home.simulator.fault(None)
    home.simulator.live_fault(None)
    await home.entry(EMAIL).runtime_data.coordinator.async_refresh()
    await home.async_settle()


async def test_place_alone(home: Home) -> None:
    """Battery, speed and motion are shown at once, and the bike moves 5 seconds later."""
    await async_outage(home, 5)
    away(home, battery_level=33)
    await async_well_again(home)
    assert where(home) == DEFAULT_LATITUDE
    assert value(home, "sensor.red_bike_battery") == "33"
    assert float(value(home, "sensor.red_bike_speed")) == pytest.approx(18.52)
    assert value(home, "binary_sensor.red_bike_moving") == "on"
    await home.async_wait(4)
    assert where(home) == DEFAULT_LATITUDE
    await home.async_wait(2)
    assert where(home) == AWAY


async def test_wait_that_ended_in_an_outage(home: Home) -> None:
    """A bike that moves did not stand for half an hour, wherever it is shown."""
    home.automations = [
        automation("stopped_moving", **{"for": {"minutes": 30}}),
        automation("started_moving"),
    ]
    await home.async_restart()
    home.simulator.report(RED, motion=True)
    await home.async_wait(61)
    home.simulator.report(RED, motion=False)
    await home.async_wait(61)
    home.listener.triggers.clear()
    await async_outage(home, 40)
    away(home)
    await async_well_again(home)
    assert runs(home) == ["started_moving"]
    await home.async_wait(120)
    assert runs(home) == ["started_moving"]


@pytest.fixture
def slow_machine(home: Home) -> Begin:
    """Return a function after which each state that is written takes half a second."""
    written: list[Event[Any]] = []

    @callback
    def take_time(event: Event[Any]) -> None:
        entity = er.async_get(home.hass).async_get(event.data["entity_id"])
        if entity is not None and entity.platform == DOMAIN:
            written.append(event)
            home.freezer.tick(timedelta(seconds=0.5))

    def begin() -> list[Event[Any]]:
        home.hass.bus.async_listen(EVENT_STATE_CHANGED, take_time)
        return written

    return begin


async def test_slow_reload(home: Home, slow_machine: Begin) -> None:
    """It is first where it was, and then where it is, each once."""
    await home.hass.config_entries.async_unload(home.entry(EMAIL).entry_id)
    away(home)
    written = slow_machine()
    await home.hass.config_entries.async_setup(home.entry(EMAIL).entry_id)
    await home.async_settle()
    await home.async_wait(30)

    states = [
        event.data["new_state"]
        for event in written
        if event.data["entity_id"] == "device_tracker.red_bike"
    ]
    shown = [it.attributes["latitude"] for it in states if "latitude" in it.attributes]
    assert shown == [DEFAULT_LATITUDE, AWAY]


@pytest.mark.parametrize("way", ["reload", "restart"])
async def test_again_while_held_back(home: Home, way: str) -> None:
    """It is first where it was, and then where it is."""
    await async_outage(home, 5)
    away(home)
    await async_well_again(home)
    await home.async_wait(1)
    if way == "reload":
        await home.async_reload(EMAIL)
    else:
        await home.async_restart(down=1)
    assert where(home) == DEFAULT_LATITUDE
    await home.async_wait(2)
    assert where(home) == DEFAULT_LATITUDE
    await home.async_wait(60)
    assert where(home) == AWAY
    assert home.listener.rides() == ["started"]


@pytest.mark.parametrize("restarts", [False, True])
async def test_leaves_the_list_while_held_back(home: Home, restarts: bool) -> None:
    """Place and way are remembered together: it comes back as any other."""
    await async_stand(home, 1, every=20)
    await async_ride(home, 4)
    await async_stand(home, 8, every=60)
    assert home.listener.rides() == ["started", "ended"]
    was_at, before = where(home), _total(home)
    await async_outage(home, 5)
    report(home.simulator, metres=900)
    await async_well_again(home)
    home.simulator.unassign(EMAIL, RED)
    await home.entry(EMAIL).runtime_data.coordinator.async_refresh()
    await home.async_wait(130)
    if restarts:
        await home.async_restart()
        await home.async_wait(60)
    home.simulator.assign(EMAIL, RED)
    await home.entry(EMAIL).runtime_data.coordinator.async_refresh()
    await home.async_settle()
    assert where(home) == was_at
    await home.async_wait(60)
    position = home.simulator.devices[RED].position
    assert position is not None
    assert where(home) == pytest.approx(position.latitude)
    assert _total(home) - before == pytest.approx(0.9, abs=0.02)
    await home.async_wait(60 * 45)
    assert home.listener.rides() == ["started", "ended"] * 2


def _total(home: Home) -> float:
    return float(value(home, "sensor.red_bike_total_distance"))
