"""The track of a bike: the reports from the service's history or, without them, the stored routes.

The track can be downloaded as GPX 1.1. A signed link to the download needs no sign-in.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import pairwise
import re
from typing import Any, Final, NamedTuple
from urllib.parse import quote
from xml.etree import ElementTree as ET

from aiohttp import hdrs, web
from homeassistant.auth.permissions.const import POLICY_READ
from homeassistant.components.http import KEY_HASS, KEY_HASS_USER, HomeAssistantView
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceValidationError,
    Unauthorized,
)
from homeassistant.util import dt as dt_util, slugify

from ..api.errors import CannotConnectError, ServiceUnavailableError, TrackingError
from ..api.models import Position
from ..const import DOMAIN
from ..polling.history import History
from ..tracking.rides import Ride
from ..tracking.routes import decode
from . import Bike, bike_of, service_error, validation_error
from .texts import error_text, text

type TrackPoint = dict[str, Any]
"""A point as `get_track` returns it. In a stored route, only the first and the last point have times."""

MAX_TRACK: Final = timedelta(days=7)
# Maximum time range of one request: the longest local day. The reports of a whole week
# may be too many: 16,000.
_PORTION: Final = timedelta(hours=25, seconds=1)
_MIN_TRACK_PORTION: Final = timedelta(hours=1)
_FAILURES: Final[dict[type[TrackingError], str]] = {
    CannotConnectError: "cannot_connect",
    ServiceUnavailableError: "service_unavailable",
}
GPX_TYPE: Final = "application/gpx+xml"
_NAMESPACE: Final = "http://www.topografix.com/GPX/1/1"
_CREATOR: Final = "Bike Tracker for Home Assistant"
_NOT_IN_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SEGMENT_GAP: Final = timedelta(minutes=30)


class Track(NamedTuple):
    """The places of a bike in a time range, from the service or from stored routes."""

    reports: list[Position]
    """Reports with a measured place, in order of time."""
    rides: list[Ride] = []
    """Rides with stored routes, if the service sent no reports."""
    error: str = ""
    """Why the service sent no reports; empty if it sent reports."""

    def segments(self) -> list[list[TrackPoint]]:
        """Return the points of each line of the track. Reports are split at gaps; each ride is one line."""
        if self.reports:
            return [list(points(part)) for part in _in_segments(self.reports)]
        return [_route_points(ride) for ride in self.rides]

    def description(self, hass: HomeAssistant) -> str:
        """Return a note if the service sent no reports: why, and whether stored routes replace the reports."""
        if not self.rides:
            return self.error
        return text(hass, "selector.report.options.stored_routes", error=self.error)


def time_range(
    start: datetime | None, end: datetime | None, longest: timedelta = timedelta.max
) -> tuple[datetime, datetime]:
    """Return a time range in UTC, by default the last seven days. Raise an error for a range that is not valid."""
    try:
        utc_end = dt_util.as_utc(end or dt_util.utcnow())
        start = start or utc_end - MAX_TRACK
        # The first hours of year 1 have no UTC time everywhere.
        utc_start = dt_util.as_utc(start.replace(year=max(start.year, 2)))
        # Compare the range with `longest` by the local clock, too: a week in which
        # clocks are set back lasts an hour longer.
        by_clocks = dt_util.as_local(utc_end) - dt_util.as_local(utc_start)
        # If the end is close to the year 9999, raise OverflowError now: requests may
        # extend beyond the end of the range.
        _ = utc_end + timedelta(days=2)
    except OverflowError:
        raise validation_error("wrong_time") from None
    # Allow a range without length: if only the arrival of a ride is known, start and
    # end are the same.
    duration = utc_end - utc_start
    if duration < timedelta() or min(duration, by_clocks) > longest:
        raise validation_error("wrong_time")
    return utc_start, utc_end


async def async_gpx(hass: HomeAssistant, bike: Bike, track: Track) -> str:
    """Return a track as GPX."""
    description = track.description(hass)
    run = hass.async_add_executor_job
    return await run(lambda: gpx(bike.name, track.segments(), description))


async def async_best_track(
    hass: HomeAssistant, bike: Bike, start: datetime, end: datetime
) -> Track:
    """Return the reports of the service or, without reports, the stored routes. Raise an error if neither exists."""
    try:
        return await async_track(hass, bike, start, end)
    except HomeAssistantError as err:
        rides = await bike.rides(start, end)
        rides += bike.state.rides_under_way(start, end)
        if not (known := [ride for ride in rides if ride.route]):
            raise
        return Track([], known, error_text(hass, err))


async def async_track(
    hass: HomeAssistant, bike: Bike, start: datetime, end: datetime
) -> Track:
    """Return the reports of a time range from the service's history, or raise an error if it has none."""
    # Times from users and triggers are whole seconds, so include the whole last second.
    end += timedelta(seconds=1)
    reports = await _async_reports(bike, start, end)
    run = hass.async_add_executor_job
    if not (places := await run(list, _places(reports, start, end))):
        raise validation_error("no_reports")
    return Track(places)


async def _async_reports(bike: Bike, start: datetime, end: datetime) -> list[Position]:
    coordinator, tracker = bike.coordinator, bike.tracker
    if coordinator is None or tracker is None or tracker.device.id is None:
        raise service_error("not_available", name=bike.name)
    history = coordinator.service.history
    if not history.allows():
        raise service_error("too_many_requests")
    try:
        return await _async_in_portions(history, tracker.device.id, start, end)
    except TrackingError as err:
        failure = service_error(_FAILURES.get(type(err), "no_history"), error=str(err))
        if err.is_too_large:
            failure = validation_error("too_many_reports")
    # Raise the error outside of `except`: otherwise its context would keep the response
    # in memory.
    raise failure


