"""The rides of bikes, as an action answers them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.util.json import JsonValueType

from ..fleet.ride_book import BookedRide, Place
from ..fleet.zones import async_zone_name
from .bikes import Bike


def rides_of(
    hass: HomeAssistant, bikes: Iterable[Bike], start: datetime, end: datetime
) -> list[JsonValueType]:
    """Return the rides of bikes that touch a time, in order of their start.

    Raises what the person is told if an account is not set up.
    """
    rides = list[tuple[BookedRide, Bike]]()
    for bike in bikes:
        if bike.coordinator is None:
            raise bike.unavailable
        found = bike.coordinator.rides.of(bike.unique_id, start, end)
        rides += [(ride, bike) for ride in found]
    rides.sort(key=lambda item: item[0].started_at)
    return [_described(hass, *item) for item in rides]


def _described(hass: HomeAssistant, ride: BookedRide, bike: Bike) -> dict[str, Any]:
    return {
        "device_id": bike.device_id,
        "name": bike.name,
        "started_at": ride.started_at.isoformat(),
        "ended_at": ride.ended_at.isoformat(),
        "distance": ride.distance,
        "duration": ride.duration,
        "maximum_speed": ride.maximum_speed,
        "start": _place(hass, ride.start),
        "end": _place(hass, ride.end),
    }


def _place(hass: HomeAssistant, place: Place | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {
        "latitude": place.latitude,
        "longitude": place.longitude,
        "zone": async_zone_name(hass, place),
    }
