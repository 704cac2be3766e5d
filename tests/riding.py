"""Functions that let the red bike report during and after a ride, and that record events."""

from typing import Any

from homeassistant.const import EVENT_STATE_CHANGED, STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import Event, HomeAssistant, State, callback

from .conftest import RED, Bikes, async_setup
from .tools.simulator.server import Simulator


def go(simulator: Simulator, meters: float, **more: Any) -> None:
    """Let the red bike report from a place this number of meters north of its previous report."""
    position = simulator.devices[RED].position
    assert position is not None
    latitude = position.latitude + meters / 111_195
    simulator.report(RED, latitude=latitude, **more)


def riding(kilometers: float, speed: float = 9.0) -> dict[str, Any]:
    """Return the values of a report with a total distance in kilometers and a speed in knots. Speed 0 is no motion."""
    attributes = {"motion": speed > 0, "totalDistance": kilometers * 1_000}
    return {"speed": speed, "attributes": attributes}


def standing(kilometers: float) -> dict[str, Any]:
    """Return the values of a report of a standing bike, with the tracker's total distance in kilometers."""
    return riding(kilometers, 0.0)


async def async_ride(bikes: Bikes) -> None:
    """Let the red bike ride a kilometer with a stop at a red light, arrive, and stand for six minutes."""
    await bikes.poll()
    for meters, total in ((250, 0.25), (250, 0.5), (0, 0.5), (250, 0.75), (250, 1)):
        go(bikes.simulator, meters, **riding(100 + total))
        await bikes.poll()
    for _ in range(6):
        go(bikes.simulator, 0, **standing(101))
        await bikes.poll()


def told(hass: HomeAssistant, entity_id: str) -> list[State]:
    """Return a list that receives the new state at each event of an entity. Changes to or from unavailable are left out."""
    events: list[State] = []

    @callback
    def _note(event: Event[Any]) -> None:
        old, new = event.data["old_state"], event.data["new_state"]
        if event.data["entity_id"] != entity_id or old is None or new is None:
            return
        is_back = STATE_UNAVAILABLE in (old.state, new.state)
        if not is_back and old.state != new.state != STATE_UNKNOWN:
            events.append(new)

    hass.bus.async_listen(EVENT_STATE_CHANGED, _note)
    return events


async def async_set_up_and_ride(bikes: Bikes) -> None:
    """Set the account up, and let the red bike make one ride."""
    go(bikes.simulator, 0, **standing(100))
    await async_setup(bikes.hass, bikes.entry)
    await async_ride(bikes)
