"""Actions that answer, as Home Assistant asks for them."""

from datetime import datetime, timedelta
from typing import Any, Final

from homeassistant.const import ATTR_DEVICE_ID
from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
    callback,
)
from homeassistant.helpers import config_validation as cv, device_registry as dr
from homeassistant.util import dt as dt_util
import voluptuous as vol

from .const import DOMAIN
from .responses.bikes import bike_of, bikes_of
from .responses.refusals import refused
from .responses.rides import rides_of
from .responses.track import async_track, async_write
from .tracking import MAX_AGE

_START: Final = "start_date_time"
_END: Final = "end_date_time"
_FILENAME: Final = "filename"

_GET_RIDES: Final = vol.Schema(
    {
        **cv.TARGET_FIELDS,
        vol.Optional(_START): cv.datetime,
        vol.Optional(_END): cv.datetime,
    }
)
_GET_TRACK: Final = vol.Schema(
    {
        vol.Required(ATTR_DEVICE_ID): cv.string,
        vol.Required(_START): cv.datetime,
        vol.Required(_END): cv.datetime,
        vol.Optional(_FILENAME): cv.path,
    }
)


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Offer the actions, whether or not an account is set up."""
    for name, answer, schema, answers in (
        ("get_rides", _async_get_rides, _GET_RIDES, SupportsResponse.ONLY),
        ("get_track", _async_get_track, _GET_TRACK, SupportsResponse.OPTIONAL),
    ):
        hass.services.async_register(DOMAIN, name, answer, schema, answers)


async def _async_get_rides(call: ServiceCall) -> ServiceResponse:
    """Return the rides of a target that touch a time."""
    # Not before: where Home Assistant's helper for targets changed, all else works.
    from .automations.targets import trackers_in  # noqa: PLC0415

    start, end = _time(call.data)
    if not (trackers := trackers_in(call.hass, call.data)):
        raise refused("no_tracker")
    bikes = bikes_of(call.hass, trackers)
    return {"rides": rides_of(call.hass, bikes, start, end)}


async def _async_get_track(call: ServiceCall) -> ServiceResponse:
    """Return the track of a device, and write it if told to."""
    hass, (start, end) = call.hass, _time(call.data, MAX_AGE)
    device = dr.async_get(hass).async_get(call.data[ATTR_DEVICE_ID])
    if not isinstance(device, dr.DeviceEntry) or not (bike := bike_of(hass, device)):
        raise refused("no_tracker")
    filename = call.data.get(_FILENAME)
    if filename and not hass.config.is_allowed_path(filename):
        raise refused("path_not_allowed", filename=filename)
    track = await async_track(bike, start, end)
    if filename:
        await async_write(hass, filename, track["gpx"])
    return track


def _time(
    data: dict[str, Any], longest: timedelta = timedelta.max
) -> tuple[datetime, datetime]:
    """Return from when to when, in UTC: the last seven days unless told."""
    try:
        end = dt_util.as_utc(data.get(_END, dt_util.utcnow()))
        start = dt_util.as_utc(data.get(_START, end - MAX_AGE))
        # A week in which clocks are set back is an hour longer.
        by_clocks = dt_util.as_local(end) - dt_util.as_local(start)
    except OverflowError:
        raise refused("wrong_time") from None
    # A ride that is known by its arrival alone ends when it starts.
    if end < start or min(end - start, by_clocks) > longest:
        raise refused("wrong_time")
    return start, end
