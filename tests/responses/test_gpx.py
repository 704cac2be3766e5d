"""Tracks as GPX, read with a library that nobody here wrote."""

from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from typing import Any
from xml.etree import ElementTree as ET

import gpxpy
from gpxpy.gpx import GPX
import pytest

from custom_components.bike_tracker.responses.track import gpx, in_segments

NOON = datetime(2026, 11, 22, 12, 0, 0, 250_000, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def point(time: datetime, *place: float) -> dict[str, Any]:
    """Return a point as the action answers it, with or without an altitude."""
    values = zip_longest(("latitude", "longitude", "altitude"), place)
    return {"time": time.isoformat(), "speed": None, **dict(values)}


def read(text: str) -> GPX:
    """Return what others read."""
    return gpxpy.parse(text, version="1.1")


def test_points() -> None:
    """Time, place and altitude are as they were; the track has the bike's name."""
    points = [
        point(NOON, 47.9990076, 7.8421043, 278.04),
        point(NOON + MINUTE, -0.0000001, -179.5),
    ]
    read_back = read(gpx("Red bike", in_segments(points)))
    [track] = read_back.tracks
    assert track.name == "Red bike"
    assert read_back.creator == "Bike Tracker for Home Assistant"
    [segment] = track.segments
    first, second = segment.points
    assert (first.latitude, first.longitude) == (47.9990076, 7.8421043)
    assert (first.time, first.elevation) == (NOON, 278.0)
    assert (second.latitude, second.longitude) == (-0.0000001, -179.5)
    assert (second.time, second.elevation) == (NOON + MINUTE, None)


def test_gaps() -> None:
    """Nobody knows which way it went within half an hour and more: a new segment begins."""
    minutes = (0, 30, 61, 62, 200)
    points = [point(NOON + minute * MINUTE, 48, 8) for minute in minutes]
    [track] = read(gpx("Red bike", in_segments(points))).tracks
    assert [len(segment.points) for segment in track.segments] == [2, 2, 1]
    assert list(in_segments([])) == []


@pytest.mark.parametrize(
    "name", ["<b>&amp;</b>", 'Ann\'s "bike"', "自転車", "🚲", "]]>"]
)
def test_name(name: str) -> None:
    """Whatever a bike is called, the file is readable."""
    [track] = read(gpx(name, [[point(NOON, 48, 8)]])).tracks
    assert track.name == name


def test_name_that_xml_cannot_hold() -> None:
    """What no XML can hold is left out of it."""
    name = "Red\ufffe\uffff\x00\x1b\ud800 bike"
    [track] = read(gpx(name, [[point(NOON, 48, 8)]])).tracks
    assert track.name == "Red bike"


def test_stored_route() -> None:
    """Points may have no time; the description tells the source and may hold markup."""
    places = [
        {"latitude": 48.0, "longitude": 8.0},
        {"latitude": 48.1, "longitude": 8.0},
    ]
    [track] = read(gpx("Red bike", [places], "<i>stored</i> & \0thinned")).tracks
    assert track.description == "<i>stored</i> & thinned"
    assert [point.time for point in track.segments[0].points] == [None, None]


def test_document() -> None:
    """It says that it is GPX 1.1, and nothing of how its letters are written."""
    text = gpx("Fahrräder", [[point(NOON, 48, 8)]])
    root = ET.fromstring(text)  # noqa: S314 - it is our own
    assert text.startswith("<gpx ")
    assert root.tag == "{http://www.topografix.com/GPX/1/1}gpx"
    assert root.get("version") == "1.1"
