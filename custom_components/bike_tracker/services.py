"""The actions of the integration: data about bikes, rides and tracks, theft reports and messages."""

import asyncio
from contextlib import suppress
import csv
from datetime import datetime
from functools import partial
from io import StringIO
from itertools import batched, product
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from homeassistant.const import ATTR_DEVICE_ID, ATTR_NAME, CONF_FILENAME
from homeassistant.core import HomeAssistant, ServiceCall, SupportsResponse, callback
from homeassistant.core_config import Config
from homeassistant.helpers import config_validation as cv
import voluptuous as vol

from .const import DOMAIN
from .night_guard import messages
from .responses import (
    Bike,
    async_bikes_in,
    named,
    service_error,
    validation_error,
    with_stored_state,
)
from .responses.statistics import (
    MAX_PERIODS,
    PERIODS,
    BikeRides,
    first_days,
    midnight,
    statistics,
)
from .responses.texts import with_commas, zone_name
from .responses.theft_report import DETAILS, START, async_theft_report
from .responses.track import MAX_TRACK, async_gpx, async_track, points, time_range
from .responses.where import where, words
from .tracking.distance import Fix
from .tracking.rides import Ride

_END: Final = "end_date_time"
_PERIOD: Final = "period"
_ROUTES: Final = "routes"
# Maximum number of rides to describe in one step of the event loop: 5 ms.
_RIDES_AT_ONCE: Final = 100
# Six decimals of a degree are about a tenth of a meter, which is more exact than GPS.
_DECIMALS: Final = 6
_PLACE_COLUMNS: Final = ("latitude", "longitude", "zone", "address")
_UNITS: Final = {"distance": "km", "duration": "s", "maximum_speed": "kmh"}
# Spreadsheets read a cell that begins with one of these characters as a formula.
_FORMULA: Final = (*"=+-@\t\r\n", *"＝＋－＠")

_TIME_RANGE: Final = {vol.Optional(START): cv.datetime, vol.Optional(_END): cv.datetime}
_ACTION_OPTIONS: Final = {**_TIME_RANGE, vol.Optional(CONF_FILENAME): cv.path}
_WHERE: Final = vol.Schema({**cv.TARGET_FIELDS, vol.Optional(ATTR_NAME): cv.string})
_GET_RIDES: Final = vol.Schema(
    {
        **cv.TARGET_FIELDS,
        **_ACTION_OPTIONS,
        vol.Optional(_ROUTES, default=False): cv.boolean,
    }
)
_PERIOD_OPTION: Final = {vol.Optional(_PERIOD, default="week"): vol.In(PERIODS)}
_GET_STATISTICS: Final = vol.Schema(
    {**cv.TARGET_FIELDS, **_TIME_RANGE, **_PERIOD_OPTION}
)
_GET_TRACK: Final = vol.Schema(
    {vol.Required(ATTR_DEVICE_ID): cv.string, **_ACTION_OPTIONS}
)
_THEFT_REPORT: Final = _GET_TRACK.extend(dict.fromkeys(DETAILS, cv.string))


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Register the actions before any account is set up, and listen to the buttons of messages."""
    only, optional = SupportsResponse.ONLY, SupportsResponse.OPTIONAL
    none = SupportsResponse.NONE
    for name, action, schema, response in (
        ("get_rides", _async_get_rides, _GET_RIDES, only),
        ("get_statistics", _async_get_statistics, _GET_STATISTICS, only),
        ("get_track", _async_get_track, _GET_TRACK, optional),
        ("theft_report", _async_theft_report, _THEFT_REPORT, optional),
        ("where", _async_where, _WHERE, only),
        ("send_message", messages.async_send, messages.MESSAGE_SCHEMA, none),
    ):
        hass.services.async_register(DOMAIN, name, action, schema, response)
    hass.bus.async_listen(messages.EVENT_BUTTON, partial(messages.async_press, hass))


async def _async_get_rides(call: ServiceCall) -> dict[str, Any]:
    """Return the rides of the target's bikes in a time range. With a file name, also write the rides as CSV."""
    start, end = time_range(call.data.get(START), call.data.get(_END))
    bikes, path = await async_bikes_in(call), await _async_path(call)
    rides = list[dict[str, Any]]()
    for bike in _loaded(bikes):
        found = await bike.rides(start, end)
        for batch in batched(found, _RIDES_AT_ONCE, strict=False):
            rides += [
                _described(call.hass, bike, ride)
                | ({"route": ride.route} if call.data[_ROUTES] else {})
                for ride in batch
            ]
            await asyncio.sleep(0)
    # All times are in UTC and in the same format, so their texts sort correctly.
    rides.sort(key=itemgetter("started_at"))
    if path:
        text = await call.hass.async_add_executor_job(_csv_of, rides)
        await _async_write(call.hass, path, text)
    return {"rides": rides}


