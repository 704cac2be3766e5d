"""The rides of bikes, as an action answers them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.util.json import JsonValueType

from ..tracking import Fix, Ride
from .bikes import Bike
from .units import async_zone_name

# A tenth of a metre.
_DECIMALS: Final = 6


def rides_of(
    hass: HomeAssistant, bikes: Iterable[Bike], start: datetime, end: datetime
) -> list[JsonValueType]:
    """Return the rides of bikes that touch a time, in order of their start.

    Raises what the person is told if an account is not set up.
    """
    rides = list[tuple[Ride, Bike]]()
    for bike in bikes:
        if bike.coordinator is None:
            raise bike.unavailable
        rides += [(ride, bike) for ride in bike.rides(start, end)]
    rides.sort(key=lambda item: item[0].started_at)
    return [_described(hass, *item) for item in rides]


def _described(hass: HomeAssistant, ride: Ride, bike: Bike) -> dict[str, Any]:
    return {
        "device_id": bike.device_id,
        "name": bike.name,
        **ride.described(is_over=True),
        "started_at": ride.started_at.isoformat(),
        "ended_at": ride.moved_at.isoformat(),
        "start": _place(hass, ride.start),
        "end": _place(hass, ride.end),
    }


def _place(hass: HomeAssistant, place: Fix | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {
        "latitude": round(place.latitude, _DECIMALS),
        "longitude": round(place.longitude, _DECIMALS),
        "zone": async_zone_name(hass, place),
    }
