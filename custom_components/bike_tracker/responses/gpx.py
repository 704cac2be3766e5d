"""Write tracks as GPX 1.1."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
import re
from typing import Any, Final
from xml.etree import ElementTree as ET

type Point = dict[str, Any]
"""A point as `get_track` returns it. Points of stored routes have no time."""

_NAMESPACE: Final = "http://www.topografix.com/GPX/1/1"
_CREATOR: Final = "Bike Tracker for Home Assistant"
_NOT_IN_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SEGMENT_GAP: Final = timedelta(minutes=30)


def gpx(name: str, segments: Iterable[Iterable[Point]], description: str = "") -> str:
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
    # Without an XML declaration: in a copied text it may not come first, an error.
    return ET.tostring(root, encoding="unicode")


def in_segments(points: Iterable[Point]) -> Iterator[list[Point]]:
    """Split points at gaps of more than 30 minutes: the way between is unknown."""
    segment, before = list[Point](), datetime.max.replace(tzinfo=UTC)
    for point in points:
        time = datetime.fromisoformat(point["time"])
        if segment and time - before > _SEGMENT_GAP:
            yield segment
            segment = []
        segment.append(point)
        before = time
    if segment:
        yield segment


def _add_point(segment: ET.Element, point: Point) -> None:
    latitude, longitude = f"{point['latitude']:.7f}", f"{point['longitude']:.7f}"
    element = ET.SubElement(segment, "trkpt", lat=latitude, lon=longitude)
    if point.get("altitude") is not None:
        ET.SubElement(element, "ele").text = f"{point['altitude']:.1f}"
    if time := point.get("time"):
        utc = datetime.fromisoformat(time).astimezone(UTC)
        text = utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        ET.SubElement(element, "time").text = text