async def _async_get_statistics(call: ServiceCall) -> dict[str, Any]:
    """Return sums of the rides of the target's bikes by day, week, month or year."""
    data, period = call.data, call.data[_PERIOD]
    _, end = time_range(data.get(START), data.get(_END))
    try:
        days = first_days(period, data.get(START), end)
        start, after = midnight(days[0]), midnight(days[-1])
    except OverflowError:
        raise validation_error("wrong_time") from None
    if len(days) > MAX_PERIODS + 1:
        raise validation_error("too_many_periods", maximum=f"{MAX_PERIODS}")
    bikes = [
        BikeRides(bike.device_id, bike.name, await bike.rides(start, after))
        for bike in _loaded(await async_bikes_in(call))
    ]
    run = call.hass.async_add_executor_job
    return {"periods": await run(statistics, bikes, period, days)}


def _loaded(bikes: list[Bike]) -> list[Bike]:
    """Return the bikes of loaded accounts. If none is loaded, return all bikes, so that reading rides raises an error."""
    return [bike for bike in bikes if bike.coordinator] or bikes


def _described(hass: HomeAssistant, bike: Bike, ride: Ride) -> dict[str, Any]:
    return {
        "device_id": bike.device_id,
        "name": bike.name,
        **ride.described(is_over=True),
        "start": ride.start and _place(hass, ride.start),
        "end": ride.end and _place(hass, ride.end),
    }


def _csv_of(rides: list[dict[str, Any]]) -> str:
    """Return rides as CSV with a header line."""
    file = StringIO()
    table = csv.writer(file, lineterminator="\n")
    names, ends = ("started_at", "ended_at", "name"), ("start", "end")
    units = [f"{key}_{unit}" for key, unit in _UNITS.items()]
    table.writerow([*names, *units, *map("_".join, product(ends, _PLACE_COLUMNS))])
    for ride in rides:
        values = [ride[key] for key in (*names, *_UNITS)]
        for end in ends:
            values += (ride[end] or dict.fromkeys(_PLACE_COLUMNS)).values()
        table.writerow(map(_cell, values))
    return file.getvalue()


def _cell(value: object) -> object:
    """Return a value for CSV. If spreadsheets would read the value as a formula, put an apostrophe before it."""
    is_formula = isinstance(value, str) and value.startswith(_FORMULA)
    return f"'{value}" if is_formula else value


def _place(hass: HomeAssistant, place: Fix) -> dict[str, Any]:
    return {
        "latitude": round(place.latitude, _DECIMALS),
        "longitude": round(place.longitude, _DECIMALS),
        "zone": zone_name(hass, place.point),
        "address": place.address,
    }


async def _async_bike_in(call: ServiceCall) -> Bike:
    """Return the first bike of a target in order of the names, or raise an error if the target has no bike."""
    if not (bikes := await async_bikes_in(call)):
        raise validation_error("no_tracker")
    return bikes[0]


