"""The rides of bikes, as an action answers them and as a file."""

from collections.abc import Iterable
import csv
from datetime import datetime
from io import StringIO
from typing import Any, Final

from homeassistant.core import HomeAssistant

from ..tracking import Fix, Ride
from .bikes import Bike
from .units import async_zone_name

# A tenth of a metre.
_DECIMALS: Final = 6
_COLUMNS: Final = (
    *("started_at", "ended_at", "name", "distance_km", "duration_s"),
    "maximum_speed_kmh",
    *("start_latitude", "start_longitude", "start_zone"),
    *("end_latitude", "end_longitude", "end_zone"),
)
# What spreadsheets take for a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def rides_of(
    hass: HomeAssistant, bikes: list[Bike], start: datetime, end: datetime
) -> list[dict[str, Any]]:
    """Return the rides of bikes that touch a time, in order of their start.

    Those of accounts that are not loaded are left out; raises if there are no others.
    """
    loaded = [bike for bike in bikes if bike.coordinator]
    if bikes and not loaded:
        raise bikes[0].unavailable
    rides = [(ride, bike) for bike in loaded for ride in bike.rides(start, end)]
    rides.sort(key=lambda item: item[0].started_at)
    return [_described(hass, *item) for item in rides]


def csv_of(rides: Iterable[dict[str, Any]]) -> str:
    """Return rides as lines of a table, after a header."""
    file = StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(_COLUMNS)
    for ride in rides:
        values = [ride["started_at"], ride["ended_at"], _cell(ride["name"])]
        values += [ride["distance"], ride["duration"], ride["maximum_speed"]]
        for place in (ride["start"] or {}, ride["end"] or {}):
            values += [place.get("latitude"), place.get("longitude")]
            values.append(_cell(place.get("zone")))
        table.writerow(values)
    return file.getvalue()


def _cell(text: str | None) -> str | None:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text and text.startswith(_FORMULA) else text


def _described(hass: HomeAssistant, ride: Ride, bike: Bike) -> dict[str, Any]:
    return {
        "device_id": bike.device_id,
        "name": bike.name,
        **ride.described(is_over=True),
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
