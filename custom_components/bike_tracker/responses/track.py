"""The track of a bike: what the service knows of its way, as a list and as GPX."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError

from ..api import CannotConnectError, Position, ServiceUnavailableError, TrackingError
from ..api.models import one_line
from .bikes import Bike
from .gpx import Point, gpx
from .refusals import failed, refused

# People and triggers name whole seconds: what was reported within the last one counts.
_SECOND: Final = timedelta(seconds=1)
_FAILURES: Final = {
    CannotConnectError: "cannot_connect",
    ServiceUnavailableError: "service_unavailable",
}


async def async_track(bike: Bike, start: datetime, end: datetime) -> dict[str, Any]:
    """Return the way of a bike in a time; raises what the person is told else."""
    points = list(_points(await _async_reports(bike, start, end)))
    if not points:
        raise refused("no_reports")
    name = one_line(bike.name) or bike.unique_id
    return {"points": list(map(_values, points)), "gpx": gpx(name, points)}


async def async_write(hass: HomeAssistant, filename: str, text: str) -> None:
    """Write a file where Home Assistant may, in a folder that may be new."""
    path = Path(filename)

    def write() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    try:
        await hass.async_add_executor_job(write)
    except OSError as err:
        error = err.strerror or type(err).__name__
        raise failed("not_written", filename=filename, error=error) from err


async def _async_reports(bike: Bike, start: datetime, end: datetime) -> list[Position]:
    """Return what a bike reported in a time, as the service's history has it."""
    coordinator, tracker = bike.coordinator, bike.tracker
    if coordinator is None or tracker is None or tracker.device.id is None:
        raise bike.unavailable
    history = coordinator.service.history
    if not history.allows():
        raise failed("too_many_requests")
    try:
        return await history.async_get(tracker.device.id, start, end + _SECOND)
    except TrackingError as err:
        # Raised below, as the error above would keep the answer.
        failure = _failure(err)
    raise failure


def _failure(err: TrackingError) -> HomeAssistantError:
    """Return what a failure of the history means to the person."""
    if err.is_too_large:
        return refused("too_many_reports")
    kinds = (key for kind, key in _FAILURES.items() if isinstance(err, kind))
    return failed(next(kinds, "no_history"), error=str(err))


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
