"""What assistants can ask, as Home Assistant asks for it."""

from abc import abstractmethod
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, override

from homeassistant.components.llm import LLMTools
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util
import voluptuous as vol

from .const import DOMAIN
from .responses.bikes import Bike, exposed_bikes
from .responses.texts import distance, duration, local_time, speed, zone_name
from .responses.where import where
from .tracking.distance import Fix
from .tracking.ride_state import Ride

_MAX_DAYS: Final = 31
_DAYS: Final = f"So many days up to now, at most {_MAX_DAYS}. 1 is today."
# Ten metres, as near as it takes to find a bike.
_DECIMALS: Final = 4
_OUTAGE: Final = (
    "The tracking service does not answer at the moment. This is what was known before."
)
_NOTHING: Final = (
    "Nothing is known of it at the moment: "
    "its account does not work or does not list it."
)
_PROMPT: Final = (
    "Use bike_tracker__where for where a bike is: the live context does not tell it."
)


@callback
def async_get_tools(
    hass: HomeAssistant, llm_context: llm.LLMContext, api_id: str
) -> LLMTools | None:
    """Return the tools if there is a bike that the assistant may know."""
    # Home Assistant before 2026.10 does not know such tools.
    if api_id != llm.LLM_API_ASSIST or not hasattr(llm, "ToolResult"):
        return None
    names = ", ".join(bike.name for bike in exposed_bikes(hass, llm_context.assistant))
    return LLMTools([_Where(names), _Rides(names)], _PROMPT) if names else None


class _BikeTool(llm.Tool):
    """Asks something of one bike, or of each."""

    integration = DOMAIN
    fields: ClassVar[dict[vol.Marker, Any]] = {}
    """What it takes besides the name."""

    def __init__(self, names: str) -> None:
        known = f"The bike, all if left out. One of: {names}"
        name = vol.Optional("name", description=known)
        self.parameters = vol.Schema({name: str, **self.fields})
        self.annotations = llm.ToolAnnotations(
            read_only=True, destructive=False, idempotent=True, open_world=False
        )

    @abstractmethod
    async def async_answer(
        self, hass: HomeAssistant, bike: Bike, **fields: Any
    ) -> dict[str, Any]:
        """Return the answer for one bike."""

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Answer for the bikes of a name, or say that there is none."""
        fields = self.parameters(tool_input.tool_args)
        name = fields.pop("name", "")
        known = exposed_bikes(hass, llm_context.assistant)
        bikes = [bike for bike in known if not name or bike.is_called(name)]
        if not bikes:
            return _none_of(known)
        answers: list[Any] = [
            _known(**await self.async_answer(hass, bike, **fields), note=_note(bike))
            for bike in bikes
        ]
        return llm.ToolResult(data={"bikes": answers})


class _Where(_BikeTool):
    name = f"{DOMAIN}__where"
    title = "Where a bike is"
    description = (
        "Tells where a bike is, how long ago that was, and how it is: on a ride, moving, "
        "battery, online, guarded against theft."
    )

    @override
    async def async_answer(
        self, hass: HomeAssistant, bike: Bike, **fields: Any
    ) -> dict[str, Any]:
        tracker, values = bike.tracker, where(hass, bike, _DECIMALS)
        for key in ("device_id", "on_ride", "total_distance", "guard_changed_by"):
            del values[key]
        if values["latitude"] is not None:
            values["distance_from_home"] = distance(hass, values["distance_from_home"])
        if tracker:
            position, ride = tracker.position, tracker.ride_under_way
            values |= {
                "position_age": position and _age(position.fix_time),
                "last_report_age": _age(tracker.device.last_update),
                "on_ride": ride and _ride(hass, ride, is_over=False),
            }
        return values


class _Rides(_BikeTool):
    name = f"{DOMAIN}__rides"
    title = "Rides of a bike"
    description = (
        "Tells which rides a bike made on the last days, and how far and how long it was "
        "ridden in all."
    )
    days = vol.Optional("days", default=7, description=_DAYS)
    fields: ClassVar = {days: vol.All(vol.Coerce(int), vol.Range(min=1))}

    @override
    async def async_answer(
        self, hass: HomeAssistant, bike: Bike, **fields: Any
    ) -> dict[str, Any]:
        if bike.coordinator is None:
            return {"name": bike.name}
        before = timedelta(days=min(fields["days"], _MAX_DAYS) - 1)
        since = dt_util.start_of_local_day(dt_util.now().date() - before)
        found = await bike.rides(since, dt_util.utcnow())
        under_way = bike.tracker and bike.tracker.ride_under_way
        return {
            "name": bike.name,
            "since": since.isoformat(),
            "rides": [_ride(hass, ride, is_over=True) for ride in found],
            "count": len(found),
            "total_distance": distance(hass, sum(ride.distance for ride in found)),
            "total_duration": duration(sum(ride.duration for ride in found)),
            "not_over_yet": under_way and _ride(hass, under_way, is_over=False),
        }


def _none_of(known: list[Bike]) -> llm.ToolResult:
    names = ", ".join(bike.name for bike in known) or "none"
    error = f"No bike of this name is known here. Known bikes: {names}"
    return llm.ToolResult(data={"error": error}, error=True)


def _note(bike: Bike) -> str | None:
    if bike.tracker is None:
        return _NOTHING
    is_up = bike.coordinator and bike.coordinator.last_update_success
    return None if is_up else _OUTAGE


def _known(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _age(time: datetime | None) -> str | None:
    """Return how long ago that was; not every tracker's clock is right."""
    now = dt_util.utcnow()
    return dt_util.get_age(min(time, now), precision=2) if time else None


def _ride(hass: HomeAssistant, ride: Ride, *, is_over: bool) -> dict[str, Any]:
    """Return what a person wants to know of a ride, over or not."""
    return _known(
        started_at=local_time(ride.started_at),
        distance=distance(hass, ride.distance),
        duration=duration(ride.duration),
        maximum_speed=ride.maximum_speed and speed(hass, ride.maximum_speed),
        start=_name(hass, ride.start),
        ended_at=local_time(ride.moved_at) if is_over else None,
        end=_name(hass, ride.end) if is_over else None,
    )


def _name(hass: HomeAssistant, place: Fix | None) -> str | None:
    """Return what a place is called, or else its coordinates."""
    if place is None:
        return None
    degrees = round(place.latitude, _DECIMALS), round(place.longitude, _DECIMALS)
    return zone_name(hass, place) or place.address or ", ".join(map(str, degrees))
