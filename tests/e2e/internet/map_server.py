"""The server that Home Assistant loads the map from, with the streets of the simulated town."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import asinh, pi, radians, tan
import re

from aiohttp import web

from tests.tools.simulator.streets import STREETS, Point, metres

HOST = "vector.openstreetmap.org"
_DEEPEST = 14
"""The zoom of the most detailed tiles, which are enlarged beyond that."""
_TILE = re.compile(r"/shortbread_v1/(\d+)/(\d+)/(\d+)\.mvt")

_MAIN_STREETS = {"Handschuhsheimer Landstraße", "Mönchhofstraße"}
# In Shortbread's schema, whose styles draw main streets broader.
_MAIN, _SIDE = "secondary", "tertiary"
_NAMED = 350.0
"""Metres: the name of a shorter street would lie under the bikes in it."""

EXTENT = 4096
"""The width and height of a tile in its own units."""

type TilePoint = tuple[int, int]
"""Right and down from the upper left corner."""

type Street = list[Point]


def _street(stretches: tuple[tuple[Point, ...], ...]) -> Street:
    points = [point for stretch in stretches for point in stretch]
    return points[:1] + [end for start, end in pairwise(points) if start != end]


def _length(street: Street) -> float:
    return sum(metres(start, end) for start, end in pairwise(street))


_STREETS = {name: _street(stretches) for name, stretches in STREETS.items()}
_WITH_NAMES = {
    name: street for name, street in _STREETS.items() if _length(street) > _NAMED
}


async def site(request: web.BaseRequest) -> web.StreamResponse:
    """Answer with what the map is, or a part of it."""
    if request.path == "/shortbread_v1/tilejson.json":
        return web.json_response(
            {
                "tilejson": "3.0.0",
                "tiles": [f"https://{HOST}/shortbread_v1/{{z}}/{{x}}/{{y}}.mvt"],
                "minzoom": 0,
                "maxzoom": _DEEPEST,
            }
        )
    if tile := _TILE.fullmatch(request.path):
        zoom, column, row = map(int, tile.groups())
        return web.Response(
            body=_tile(zoom, column, row),
            content_type="application/vnd.mapbox-vector-tile",
        )
    return web.Response(status=404)


def _tile(zoom: int, column: int, row: int) -> bytes:
    return encode(
        {
            "streets": _lines(_STREETS, zoom, column, row),
            "street_labels": _lines(_WITH_NAMES, zoom, column, row),
        }
    )


def _lines(
    streets: Mapping[str, Street], zoom: int, column: int, row: int
) -> Iterator[Line]:
    """Yield the streets that touch the tile."""
    for name, street in streets.items():
        points = [_point(point, zoom, column, row) for point in street]
        if all(_touches([point[axis] for point in points]) for axis in (0, 1)):
            kind = _MAIN if name in _MAIN_STREETS else _SIDE
            yield Line(points, {"kind": kind, "name": name})


def _touches(coordinates: list[int]) -> bool:
    return max(coordinates) >= 0 and min(coordinates) <= EXTENT


def _point(point: Point, zoom: int, column: int, row: int) -> TilePoint:
    """Return where a place is in a tile, in Web Mercator."""
    latitude, longitude = point
    across = (longitude + 180) / 360
    down = (1 - asinh(tan(radians(latitude))) / pi) / 2
    tiles = 2**zoom
    return (
        round((across * tiles - column) * EXTENT),
        round((down * tiles - row) * EXTENT),
    )


# Vector tiles: layers of lines with properties, in Mapbox's format, version 2.1.


@dataclass(frozen=True, slots=True)
class Line:
    """A line with what there is to know of it."""

    points: Sequence[TilePoint]
    properties: Mapping[str, str]


def encode(layers: Mapping[str, Iterable[Line]]) -> bytes:
    """Return the tile."""
    return b"".join(_bytes(3, _layer(name, lines)) for name, lines in layers.items())


def _layer(name: str, lines: Iterable[Line]) -> bytes:
    keys: dict[str, int] = {}
    values: dict[str, int] = {}
    features = [_feature(line, keys, values) for line in lines]
    return b"".join(
        (
            _bytes(1, name.encode()),
            *(_bytes(2, feature) for feature in features),
            *(_bytes(3, key.encode()) for key in keys),
            *(_bytes(4, _bytes(1, value.encode())) for value in values),
            _number(5, EXTENT),
            _number(15, 2),
        )
    )


def _feature(line: Line, keys: dict[str, int], values: dict[str, int]) -> bytes:
    tags = b"".join(
        _varint(known.setdefault(word, len(known)))
        for key, value in line.properties.items()
        for known, word in ((keys, key), (values, value))
    )
    line_string = 2
    return _bytes(2, tags) + _number(3, line_string) + _bytes(4, _geometry(line.points))


def _geometry(points: Sequence[TilePoint]) -> bytes:
    move_to, line_to = 1, 2
    commands = [move_to | 1 << 3]
    before = (0, 0)
    for index, point in enumerate(points):
        if index == 1:
            commands.append(line_to | (len(points) - 1) << 3)
        commands += [_zigzag(point[axis] - before[axis]) for axis in (0, 1)]
        before = point
    return b"".join(map(_varint, commands))


def _zigzag(number: int) -> int:
    return number << 1 ^ number >> 31


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes((*groups, number))
