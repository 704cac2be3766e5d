"""Actions that answer, as Home Assistant asks for them."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from homeassistant.const import ATTR_DEVICE_ID, ATTR_NAME
from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
    callback,
)
from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonValueType
import voluptuous as vol

from .automations.messages import (
    MESSAGE_SCHEMA,
    async_send_message,
    async_setup_buttons,
)
from .const import DOMAIN
from .responses.bikes import Bike, async_bikes_in, service_error, validation_error
from .responses.gpx import async_track
from .responses.rides import csv_of, rides_of
from .responses.units import with_commas
from .responses.where import details, where, words

_START: Final = "start_date_time"
_END: Final = "end_date_time"
_FILENAME: Final = "filename"
_WEEK: Final = timedelta(days=7)

_OPTIONS: Final = {
    vol.Optional(_START): cv.datetime,
    vol.Optional(_END): cv.datetime,
    vol.Optional(_FILENAME): cv.path,
}
_GET_RIDES: Final = vol.Schema({**cv.TARGET_FIELDS, **_OPTIONS})
_GET_TRACK: Final = vol.Schema({vol.Required(ATTR_DEVICE_ID): cv.string, **_OPTIONS})
_WHERE: Final = vol.Schema({**cv.TARGET_FIELDS, vol.Optional(ATTR_NAME): cv.string})


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Offer the actions, whether or not an account is set up."""
    for name, action, schema, answers in (
        ("get_rides", _async_get_rides, _GET_RIDES, SupportsResponse.ONLY),
        ("get_track", _async_get_track, _GET_TRACK, SupportsResponse.OPTIONAL),
        ("where", _async_where, _WHERE, SupportsResponse.ONLY),
        ("send_message", async_send_message, MESSAGE_SCHEMA, SupportsResponse.NONE),
    ):
        hass.services.async_register(DOMAIN, name, action, schema, answers)
    async_setup_buttons(hass)


async def _async_get_rides(call: ServiceCall) -> ServiceResponse:
    """Return the rides of a target that touch a time, and write them if asked to."""
    start, end = _time(call.data)
    bikes, path = await _async_asked(call)
    rides = rides_of(call.hass, bikes, start, end)
    await _async_write(call.hass, path, csv_of(rides))
    return {"rides": list[JsonValueType](rides)}


async def _async_get_track(call: ServiceCall) -> ServiceResponse:
    """Return the track of a device, and write it if asked to."""
    bikes, path = await _async_asked(call)
    device_id = call.data[ATTR_DEVICE_ID]
    bike = next((bike for bike in bikes if bike.device_id == device_id), None)
    if bike is None:
        raise validation_error("no_tracker")
    start, end = _time_of_track(call.data, bike)
    track = await async_track(call.hass, bike, start, end)
    await _async_write(call.hass, path, track["gpx"])
    return track


async def _async_where(call: ServiceCall) -> ServiceResponse:
    """Return where the bikes of a target are, as far as their accounts are loaded.

    A name as somebody says it chooses those that are called so.
    """
    bikes = await async_bikes_in(call)
    name = call.data.get(ATTR_NAME)
    loaded = [bike for bike in bikes if bike.coordinator]
    called = [bike for bike in loaded if not name or bike.is_called(name)]
    answers = [where(call.hass, bike) | details(bike) for bike in called]
    text = " ".join(answer["text"] for answer in answers)
    if not answers:
        known = with_commas(call.hass, (bike.name for bike in loaded))
        key = "not_known" if known else "none"
        text = words(call.hass, key, name=name or "", names=known)
    return {"bikes": list[JsonValueType](answers), "text": text}


async def _async_asked(call: ServiceCall) -> tuple[list[Bike], Path | None]:
    """Return the bikes in a target, and where the answer is written if it is."""
    filename = call.data.get(_FILENAME)
    bikes = await async_bikes_in(call, is_written=bool(filename))
    return bikes, await _async_path(call.hass, filename) if filename else None


def _time(
    data: dict[str, Any], longest: timedelta = timedelta.max
) -> tuple[datetime, datetime]:
    """Return from when to when, in UTC, by default the last seven days."""
    try:
        end = dt_util.as_utc(data.get(_END, dt_util.utcnow()))
        start = dt_util.as_utc(data.get(_START, end - _WEEK))
        # A week in which clocks are set back is an hour longer.
        by_clocks = dt_util.as_local(end) - dt_util.as_local(start)
    except OverflowError:
        raise validation_error("wrong_time") from None
    # A ride that is known by its arrival alone ends when it starts.
    if end < start or min(end - start, by_clocks) > longest:
        raise validation_error("wrong_time")
    return start, end


def _time_of_track(data: dict[str, Any], bike: Bike) -> tuple[datetime, datetime]:
    """Return from when to when, in UTC, by default the last ride."""
    if data.keys() & {_START, _END}:
        return _time(data, _WEEK)
    if bike.coordinator is None:
        raise bike.unavailable
    if (ride := bike.last_ride(dt_util.utcnow())) is None:
        raise validation_error("no_ride", name=bike.name)
    return ride.started_at, ride.moved_at


async def _async_path(hass: HomeAssistant, filename: str) -> Path:
    """Return where a file is written: by its name alone in the media folder."""
    folder = hass.config.media_dirs.get("local", "")

    def allowed() -> Path | None:
        try:
            # A link that leads nowhere yet would be allowed by its own folder.
            path = Path(folder, filename).resolve()
        except OSError, ValueError:
            return None
        # The media folder may not be there yet.
        return path if hass.config.is_allowed_path(str(path)) else None

    if (path := await hass.async_add_executor_job(allowed)) is None:
        raise validation_error("path_not_allowed", filename=filename)
    return path


async def _async_write(hass: HomeAssistant, path: Path | None, text: str) -> None:
    """Write a file, in a folder that may be new."""
    if path is None:
        return

    def write() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    try:
        await hass.async_add_executor_job(write)
    except OSError as err:
        error = err.strerror or type(err).__name__
        raise service_error("not_written", filename=str(path), error=error) from err
