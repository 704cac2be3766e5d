"""Routes: the line of a ride, thinned and encoded as text."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import cos, hypot, radians
from typing import Final

from ..api.models import Point

_METERS_PER_DEGREE: Final = 111_195
_TOLERANCE_METERS: Final = 10.0
_MAX_POINTS: Final = 500
_PRECISION: Final = 100_000
# Maximum number of characters of a route during a ride. Thinning costs 5 ms, so thin a
# route only when it is longer than this.
_MAX_LENGTH: Final = 6_000


def encode(points: Iterable[Point], last: Point = (0, 0)) -> str:
    """Encode points as a polyline (Google's algorithm, precision 5) that continues after `last`."""
    text, before = list[str](), _rounded(last)
    for point in points:
        rounded = _rounded(point)
        text += map(_encoded, (rounded[0] - before[0], rounded[1] - before[1]))
        before = rounded
    return "".join(text)


def _rounded(point: Point) -> tuple[int, int]:
    return round(point[0] * _PRECISION), round(point[1] * _PRECISION)


def _encoded(delta: int) -> str:
    """Encode the difference of two coordinates, with five bits in each character."""
    bits, text = ~(delta << 1) if delta < 0 else delta << 1, ""
    while bits >= 0x20:
        text += chr((0x20 | bits & 0x1F) + 63)
        bits >>= 5
    return text + chr(bits + 63)


def decode(route: str) -> list[Point]:
    """Return the points of an encoded polyline."""
    values, bits, shift = list[int](), 0, 0
    for character in route:
        part = ord(character) - 63
        bits |= (part & 0x1F) << shift
        shift += 5
        if part < 0x20:
            values.append(~(bits >> 1) if bits & 1 else bits >> 1)
            bits = shift = 0
    points, latitude, longitude = list[Point](), 0, 0
    for north, east in zip(values[::2], values[1::2], strict=True):
        latitude, longitude = latitude + north, longitude + east
        points.append((latitude / _PRECISION, longitude / _PRECISION))
    return points


def extended(route: str, last: Point, point: Point) -> str:
    """Append a point to an encoded polyline that ends at `last`. Thin the polyline if it is too long."""
    if len(route) > _MAX_LENGTH:
        route = thinned_route(route)
    return route + encode([point], last)


# The ride of a silent tracker ends anew each time its state is read.
@lru_cache(maxsize=1_000)
def thinned_route(route: str) -> str:
    """Return an encoded polyline without the points that are close to the rest of the line."""
    return encode(thinned(decode(route)))


def thinned(points: Sequence[Point]) -> list[Point]:
    """Drop points within 10 m of the line. If more than 500 points are left, drop more."""
    if len(points) <= 2:
        return list(points)
    tolerance, plane = _TOLERANCE_METERS, flat(points, points[0])
    while len(kept := _douglas_peucker(plane, tolerance)) > _MAX_POINTS:
        tolerance *= 2
    return [points[number] for number in kept]


def flat(points: Iterable[Point], origin: Point) -> list[Point]:
    """Convert points to meters north and east of `origin`. The points may cross the date line."""
    latitude, longitude = origin
    scale = _METERS_PER_DEGREE * cos(radians(latitude))
    return [
        (
            (north - latitude) * _METERS_PER_DEGREE,
            ((east - longitude + 180) % 360 - 180) * scale,
        )
        for north, east in points
    ]


def _douglas_peucker(flat: Sequence[Point], tolerance: float) -> list[int]:
    """Return the indexes of the points that the Douglas-Peucker algorithm keeps."""
    kept, stack = {0, len(flat) - 1}, [(0, len(flat) - 1)]
    while stack:
        start, end = stack.pop()
        farthest, number = tolerance, 0
        for middle in range(start + 1, end):
            apart = _distance(flat[middle], flat[start], flat[end])
            if apart > farthest:
                farthest, number = apart, middle
        if number:
            kept.add(number)
            stack += [(start, number), (number, end)]
    return sorted(kept)


def _distance(point: Point, start: Point, end: Point) -> float:
    """Return the distance in meters between a point and the line from start to end."""
    north, east = end[0] - start[0], end[1] - start[1]
    length = north * north + east * east
    away = point[0] - start[0], point[1] - start[1]
    part = (away[0] * north + away[1] * east) / length if length else 0
    part = min(max(part, 0), 1)
    return hypot(away[0] - part * north, away[1] - part * east)
