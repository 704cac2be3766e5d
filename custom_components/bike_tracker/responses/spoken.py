"""What an assistant is told of a bike: what is known, and in words a person may hear."""

from datetime import datetime, timedelta
from math import atan2, cos, degrees, radians
from typing import Any, Final

from homeassistant.components.zone import ENTITY_ID_HOME, async_active_zone
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType
from homeassistant.util.location import distance as metres_between

from ..api import Position
from ..tracking import Fix, Ride, Tracker
from .bikes import Bike
from .units import async_zone_name, distance, duration, speed

MOST_DAYS: Final = 31
# Ten metres, as near as it takes to find a bike.
_DECIMALS: Final = 4
_WINDS: Final = (
    *("north", "north-east", "east", "south-east"),
    *("south", "south-west", "west", "north-west"),
)
_OUTAGE: Final = (
    "The tracking service does not answer at the moment. This is what was known before."
)
_NOTHING: Final = (
    "Nothing is known of it at the moment: "
    "its account does not work or does not list it."
)


def where(hass: HomeAssistant, bike: Bike) -> JsonObjectType:
    """Return where a bike is, how old that is, and how the bike is."""
    if (tracker := bike.tracker) is None:
        return _known(name=bike.name, note=_note(bike))
    position, ride = tracker.position, _ride_of(tracker)
    return _known(
        name=bike.name,
        **_place(hass, position),
        on_ride=ride and _ride(hass, ride),
        moving=position and position.motion,
        battery_percent=position and position.battery_level,
        status=tracker.device.status,
        guard=_guard(tracker),
        **_time("last_report", tracker.device.last_update),
        note=_note(bike),
    )


def rides(hass: HomeAssistant, bike: Bike, days: int) -> JsonObjectType:
    """Return the rides of a bike that were under way on the last days, and their sums.

    More days than a month are a month.
    """
    if bike.coordinator is None:
        return _known(name=bike.name, note=_note(bike))
    today = dt_util.now().date()
    since = dt_util.start_of_local_day(today - timedelta(days=min(days, MOST_DAYS) - 1))
    found, under_way = bike.rides(since, dt_util.utcnow()), _ride_of(bike.tracker)
    return _known(
        name=bike.name,
        since=since.isoformat(),
        rides=[
            _ride(hass, ride)
            | _known(ended_at=_local(ride.moved_at), end=_name(hass, ride.end))
            for ride in found
        ],
        count=len(found),
        total_distance=distance(hass, sum(ride.distance for ride in found)),
        total_duration=duration(sum(ride.duration for ride in found)),
        not_over_yet=under_way and _ride(hass, under_way),
        note=_note(bike),
    )


def _ride_of(tracker: Tracker | None) -> Ride | None:
    """Return the ride under way."""
    track = tracker and tracker.story.track
    return track and track.ride


def _guard(tracker: Tracker) -> str:
    if triggered := tracker.triggered:
        return f"triggered by {triggered.cause} at {_local(triggered.since)}"
    return "armed" if tracker.story.guard else "disarmed"


def _note(bike: Bike) -> str | None:
    if bike.tracker is None:
        return _NOTHING
    is_up = bike.coordinator and bike.coordinator.last_update_success
    return None if is_up else _OUTAGE


def _known(**values: Any) -> JsonObjectType:
    """Return the values that are known."""
    return {name: value for name, value in values.items() if value is not None}


def _place(hass: HomeAssistant, position: Position | None) -> JsonObjectType:
    """Return where that is: a place of the house, an address, and how to get there."""
    if position is None or position.latitude is None or position.longitude is None:
        return {"place": "unknown"}
    latitude, longitude = position.latitude, position.longitude
    zone = async_active_zone(hass, latitude, longitude, position.accuracy)
    is_home = zone is not None and zone.entity_id == ENTITY_ID_HOME
    name = "home" if is_home else zone.name if zone else "away from all known places"
    return {
        "place": name,
        **_known(address=position.address),
        "latitude": _rounded(latitude),
        "longitude": _rounded(longitude),
        **({} if is_home else _from_home(hass, latitude, longitude)),
        **_time("position", position.fix_time),
    }


def _rounded(coordinate: float) -> float:
    return round(coordinate, _DECIMALS)


def _from_home(
    hass: HomeAssistant, latitude: float, longitude: float
) -> JsonObjectType:
    """Return how far away from home a place is, and in which direction."""
    home = hass.config.latitude, hass.config.longitude
    metres = metres_between(*home, latitude, longitude) or 0
    north = latitude - home[0]
    east = ((longitude - home[1] + 180) % 360 - 180) * cos(radians(home[0]))
    wind = round(degrees(atan2(east, north)) / 45) % len(_WINDS)
    return {
        "distance_from_home": distance(hass, metres / 1_000),
        "direction_from_home": _WINDS[wind],
    }


def _time(name: str, time: datetime | None) -> JsonObjectType:
    """Return when something was, and how long ago that is."""
    if time is None:
        return {}
    # Not every tracker's clock is right.
    age = dt_util.get_age(min(time, dt_util.utcnow()), precision=2)
    return {f"{name}_time": _local(time), f"{name}_age": age}


def _local(time: datetime) -> str:
    return dt_util.as_local(time).isoformat(timespec="seconds")


def _ride(hass: HomeAssistant, ride: Ride) -> JsonObjectType:
    """Return what a person wants to know of a ride, over or not."""
    return _known(
        started_at=_local(ride.started_at),
        distance=distance(hass, ride.distance),
        duration=duration(ride.duration),
        maximum_speed=ride.maximum_speed and speed(hass, ride.maximum_speed),
        start=_name(hass, ride.start),
    )


def _name(hass: HomeAssistant, place: Fix | None) -> str | None:
    """Return what a place is called, or else its coordinates."""
    if place is None:
        return None
    coordinates = f"{_rounded(place.latitude)}, {_rounded(place.longitude)}"
    return async_zone_name(hass, place) or place.address or coordinates
