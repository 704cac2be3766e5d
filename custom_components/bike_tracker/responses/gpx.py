"""The track of a bike: what the service's history has of its way, as points and as GPX."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
import re
from typing import Any, Final
from xml.etree import ElementTree as ET

from homeassistant.core import HomeAssistant

from ..api.errors import CannotConnectError, ServiceUnavailableError, TrackingError
from ..api.models import Position
from ..polling.history import History
from ..tracking.distance import fix_of
from .bikes import Bike, service_error, validation_error

type _Points = Iterable[dict[str, Any]]
_NAMESPACE: Final = "http://www.topografix.com/GPX/1/1"
_CREATOR: Final = "Bike Tracker for Home Assistant"
_FAILURES: Final[dict[type[TrackingError], str]] = {
    CannotConnectError: "cannot_connect",
    ServiceUnavailableError: "service_unavailable",
}
_NOT_IN_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


async def async_track(
    hass: HomeAssistant, bike: Bike, start: datetime, end: datetime
) -> dict[str, Any]:
    """Return the way of a bike in a time."""
    # People and triggers name whole seconds: what was reported within the last one counts.
    run, end = hass.async_add_executor_job, end + timedelta(seconds=1)
    reports = await _async_reports(bike, start, end)
    if not (points := await run(list, _points(reports, start, end))):
        raise validation_error("no_reports")
    # Who copies the GPX by hand finds it above thousands of points.
    return {"gpx": await run(gpx, bike.name, points), "points": points}


def gpx(name: str, points: _Points) -> str:
    """Return points, which are in order of time, as GPX 1.1."""
    root = ET.Element("gpx", xmlns=_NAMESPACE, version="1.1", creator=_CREATOR)
    track = ET.SubElement(root, "trk")
    ET.SubElement(track, "name").text = _NOT_IN_XML.sub("", name)
    segment, before = track, datetime.min.replace(tzinfo=UTC)
    for point in points:
        time = datetime.fromisoformat(point["time"])
        # After a longer gap nobody knows which way it went.
        if time - before > timedelta(minutes=30):
            segment = ET.SubElement(track, "trkseg")
        _add_point(segment, point, time)
        before = time
    # No XML declaration: an error unless it comes first, which in a copy it may not.
    return ET.tostring(root, encoding="unicode")


def _add_point(segment: ET.Element, point: dict[str, Any], time: datetime) -> None:
    latitude, longitude = f"{point['latitude']:.7f}", f"{point['longitude']:.7f}"
    element = ET.SubElement(segment, "trkpt", lat=latitude, lon=longitude)
    if point["altitude"] is not None:
        ET.SubElement(element, "ele").text = f"{point['altitude']:.1f}"
    utc = time.astimezone(UTC).isoformat(timespec="milliseconds")
    ET.SubElement(element, "time").text = utc.replace("+00:00", "Z")


async def _async_reports(bike: Bike, start: datetime, end: datetime) -> list[Position]:
    """Return what a bike reported in a time, as the service's history has it."""
    coordinator, tracker = bike.coordinator, bike.tracker
    if coordinator is None or tracker is None or tracker.device.id is None:
        raise service_error("not_available", name=bike.name)
    history = coordinator.service.history
    if not history.allows():
        raise service_error("too_many_requests")
    try:
        return await _async_by_day(history, tracker.device.id, start, end)
    except TrackingError as err:
        failure = service_error(_FAILURES.get(type(err), "no_history"), error=str(err))
        if err.is_too_large:
            failure = validation_error("too_many_reports")
    # Not above, where the error would keep the answer.
    raise failure


async def _async_by_day(
    history: History, device_id: int, start: datetime, end: datetime
) -> list[Position]:
    reports = list[Position]()
    while start < end:
        # A week of a courier, 16,000 reports, read at once holds up the loop for 200 ms.
        until = min(start + timedelta(days=1), end)
        reports += await history.async_get(device_id, start, until)
        start = until
    return reports


def _points(reports: Iterable[Position], start: datetime, end: datetime) -> _Points:
    """Yield where it was, once each, within a time that the service may ignore."""
    before = None
    for report in reports:
        fix = fix_of(report, report.fix_time) if report.is_fix else None
        if fix and fix.time != before and start <= fix.time < end:
            before, speed = fix.time, report.speed
            yield {
                "time": fix.time.isoformat(),
                "latitude": fix.latitude,
                "longitude": fix.longitude,
                "speed": speed if speed is None else round(speed, 1),
                "altitude": report.altitude,
            }
