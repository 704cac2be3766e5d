"""Read-only tools for assistants with a language model. Home Assistant looks for them in this module."""

from abc import abstractmethod
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, override

from homeassistant.components.llm import LLMTools
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util
import voluptuous as vol

from .const import DOMAIN
from .responses import Bike, exposed_bikes, named
from .responses.texts import distance, duration, local_time, speed, zone_name
from .responses.where import where
from .tracking.distance import Fix
from .tracking.rides import Ride

type _Values = dict[str, Any]

_MAX_DAYS: Final = 31
_DAYS_DESCRIPTION: Final = (
    f"The number of days up to now, at most {_MAX_DAYS}. 1 is today."
)
# Four decimals of a degree are about ten meters, which is exact enough to find a bike.
_DECIMALS_FOR_ASSISTANTS: Final = 4
_OUTAGE: Final = "The tracking service does not answer at the moment. These are the last known values."
_NOT_LISTED: Final = "No values are available: the account of the bike is not loaded or does not list it."
_PROMPT: Final = (
    "Use bike_tracker__where for the location of a bike. "
    "The live context does not contain it. "
    "No bike_tracker tool can arm or disarm a guard."
)


@callback
def async_get_tools(
    hass: HomeAssistant, llm_context: llm.LLMContext, api_id: str
) -> LLMTools | None:
    """Return the tools for Assist; None for another API, or if no bike is exposed to the assistant."""
    # Home Assistant before 2026.10 lacks `ToolResult`, which the tools return.
    if api_id != llm.LLM_API_ASSIST or not hasattr(llm, "ToolResult"):
        return None
    names = ", ".join(bike.name for bike in exposed_bikes(hass, llm_context.assistant))
    return LLMTools([_Where(names), _Rides(names)], _PROMPT) if names else None


class _BikeTool(llm.Tool):
    """Base of the tools: returns one answer for each bike."""

    integration = DOMAIN
    fields: ClassVar[dict[vol.Marker, Any]] = {}
    """The tool's parameters besides the name of the bike."""

    def __init__(self, names: str) -> None:
        description = f"The name of a bike, or nothing for all bikes. Bikes: {names}"
        name = vol.Optional("name", description=description)
        self.parameters = vol.Schema({name: str, **self.fields})
        self.annotations = llm.ToolAnnotations(
            read_only=True, destructive=False, idempotent=True, open_world=False
        )

    @abstractmethod
    async def answer(self, hass: HomeAssistant, bike: Bike, **fields: Any) -> _Values:
        """Return the answer for one bike."""

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Return the answers for all bikes with the requested name, or an error if no bike has it."""
        fields = self.parameters(tool_input.tool_args)
        name, bikes = fields.pop("name", ""), exposed_bikes(hass, llm_context.assistant)
        answers: list[Any] = [
            _known(**await self.answer(hass, bike, **fields), note=_note(bike))
            for bike in named(bikes, name)
        ]
        if answers:
            return llm.ToolResult(data={"bikes": answers})
        names = ", ".join(bike.name for bike in bikes) or "none"
        error = f"No bike has this name. Bikes: {names}"
        return llm.ToolResult(data={"error": error}, error=True)


class _Where(_BikeTool):
    name = f"{DOMAIN}__where"
    title = "Location of a bike"
    description = (
        "Returns the location of a bike, the age of its position, and its condition: "
        "on a ride, moving, battery, online, guarded against theft."
    )

    @override
    async def answer(self, hass: HomeAssistant, bike: Bike, **fields: Any) -> _Values:
        tracker, values = bike.tracker, where(hass, bike, _DECIMALS_FOR_ASSISTANTS)
        for key in ("device_id", "on_ride", "total_distance", "guard_changed_by"):
            del values[key]
        if values["latitude"] is not None:
            values["distance_from_home"] = distance(hass, values["distance_from_home"])
        if tracker:
            ride = tracker.state.ride_under_way
            values |= {
                "position_age": _age(tracker.state.seen_at),
                "last_report_age": _age(tracker.device.last_update),
                "on_ride": ride and _ride(hass, ride, is_over=False),
            }
        return values


class _Rides(_BikeTool):
    name = f"{DOMAIN}__rides"
    title = "Rides of a bike"
    description = (
        "Returns the rides of a bike in the last days, with their total distance and "
        "duration."
    )
    days = vol.Optional("days", default=7, description=_DAYS_DESCRIPTION)
    fields: ClassVar = {days: vol.All(vol.Coerce(int), vol.Range(min=1))}

    @override
    async def answer(self, hass: HomeAssistant, bike: Bike, **fields: Any) -> _Values:
        if bike.coordinator is None:
            return {"name": bike.name}
        before = timedelta(days=min(fields["days"], _MAX_DAYS) - 1)
        since = dt_util.start_of_local_day(dt_util.now().date() - before)
        found = await bike.rides(since, dt_util.utcnow())
        under_way = bike.state.ride_under_way
        return {
            "name": bike.name,
            "since": since.isoformat(),
            "rides": [_ride(hass, ride, is_over=True) for ride in found],
            "count": len(found),
            "total_distance": distance(hass, sum(ride.distance for ride in found)),
            "total_duration": duration(sum(ride.duration for ride in found)),
            "not_over_yet": under_way and _ride(hass, under_way, is_over=False),
        }


def _note(bike: Bike) -> str | None:
    """Return the reason why values are missing or old, or None if they are current."""
    if bike.tracker is None:
        return _NOT_LISTED
    is_up = bike.coordinator and bike.coordinator.last_update_success
    return None if is_up else _OUTAGE


def _known(**values: Any) -> _Values:
    return {name: value for name, value in values.items() if value is not None}


def _age(time: datetime | None) -> str | None:
    """Return the age of a time as a text. A tracker's clock may be ahead: the age of a future time is 0 seconds."""
    now = dt_util.utcnow()
    return dt_util.get_age(min(time, now), precision=2) if time else None


def _ride(hass: HomeAssistant, ride: Ride, *, is_over: bool) -> _Values:
    return _known(
        started_at=local_time(ride.started_at),
        distance=distance(hass, ride.distance),
        duration=duration(ride.duration),
        maximum_speed=ride.maximum_speed and speed(hass, ride.maximum_speed),
        start=_place_name(hass, ride.start),
        ended_at=local_time(ride.moved_at) if is_over else None,
        end=_place_name(hass, ride.end) if is_over else None,
    )


def _place_name(hass: HomeAssistant, place: Fix | None) -> str | None:
    """Return the name of a place's zone, else its address, else its coordinates; None without a place."""
    if place is None:
        return None
    degrees = (
        round(place.latitude, _DECIMALS_FOR_ASSISTANTS),
        round(place.longitude, _DECIMALS_FOR_ASSISTANTS),
    )
    return zone_name(hass, place.point) or place.address or ", ".join(map(str, degrees))
