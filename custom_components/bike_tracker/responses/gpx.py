"""Tracks as GPX 1.1, which maps and sports apps read."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from xml.etree import ElementTree as ET

_NAMESPACE: Final = "http://www.topografix.com/GPX/1/1"
_CREATOR: Final = "Bike Tracker for Home Assistant"
# After a longer gap nobody knows which way it went.
_GAP: Final = timedelta(minutes=30)


class Point(NamedTuple):
    """Where a bike was at one time."""

    time: datetime
    latitude: float
    longitude: float
    speed: float | None = None
    """Kilometres per hour."""
    altitude: float | None = None
    """Metres."""


def gpx(name: str, points: Iterable[Point]) -> str:
    """Return a track of this name with these points, which are in order of time."""
    root = ET.Element("gpx", xmlns=_NAMESPACE, version="1.1", creator=_CREATOR)
    track = ET.SubElement(root, "trk")
    ET.SubElement(track, "name").text = name
    segment, before = track, None
    for point in points:
        if before is None or point.time - before > _GAP:
            segment = ET.SubElement(track, "trkseg")
        _add(segment, point)
        before = point.time
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _add(segment: ET.Element, point: Point) -> None:
    latitude, longitude = f"{point.latitude:.7f}", f"{point.longitude:.7f}"
    element = ET.SubElement(segment, "trkpt", lat=latitude, lon=longitude)
    if point.altitude is not None:
        ET.SubElement(element, "ele").text = f"{point.altitude:.1f}"
    time = point.time.astimezone(UTC).isoformat(timespec="milliseconds")
    ET.SubElement(element, "time").text = time.replace("+00:00", "Z")