async def _async_get_track(call: ServiceCall) -> dict[str, Any]:
    """Return the track of a device as GPX and as points. With a file name, also write the GPX file."""
    bike, path = await _async_bike_in(call), await _async_path(call)
    start, end = _times_of_track(call.data, bike)
    track = await async_track(call.hass, bike, start, end)
    gpx = await async_gpx(call.hass, bike, track)
    await _async_write(call.hass, path, gpx)
    # Put the GPX first: users would not find it below thousands of points.
    run = call.hass.async_add_executor_job
    return {"gpx": gpx, "points": await run(list, points(track.reports))}


async def _async_theft_report(call: ServiceCall) -> dict[str, Any]:
    """Return a report for police and insurance. With a file name, also write its HTML page."""
    bike, path = await _async_bike_in(call), await _async_path(call)
    bike = with_stored_state(call.hass, bike)
    start, end = _times_of_report(call.data, bike)
    report = await async_theft_report(call.hass, bike, start, end, call.data)
    await _async_write(call.hass, path, report["html"])
    return report


async def _async_where(call: ServiceCall) -> dict[str, Any]:
    """Return the location and condition of the bikes of a target. Skip bikes of accounts that are not loaded.

    With a name, return only the bikes with this name.
    """
    bikes = [bike for bike in await async_bikes_in(call) if bike.coordinator]
    name = call.data.get(ATTR_NAME, "")
    answers = [where(call.hass, bike) for bike in named(bikes, name)]
    texts = [answer["text"] for answer in answers]
    if not answers:
        names = with_commas(call.hass, (bike.name for bike in bikes))
        key = "not_known" if bikes else "none"
        texts = [words(call.hass, key, name=name, names=names)]
    return {"bikes": answers, "text": " ".join(texts)}


def _times_of_track(data: dict[str, Any], bike: Bike) -> tuple[datetime, datetime]:
    """Return the time range of a track. By default, it is the range of the ride under way, or else of the last ride."""
    if data.keys() & {START, _END}:
        return time_range(data.get(START), data.get(_END), MAX_TRACK)
    last = bike.last_ride
    return last.started_at, last.moved_at


def _times_of_report(data: dict[str, Any], bike: Bike) -> tuple[datetime, datetime]:
    """Return the time range of a report, by default until now."""
    start, end = time_range(data.get(START), data.get(_END), MAX_TRACK)
    if START not in data:
        start = max(start, _start_of_report(bike))
    return time_range(start, end, MAX_TRACK)


def _start_of_report(bike: Bike) -> datetime:
    """Return the arming before the theft; without a theft, the arming or, without a guard, the start of the last ride."""
    state = bike.state
    if state.stolen_guard:
        return state.stolen_guard.armed_at
    if state.guard is None:
        return bike.last_ride.started_at
    since, last = state.guard.armed_at, state.ride_state.ended
    # The bike may have been guarded only after it was stolen. Include its last ride.
    return min(since, last.started_at) if last else since


async def _async_path(call: ServiceCall) -> Path | None:
    """Return the path of the file to write, None without a file name. Raise an error if the path is forbidden."""
    if not (filename := call.data.get(CONF_FILENAME)):
        return None
    run = call.hass.async_add_executor_job
    if (path := await run(_allowed_path, call.hass.config, filename)) is None:
        raise validation_error("path_not_allowed", filename=filename)
    return path


def _allowed_path(config: Config, filename: str) -> Path | None:
    """Return the absolute path, or None if it is forbidden. A relative path leads into the media folder."""
    # Without a media folder `local`, use the first folder, which may not exist yet.
    folders = config.media_dirs
    folder = folders.get("local") or next(iter(folders.values()), "")
    with suppress(ValueError):
        # Resolve symbolic links before the check: a link could lead out of the folder.
        path = Path(folder, filename).resolve()
        return path if config.is_allowed_path(str(path)) else None
    return None


async def _async_write(hass: HomeAssistant, path: Path | None, text: str) -> None:
    """Write a file and create its folder. Do nothing without a path."""
    try:
        await hass.async_add_executor_job(_write, path, text)
    except OSError as err:
        error = err.strerror or type(err).__name__
        raise service_error("not_written", filename=str(path), error=error) from err


def _write(path: Path | None, text: str) -> None:
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
