"""Routes: encoding and thinning."""

from itertools import pairwise
from math import cos, radians, sin

from hypothesis import given, strategies as st
import pytest

from custom_components.bike_tracker.tracking.routes import (
    Point,
    decode,
    encode,
    extended,
    thinned,
)

from ..long import examples

_METER = 1 / 111_195
points = st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), max_size=50)


def test_known_polyline() -> None:
    """Encode the example of Google's documentation."""
    route: list[Point] = [(38.5, -120.2), (40.7, -120.95), (43.252, -126.453)]
    assert encode(route) == "_p~iF~ps|U_ulLnnqC_mqNvxq`@"
    assert decode(encode(route)) == route


@examples(60)
@given(points)
def test_decoded(route: list[Point]) -> None:
    """Decoding returns each point, rounded to five decimals."""
    flat = [value for point in decode(encode(route)) for value in point]
    assert flat == pytest.approx(
        [value for point in route for value in point], abs=1e-5
    )


@pytest.mark.parametrize(("off", "kept"), [(0, 2), (9, 2), (11, 3)])
@pytest.mark.parametrize("longitude", [7.8, 179.999])
def test_tolerance(off: float, kept: int, longitude: float) -> None:
    """A point within 10 m of the line is dropped, also at the date line."""
    east = (longitude + 200 * _METER + 180) % 360 - 180
    route = [(0.0, longitude), (off * _METER, longitude + 100 * _METER), (0.0, east)]
    assert len(thinned(route)) == kept


@pytest.mark.parametrize("route", [[], [(1.0, 2.0)], [(1.0, 2.0), (1.0, 2.0)]])
def test_short(route: list[Point]) -> None:
    """A route of up to two points stays."""
    assert thinned(route) == route
    assert thinned([(1.0, 2.0)] * 3) == [(1.0, 2.0)] * 2


def test_limit() -> None:
    """A long winding route has at most 500 points, its ends among them."""
    route = [
        (47 + 0.01 * number * cos(radians(number * 50)), 7 + sin(number) / 10)
        for number in range(2_000)
    ]
    found = thinned(route)
    assert 100 < len(found) <= 500
    assert (found[0], found[-1]) == (route[0], route[-1])


def test_growing() -> None:
    """A route grows point by point, and is thinned when it becomes long."""
    points = [(47.9 + number / 900, 7.8 + number % 2 / 90) for number in range(1_500)]
    route = encode(points[:1])
    for last, point in pairwise(points):
        route = extended(route, last, point)
    assert len(route) < 7_000
    assert decode(route)[-1] == pytest.approx(points[-1], abs=1e-5)
