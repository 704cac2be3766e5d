"""The tools with which an assistant asks."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, override

from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import (
    LLMContext,
    Tool,
    ToolAnnotations,
    ToolInput,
    ToolResult,
)
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType
import voluptuous as vol

from ..const import DOMAIN
from ..tracking import Fix, Ride
from .bikes import Bike, exposed_bikes
from .units import async_zone_name, distance, duration, local_time, speed
from .where import where

MAX_DAYS: Final = 31
# Ten metres, as near as it takes to find a bike.
_DECIMALS: Final = 4
_OUTAGE: Final = (
    "The tracking service does not answer at the moment. This is what was known before."
)
_NOTHING: Final = (
    "Nothing is known of it at the moment: "
    "its account does not work or does not list it."
)


class _BikeTool(Tool):
    """Asks something of one bike, or of each."""

    annotations = ToolAnnotations(
        read_only=True, destructive=False, idempotent=True, open_world=False
    )
    integration = DOMAIN
    fields: ClassVar[dict[vol.Marker, Any]] = {}
    """What it takes besides the name."""
    answer: ClassVar[Callable[..., JsonObjectType]]
    """Returns what there is to say of a bike."""

    def __init__(self, names: Iterable[str]) -> None:
        """Take the names of the bikes that may be asked for."""
        known = f"The bike, all if left out. One of: {', '.join(names)}"
        self.parameters = vol.Schema(
            {vol.Optional("name", description=known): str, **self.fields}
        )

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: ToolInput, llm_context: LLMContext
    ) -> ToolResult:
        """Answer for the bikes of a name, or say that there is none."""
        fields = self.parameters(tool_input.tool_args)
        name = fields.pop("name", "")
        known = exposed_bikes(hass, llm_context.assistant)
        bikes = [bike for bike in known if not name or bike.is_called(name)]
        if not bikes:
            names = ", ".join(bike.name for bike in known) or "none"
            error = f"No bike of this name is known here. Known bikes: {names}"
            return ToolResult(data={"error": error}, error=True)
        answers = [self.answer(hass, bike, **fields) for bike in bikes]
        return ToolResult(data={"bikes": list(answers)})


def _where(hass: HomeAssistant, bike: Bike) -> JsonObjectType:
    """Return where a bike is, how old that is, and how the bike is."""
    tracker, values = bike.tracker, where(hass, bike)
    del values["device_id"]
    if values["latitude"] is not None:
        values["latitude"] = round(values["latitude"], _DECIMALS)
        values["longitude"] = round(values["longitude"], _DECIMALS)
        values["distance_from_home"] = distance(hass, values["distance_from_home"])
    if tracker and tracker.position:
        values["position_age"] = _age(tracker.position.fix_time)
    if tracker:
        values["last_report_age"] = _age(tracker.device.last_update)
    if ride := bike.ride_under_way:
        values["on_ride"] = _ride(hass, ride)
    return _known(**values, note=_note(bike))


def _rides(hass: HomeAssistant, bike: Bike, days: int) -> JsonObjectType:
    """Return the rides of a bike that were under way on the last days, and their sums.

    More days than a month are a month.
    """
    if bike.coordinator is None:
        return _known(name=bike.name, note=_note(bike))
    today = dt_util.now().date()
    since = dt_util.start_of_local_day(today - timedelta(days=min(days, MAX_DAYS) - 1))
    found, under_way = bike.rides(since, dt_util.utcnow()), bike.ride_under_way
    return _known(
        name=bike.name,
        since=since.isoformat(),
        rides=[
            _ride(hass, ride)
            | _known(ended_at=local_time(ride.moved_at), end=_name(hass, ride.end))
            for ride in found
        ],
        count=len(found),
        total_distance=distance(hass, sum(ride.distance for ride in found)),
        total_duration=duration(sum(ride.duration for ride in found)),
        not_over_yet=under_way and _ride(hass, under_way),
        note=_note(bike),
    )


def _note(bike: Bike) -> str | None:
    if bike.tracker is None:
        return _NOTHING
    is_up = bike.coordinator and bike.coordinator.last_update_success
    return None if is_up else _OUTAGE


def _known(**values: Any) -> JsonObjectType:
    """Return the values that are known."""
    return {name: value for name, value in values.items() if value is not None}


def _age(time: datetime | None) -> str | None:
    """Return how long ago that was; not every tracker's clock is right."""
    if time is None:
        return None
    return dt_util.get_age(min(time, dt_util.utcnow()), precision=2)


def _ride(hass: HomeAssistant, ride: Ride) -> JsonObjectType:
    """Return what a person wants to know of a ride, over or not."""
    return _known(
        started_at=local_time(ride.started_at),
        distance=distance(hass, ride.distance),
        duration=duration(ride.duration),
        maximum_speed=ride.maximum_speed and speed(hass, ride.maximum_speed),
        start=_name(hass, ride.start),
    )


def _name(hass: HomeAssistant, place: Fix | None) -> str | None:
    """Return what a place is called, or else its coordinates."""
    if place is None:
        return None
    degrees = round(place.latitude, _DECIMALS), round(place.longitude, _DECIMALS)
    coordinates = ", ".join(map(str, degrees))
    return async_zone_name(hass, place) or place.address or coordinates


class _Where(_BikeTool):
    name = f"{DOMAIN}__where"
    title = "Where a bike is"
    description = (
        "Tells where a bike is, how long ago that was, and how it is: on a ride, moving, "
        "battery, online, guarded against theft."
    )
    answer = staticmethod(_where)


class _Rides(_BikeTool):
    name = f"{DOMAIN}__rides"
    title = "Rides of a bike"
    description = (
        "Tells which rides a bike made on the last days, and how far and how long it was "
        "ridden in all."
    )
    fields: ClassVar = {
        vol.Optional(
            "days",
            default=7,
            description=f"So many days up to now, at most {MAX_DAYS}. 1 is today.",
        ): vol.All(vol.Coerce(int), vol.Range(min=1))
    }
    answer = staticmethod(_rides)


TOOLS: tuple[type[_BikeTool], ...] = (_Where, _Rides)