async def _async_in_portions(
    history: History, device_id: int, start: datetime, end: datetime
) -> list[Position]:
    """Return the reports of a time range. Request them day by day.

    If a response is too large, request each half of the range, down to one hour.
    """
    middle = start + _PORTION
    if middle >= end:
        try:
            return await history.async_get(device_id, start, end)
        except TrackingError as err:
            if not err.is_too_large or end - start < 2 * _MIN_TRACK_PORTION:
                raise
        middle = start + (end - start) / 2
    return [
        *await _async_in_portions(history, device_id, start, middle),
        *await _async_in_portions(history, device_id, middle, end),
    ]


def _places(
    reports: Iterable[Position], start: datetime, end: datetime
) -> Iterator[Position]:
    """Yield the reports of measured places, one for each fix time. Check the range, which the service may ignore."""
    before = None
    for report in reports:
        time = report.fix_time if report.is_fix else None
        if time is None or report.point is None:
            continue
        if time != before and start <= time < end:
            before = time
            yield report


def _in_segments(reports: Sequence[Position]) -> list[list[Position]]:
    """Split reports at gaps of more than 30 minutes: the route in a gap is unknown."""
    segments = [[reports[0]]]
    for before, report in pairwise(reports):
        if report.moment - before.moment > _SEGMENT_GAP:
            segments.append([])
        segments[-1].append(report)
    return segments


def points(reports: Iterable[Position]) -> Iterator[TrackPoint]:
    """Yield the points of reports as the action `get_track` returns them."""
    for report in reports:
        speed = report.speed
        yield {
            "time": report.moment.isoformat(),
            "latitude": report.latitude,
            "longitude": report.longitude,
            "speed": speed if speed is None else round(speed, 1),
            "altitude": report.altitude,
        }


def _route_points(ride: Ride) -> list[TrackPoint]:
    """Return the points of a stored route; only the first and the last have a time."""
    line: list[dict[str, Any]] = [
        {"latitude": latitude, "longitude": longitude}
        for latitude, longitude in decode(ride.route or "")
    ]
    line[0]["time"] = ride.started_at.isoformat()
    line[-1]["time"] = ride.moved_at.isoformat()
    return line


def gpx(
    name: str, segments: Iterable[Iterable[TrackPoint]], description: str = ""
) -> str:
    """Return the segments of a track as GPX."""
    root = ET.Element("gpx", xmlns=_NAMESPACE, version="1.1", creator=_CREATOR)
    track = ET.SubElement(root, "trk")
    ET.SubElement(track, "name").text = _NOT_IN_XML.sub("", name)
    if description:
        ET.SubElement(track, "desc").text = _NOT_IN_XML.sub("", description)
    for points in segments:
        segment = ET.SubElement(track, "trkseg")
        for point in points:
            _add_point(segment, point)
    # Leave out the XML declaration: if a user copies the text below other text, the
    # declaration is an error.
    return ET.tostring(root, encoding="unicode")


def _add_point(segment: ET.Element, point: TrackPoint) -> None:
    latitude, longitude = f"{point['latitude']:.7f}", f"{point['longitude']:.7f}"
    element = ET.SubElement(segment, "trkpt", lat=latitude, lon=longitude)
    if point.get("altitude") is not None:
        ET.SubElement(element, "ele").text = f"{point['altitude']:.1f}"
    if time := point.get("time"):
        utc = datetime.fromisoformat(time).astimezone(UTC)
        text = utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        ET.SubElement(element, "time").text = text


class GpxView(HomeAssistantView):
    """Serve the track of a bike between two times as a GPX file."""

    url = f"/api/{DOMAIN}/gpx/{{device_id}}"
    name = f"api:{DOMAIN}:gpx"

    async def get(self, request: web.Request, device_id: str) -> web.Response:
        """Return the reports of the service as GPX or, if it sends none, the stored routes of the rides."""
        hass, user = request.app[KEY_HASS], request[KEY_HASS_USER]
        if (bike := bike_of(hass, device_id)) is None:
            return self.json_message("Not a bike tracker", HTTPStatus.NOT_FOUND)
        if not user.permissions.check_entity(bike.entity.entity_id, POLICY_READ):
            raise Unauthorized
        try:
            start = datetime.fromisoformat(request.query.get("start", ""))
            end = datetime.fromisoformat(request.query.get("end", ""))
            start, end = time_range(start, end, MAX_TRACK)
        except ValueError, ServiceValidationError:
            return self.json_message("Not a time range", HTTPStatus.BAD_REQUEST)
        try:
            track = await async_best_track(hass, bike, start, end)
        except HomeAssistantError as err:
            return self.json_message(str(err), HTTPStatus.NOT_FOUND)
        text = await async_gpx(hass, bike, track)
        day = f"{dt_util.as_local(start):%Y-%m-%d}"
        headers = {hdrs.CONTENT_DISPOSITION: _attachment(bike, day)}
        return web.Response(text=text, content_type=GPX_TYPE, headers=headers)


def _attachment(bike: Bike, day: str) -> str:
    """Return the header with the name of the GPX file, and with a simpler name for old browsers."""
    plain = f"{slugify(bike.name)}_{day}.gpx"
    exact = quote(f"{bike.name} {day}.gpx", safe="")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}"
