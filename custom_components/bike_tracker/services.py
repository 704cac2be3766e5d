"""Actions that answer: the rides of bikes, and the track of one."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
import json
from pathlib import Path
from typing import Any, Final

from homeassistant.const import ATTR_DEVICE_ID
from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
    callback,
)
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import config_validation as cv, device_registry as dr
from homeassistant.util import dt as dt_util
import voluptuous as vol

from .account import LONGEST
from .api import CannotConnectError, Position, ServiceUnavailableError, TrackingError
from .api.models import one_line
from .automations.targets import trackers_in
from .const import DOMAIN
from .coordinator import BikeTrackerCoordinator
from .fleet.registries import device_of, tracker_of
from .fleet.ride_book import BookedRide, Place
from .fleet.zones import async_zone_name
from .gpx import Point, gpx

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
_FAILURES: Final = {
    CannotConnectError: "cannot_connect",
    ServiceUnavailableError: "service_unavailable",
}


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Offer the actions, whether or not an account is set up."""
    hass.services.async_register(
        DOMAIN,
        "get_rides",
        _async_get_rides,
        _GET_RIDES,
        supports_response=SupportsResponse.ONLY,
    )
    hass.services.async_register(
        DOMAIN,
        "get_track",
        _async_get_track,
        _GET_TRACK,
        supports_response=SupportsResponse.OPTIONAL,
    )


async def _async_get_rides(call: ServiceCall) -> ServiceResponse:
    """Return the rides of trackers that touch a time, in order of their start."""
    hass, (start, end) = call.hass, _time(call)
    target = {
        key: value for key, value in call.data.items() if key not in (_START, _END)
    }
    trackers = trackers_in(hass, json.dumps(target, sort_keys=True))
    if not trackers:
        raise ServiceValidationError(
            translation_domain=DOMAIN, translation_key="no_tracker"
        )
    rides = [
        (device, ride)
        for entry in hass.config_entries.async_entries(DOMAIN, include_disabled=False)
        for tracker in trackers
        if (device := device_of(hass, tracker, entry.entry_id))
        for ride in _coordinator(hass, device).rides.of(tracker, start, end)
    ]
    rides.sort(key=lambda item: item[1].started_at)
    return {"rides": [_described(hass, *item) for item in rides]}


async def _async_get_track(call: ServiceCall) -> ServiceResponse:
    """Return what the service knows of the way of a tracker, and write it if told to."""
    hass, (start, end) = call.hass, _time(call, LONGEST)
    device = dr.async_get(hass).async_get(call.data[ATTR_DEVICE_ID])
    if not isinstance(device, dr.DeviceEntry) or not (tracker := tracker_of(device)):
        raise ServiceValidationError(
            translation_domain=DOMAIN, translation_key="no_tracker"
        )
    filename = call.data.get(_FILENAME)
    if filename and not hass.config.is_allowed_path(filename):
        raise ServiceValidationError(
            translation_domain=DOMAIN,
            translation_key="path_not_allowed",
            translation_placeholders={"filename": filename},
        )
    reports = await _async_ask(hass, device, tracker, start, end)
    points = list(_points(reports))
    if not points:
        raise ServiceValidationError(
            translation_domain=DOMAIN, translation_key="no_reports"
        )
    text = gpx(one_line(_name(device)) or tracker, points)
    if filename:
        await _async_write(hass, filename, text)
    return {"points": [_values(point) for point in points], "gpx": text}


def _time(
    call: ServiceCall, longest: timedelta = timedelta.max
) -> tuple[datetime, datetime]:
    """Return from when to when, in UTC: the last seven days unless told."""
    end = dt_util.as_utc(call.data.get(_END, dt_util.utcnow()))
    start = dt_util.as_utc(call.data.get(_START, end - LONGEST))
    if not timedelta(0) < end - start <= longest:
        raise ServiceValidationError(
            translation_domain=DOMAIN, translation_key="wrong_time"
        )
    return start, end


def _coordinator(hass: HomeAssistant, device: dr.DeviceEntry) -> BikeTrackerCoordinator:
    """Return the coordinator of the account that a device is of."""
    for entry in hass.config_entries.async_loaded_entries(DOMAIN):
        if entry.entry_id == device.config_entry_id:
            coordinator: BikeTrackerCoordinator = entry.runtime_data.coordinator
            return coordinator
    raise _unavailable(device)


def _unavailable(device: dr.DeviceEntry) -> HomeAssistantError:
    return HomeAssistantError(
        translation_domain=DOMAIN,
        translation_key="not_available",
        translation_placeholders={"name": _name(device)},
    )


def _name(device: dr.DeviceEntry) -> str:
    """Return the name the person sees."""
    return device.name_by_user or device.name or ""


def _described(
    hass: HomeAssistant, device: dr.DeviceEntry, ride: BookedRide
) -> dict[str, Any]:
    """Return a ride as it is answered."""
    return {
        "device_id": device.id,
        "name": _name(device),
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


async def _async_ask(
    hass: HomeAssistant,
    device: dr.DeviceEntry,
    tracker: str,
    start: datetime,
    end: datetime,
) -> list[Position]:
    """Return what a tracker reported in a time."""
    coordinator = _coordinator(hass, device)
    known = coordinator.account.trackers.get(tracker)
    if known is None or known.device.id is None:
        raise _unavailable(device)
    history = coordinator.service.history
    if not history.allows():
        raise HomeAssistantError(
            translation_domain=DOMAIN, translation_key="too_many_requests"
        )
    try:
        return await history.async_get(known.device.id, start, end)
    except TrackingError as err:
        # Raised here, as the error above would keep the answer.
        failure = _failure(err)
    raise failure


def _failure(err: TrackingError) -> HomeAssistantError:
    """Return what a failure of the history means to the person."""
    if err.is_too_large:
        return ServiceValidationError(
            translation_domain=DOMAIN, translation_key="too_many_reports"
        )
    kinds = (key for kind, key in _FAILURES.items() if isinstance(err, kind))
    return HomeAssistantError(
        translation_domain=DOMAIN,
        translation_key=next(kinds, "no_history"),
        translation_placeholders={"error": str(err)},
    )


def _points(reports: Iterable[Position]) -> Iterator[Point]:
    """Yield where it was, once each: what was no new fix is left out."""
    before = None
    for report in reports:
        time, latitude, longitude = report.fix_time, report.latitude, report.longitude
        if time is None or latitude is None or longitude is None or not report.is_fix:
            continue
        if time != before:
            yield Point(time, latitude, longitude, report.speed, report.altitude)
        before = time


def _values(point: Point) -> dict[str, Any]:
    return {
        **point._asdict(),
        "time": point.time.isoformat(),
        "speed": point.speed if point.speed is None else round(point.speed, 1),
    }


async def _async_write(hass: HomeAssistant, filename: str, text: str) -> None:
    """Write a file where Home Assistant may."""
    try:
        await hass.async_add_executor_job(_write, Path(filename), text)
    except OSError as err:
        raise HomeAssistantError(
            translation_domain=DOMAIN,
            translation_key="not_written",
            translation_placeholders={
                "filename": filename,
                "error": str(err.strerror or type(err).__name__),
            },
        ) from err


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
