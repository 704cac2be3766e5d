"""The map server that Home Assistant uses, simulated with the streets of a town."""

from collections.abc import Mapping
from itertools import pairwise
from math import asinh, pi, radians, tan
import re

from aiohttp import web

from tests.tools.simulator.streets import STREETS, Point, meters

HOST = "vector.openstreetmap.org"
_DEEPEST = 14
"""The highest zoom level of the tiles. For closer views, the map enlarges tiles of this level."""
_TILE = re.compile(r"/shortbread_v1/(\d+)/(\d+)/(\d+)\.mvt")

_MAIN_STREETS = {"Handschuhsheimer Landstraße", "Mönchhofstraße"}
# Kinds of roads in the Shortbread schema. Map styles draw the first kind wider.
_MAIN, _SIDE = "secondary", "tertiary"
_NAMED = 350.0
"""Streets longer than this length in meters get a name. On shorter streets, bikes would cover the name."""

_EXTENT = 4096
"""The width and height of a tile in its own units."""
_KEYS = ("kind", "name")

type TilePoint = tuple[int, int]
"""A point on a tile: units to the right of the tile's upper left corner, and units below this corner."""

type Street = list[Point]

type Line = tuple[list[TilePoint], str, str]
"""The points of a street, its kind and its name."""


def _street(stretches: tuple[tuple[Point, ...], ...]) -> Street:
    points = [point for stretch in stretches for point in stretch]
    return points[:1] + [end for start, end in pairwise(points) if start != end]


def _length(street: Street) -> float:
    return sum(meters(start, end) for start, end in pairwise(street))


_STREETS = {name: _street(stretches) for name, stretches in STREETS.items()}
_WITH_NAMES = {
    name: street for name, street in _STREETS.items() if _length(street) > _NAMED
}


async def site(request: web.BaseRequest) -> web.StreamResponse:
    """Answer with the description of the map, or with a tile."""
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
        layers = {"streets": _STREETS, "street_labels": _WITH_NAMES}
        return web.Response(
            body=b"".join(
                _bytes(3, _layer(name, _lines(streets, zoom, column, row)))
                for name, streets in layers.items()
            ),
            content_type="application/vnd.mapbox-vector-tile",
        )
    return web.Response(status=404)


def _lines(
    streets: Mapping[str, Street], zoom: int, column: int, row: int
) -> list[Line]:
    """Return the streets whose bounding box overlaps the tile, in units of the tile."""
    lines = list[Line]()
    for name, street in streets.items():
        points = [_point(point, zoom, column, row) for point in street]
        if all(min(it) <= _EXTENT and max(it) >= 0 for it in zip(*points, strict=True)):
            kind = _MAIN if name in _MAIN_STREETS else _SIDE
            lines.append((points, kind, name))
    return lines


def _point(point: Point, zoom: int, column: int, row: int) -> TilePoint:
    """Return where a tile shows a place in Web Mercator projection. The point may be outside of the tile."""
    latitude, longitude = point
    across = (longitude + 180) / 360
    down = (1 - asinh(tan(radians(latitude))) / pi) / 2
    tiles = 2**zoom
    return (
        round((across * tiles - column) * _EXTENT),
        round((down * tiles - row) * _EXTENT),
    )


# The functions below write vector tiles in Mapbox's format, version 2.1: layers of lines
# with properties.


def _layer(name: str, lines: list[Line]) -> bytes:
    values = sorted({value for line in lines for value in line[1:]})
    line_string = _number(3, 2)
    parts = [_bytes(1, name.encode())]
    for points, *words in lines:
        numbers = [it for key in enumerate(map(values.index, words)) for it in key]
        tags = b"".join(map(_varint, numbers))
        parts.append(
            _bytes(2, _bytes(2, tags) + line_string + _bytes(4, _geometry(points)))
        )
    parts += [_bytes(3, key.encode()) for key in _KEYS]
    parts += [_bytes(4, _bytes(1, value.encode())) for value in values]
    return b"".join((*parts, _number(5, _EXTENT), _number(15, 2)))


def _geometry(points: list[TilePoint]) -> bytes:
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
