"""The rides of bikes, as an action answers them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers.device_registry import DeviceEntry
from homeassistant.util.json import JsonValueType

from ..const import DOMAIN
from ..fleet.registries import device_of
from ..fleet.ride_book import BookedRide, Place
from ..fleet.zones import async_zone_name
from .devices import coordinator_of, shown_name


def rides_of(
    hass: HomeAssistant, trackers: Iterable[str], start: datetime, end: datetime
) -> list[JsonValueType]:
    """Return the rides of trackers that touch a time, in order of their start."""
    rides = [
        (device, ride)
        for entry in hass.config_entries.async_entries(DOMAIN, include_disabled=False)
        for tracker in trackers
        if (device := device_of(hass, tracker, entry.entry_id))
        for ride in coordinator_of(hass, device).rides.of(tracker, start, end)
    ]
    rides.sort(key=lambda item: item[1].started_at)
    return [_described(hass, device, ride) for device, ride in rides]


def _described(
    hass: HomeAssistant, device: DeviceEntry, ride: BookedRide
) -> dict[str, Any]:
    return {
        "device_id": device.id,
        "name": shown_name(device),
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
