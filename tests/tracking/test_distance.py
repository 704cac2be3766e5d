"""Distances between fixes, the distance that was ridden, and routes."""

from datetime import timedelta
from itertools import chain, pairwise
from math import cos, radians, sin

from hypothesis import given, strategies as st
import pytest

from custom_components.bike_tracker.tracking.distance import (
    Fix,
    is_plausible,
    meters,
    way,
)
from custom_components.bike_tracker.tracking.routes import (
    Point,
    decode,
    encode,
    extended,
    thinned,
)

from ..long import examples
from .conftest import NOW
from .house import METER


def a_fix(kilometers: float = 0, minutes: float = 0, total: float | None = None) -> Fix:
    """Return a fix, given its kilometers to the north of 47.9° latitude and its minutes after `NOW`."""
    time = NOW + timedelta(minutes=minutes)
    return Fix(time, 47.9 + 1_000 * kilometers * METER, 7.8, 0, total)


@pytest.mark.parametrize(
    ("start", "end", "kilometers"),
    [
        ((0.0, 13.0), (1.0, 13.0), 111.2),
        ((-60.0, 179.5), (-60.0, -179.5), 55.6),
        ((-33.8688, 151.2093), (51.5074, -0.1278), 16_993.9),
    ],
    ids=["north", "date-line", "Sydney-London"],
)
def test_meters(start: Point, end: Point, kilometers: float) -> None:
    """The distance is measured along the surface of the earth. It is the same in both directions."""
    here, there = Fix(NOW, *start), Fix(NOW, *end)
    assert not here.accuracy
    assert meters(here, there) == pytest.approx(kilometers * 1_000, rel=0.001)
    assert meters(there, here) == pytest.approx(meters(here, there))


@pytest.mark.parametrize(
    ("limit", "minutes", "speed"),
    [
        (750, 1, None),
        (750, 1, 20.0),
        (1_000, 1, 40.0),
        (45_000, 24 * 60, None),
        (12.5, 0, None),
    ],
)
def test_plausible(limit: float, minutes: float, speed: float | None) -> None:
    """A bike can travel 45 km/h, or one and a half times the reported speed, for at most an hour.

    The test adds 50 meters to each limit, because noise may explain this distance if
    accuracies are unknown.
    """
    start = a_fix()
    ends = [a_fix((limit * it + 50) / 1_000, minutes) for it in (0.98, 1.02)]
    assert [is_plausible(start, start, it, speed) for it in ends] == [True, False]


@pytest.mark.parametrize(
    ("straight", "minutes", "added", "expected"),
    [
        (1, 60, None, 1),
        (1, 60, 0.9, 1),
        (1, 60, 5.9, 5.9),
        (1, 60, 6.1, 1),
        (1, 5.901, 5.9, 5.9),
        (1, 5.82, 5.9, 1),
        (300, 60 * 24, 990, 990),
        (300, 60 * 24, 1_010, 300),
        (5.33, 1, None, 5.33),
        (5.345, 1, None, 0),
    ],
)
def test_way(
    straight: float, minutes: float, added: float | None, expected: float
) -> None:
    """The server's distance is used up to 1,000 km, 60 km/h, and five times the straight line plus 1 km.

    Otherwise, the straight line is used, or 0 if no bike could be that fast.
    """
    start = a_fix(total=7)
    end = a_fix(straight, minutes, total=None if added is None else 7 + added)
    assert way(start, start, start, end) == pytest.approx(expected, rel=0.001)


# Encoding and thinning of routes

points = st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), max_size=50)


def test_known_polyline() -> None:
    """The example in Google's documentation is encoded in the same way."""
    route: list[Point] = [(38.5, -120.2), (40.7, -120.95), (43.252, -126.453)]
    assert encode(route) == "_p~iF~ps|U_ulLnnqC_mqNvxq`@"
    assert decode(encode(route)) == route


@examples(60)
@given(points)
def test_decoded(route: list[Point]) -> None:
    """Decoding gives each point, rounded to five decimals."""
    decoded = chain.from_iterable(decode(encode(route)))
    assert [*decoded] == pytest.approx([*chain.from_iterable(route)], abs=1e-5)


@pytest.mark.parametrize(("off", "kept"), [(0, 3), (9, 3), (11, 4)])
@pytest.mark.parametrize("longitude", [7.8, 179.999])
def test_tolerance(off: float, kept: int, longitude: float) -> None:
    """A point within 10 m of the line is dropped, even after a turn or at the date line."""
    east = (longitude + 200 * METER + 180) % 360 - 180
    turn = [(-1_000 * METER, longitude), (0.0, longitude)]
    route = [*turn, (off * METER, longitude + 100 * METER), (0.0, east)]
    assert len(thinned(route)) == kept


def test_corners() -> None:
    """Of a route along streets, only the corners are kept. A point beyond an end of the line is kept, too."""
    corners = [(0.0, 0.0), (0.01, 0.0), (0.01, 0.02), (0.02, 0.02), (0.02, 0.04)]
    route = [
        (a[0] + (b[0] - a[0]) * number / 9, a[1] + (b[1] - a[1]) * number / 9)
        for a, b in pairwise(corners)
        for number in range(9)
    ]
    assert thinned([*route, corners[-1]]) == corners
    for east in (0.01, -0.01):
        beyond = [(0.0, 0.0), (0.0, east), (0.0, 0.005)]
        assert thinned(beyond) == beyond


@pytest.mark.parametrize("route", [[], [(1.0, 2.0)], [(1.0, 2.0), (1.0, 2.0)]])
def test_short(route: list[Point]) -> None:
    """A route of at most two points stays the same. Of three equal points, two stay."""
    assert thinned(route) == route
    assert thinned([(1.0, 2.0)] * 3) == [(1.0, 2.0)] * 2


def test_limit() -> None:
    """A long winding route keeps at most 500 points. Its ends stay."""
    route = [
        (47 + 0.01 * number * cos(radians(number * 50)), 7 + sin(number) / 10)
        for number in range(2_000)
    ]
    found = thinned(route)
    assert 100 < len(found) <= 500
    assert (found[0], found[-1]) == (route[0], route[-1])


def _grown(points: list[Point]) -> str:
    route = encode(points[:1])
    for last, point in pairwise(points):
        route = extended(route, last, point)
    return route


def test_growing() -> None:
    """A route of 1,500 points is thinned while it grows, but keeps its last point. A short route keeps all points."""
    points = [(47.9 + number / 900, 7.8 + number % 2 / 90) for number in range(1_500)]
    route = _grown(points)
    assert len(route) < 7_000
    assert decode(route)[-1] == pytest.approx(points[-1], abs=1e-5)
    straight = [(number / 10, 0.0) for number in range(4)]
    assert decode(_grown(straight)) == straight
