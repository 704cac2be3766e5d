"""The place and condition of a bike, as values and as a sentence."""

from datetime import datetime
from math import atan2, degrees
from typing import Any, Final

from homeassistant.components.zone import ENTITY_ID_HOME, async_active_zone
from homeassistant.core import HomeAssistant
from homeassistant.util.location import distance as meters_between

from ..api.models import Point, Position
from ..tracking.routes import flat
from ..tracking.state import TrackerState
from . import Bike
from .texts import (
    as_sentence,
    clock_time,
    distance,
    local_time,
    panel_text,
    text,
    titled,
)

_DIRECTIONS: Final = (
    *("north", "north_east", "east", "south_east"),
    *("south", "south_west", "west", "north_west"),
)
type _Values = dict[str, Any]
_UNKNOWN_PLACE: Final[_Values] = {
    **dict.fromkeys(("place", "address", "latitude", "longitude")),
    **dict.fromkeys(("distance_from_home", "direction_from_home")),
}


def words(hass: HomeAssistant, key: str, **placeholders: object) -> str:
    """Return a text of the action `where` in Home Assistant's language."""
    return text(hass, f"selector.where.options.{key}", **placeholders)


def where(
    hass: HomeAssistant, bike: Bike, decimals: int = 6, *, says_moved: bool = True
) -> _Values:
    """Return the place and condition of a bike, as values and as texts. Unknown values are None.

    Without `says_moved`, the text does not mention that a guarded bike was moved.
    """
    tracker, state = bike.tracker, bike.state
    position, seen_at, total = state.position, state.seen_at, state.total_distance
    values = {
        "device_id": bike.device_id,
        "name": bike.name,
        **_place(hass, position, decimals),
        "position_time": seen_at and local_time(seen_at),
        "moving": position and position.moving,
        "status": tracker and tracker.device.status,
        "battery": position and position.battery_level,
        "guard": _guard(state),
        "on_ride": bool(state.ride_under_way),
        "total_distance": None if total is None else round(total, 3),
        "guard_changed_by": state.changed_by or None,
    }
    parts = _parts(bike, values, says_moved=says_moved)
    # Leave out each part without a value.
    rest = [words(hass, key, **{key: it}) for key, it in parts.items() if it]
    said = as_sentence(hass, [_location(hass, values), *rest])
    guard_said = _guard_text(hass, bike, values["guard"])
    if state.rearming:
        again = text(hass, "selector.night_guard.options.still_moving")
        said, guard_said = f"{said} {again}", f"{guard_said} {again}"
    return values | {"text": said, "guard_text": guard_said}


def _parts(bike: Bike, values: _Values, *, says_moved: bool) -> _Values:
    """Return a value for each part of the sentence. If a part does not apply, its value is false or None."""
    time, battery = values["position_time"], values["battery"]
    triggered = values["guard"] == "triggered"
    key = triggered and bike.state.panel_key
    return {
        "time": time and clock_time(datetime.fromisoformat(time)),
        "moving": values["moving"] and key not in ("guard", "guard_moved"),
        "battery": None if battery is None else f"{battery:.0f}",
        "offline": values["status"] == "offline",
        "armed": values["guard"] == "armed",
        "triggered": key == "guard" and says_moved,
        "moved": key == "guard_moved" and says_moved,
        "alarm": key == "guard_alarm",
        "no_answer": bike.coordinator and not bike.coordinator.last_update_success,
    }


def _place(hass: HomeAssistant, position: Position | None, decimals: int) -> _Values:
    if position is None or (place := position.point) is None:
        return _UNKNOWN_PLACE
    home = hass.config.latitude, hass.config.longitude
    zone = async_active_zone(hass, *place, position.accuracy)
    is_home = zone is not None and zone.entity_id == ENTITY_ID_HOME
    direction = None if is_home else _direction(home, place)
    meters = meters_between(*home, *place) or 0
    return {
        "place": zone.name if zone else None,
        "address": position.address,
        "latitude": round(place[0], decimals),
        "longitude": round(place[1], decimals),
        "distance_from_home": round(meters / 1_000, 3),
        "direction_from_home": direction,
    }


def _direction(home: Point, place: Point) -> str:
    [(north, east)] = flat([place], home)
    angle = degrees(atan2(east, north))
    return _DIRECTIONS[round(angle / 45) % len(_DIRECTIONS)]


def _guard(state: TrackerState) -> str | None:
    """Return the state of the guard; None if the bike cannot be guarded, because its tracker never reported a place."""
    if state.guard is None:
        return "disarmed" if state.has_fix else None
    return "triggered" if state.guard.triggered else "armed"


def _guard_text(hass: HomeAssistant, bike: Bike, guard: str | None) -> str:
    """Return the state of the guard as a sentence. If the bike cannot be guarded, add the reason."""
    name = bike.name
    if bike.tracker is None:
        return text(hass, "exceptions.not_available.message", name=name)
    shown = "armed_away" if guard == "armed" else guard or "disarmed"
    said = [panel_text(hass, shown, bike.state.panel_key)]
    if guard is None:
        said.append(text(hass, "selector.night_guard.options.no_place"))
    return titled(hass, name, label=as_sentence(hass, said))


def _location(hass: HomeAssistant, values: _Values) -> str:
    """Return the first part of the sentence: the bike and its place."""
    name, direction = values["name"], values["direction_from_home"]
    if values["latitude"] is None:
        return words(hass, "unknown", name=name)
    if direction is None:
        return words(hass, "at_home", name=name)
    place, direction = values["place"] or values["address"], words(hass, direction)
    way = distance(hass, values["distance_from_home"])
    key = "at_place" if place else "elsewhere"
    return words(hass, key, name=name, place=place, distance=way, direction=direction)
