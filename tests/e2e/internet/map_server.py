"""The server that Home Assistant loads the map from, with the streets of the simulated town."""

from collections.abc import Iterator
from itertools import pairwise
from math import asinh, pi, radians, tan
import re

from aiohttp import web

from tests.simulator.streets import STREETS, Point

from .vector_tile import EXTENT, Line, TilePoint, encode

HOST = "vector.openstreetmap.org"
_DEEPEST = 14
"""The zoom of the most detailed tiles, which are enlarged beyond that."""
_TILE = re.compile(r"/shortbread_v1/(\d+)/(\d+)/(\d+)\.mvt")
_MAIN_STREETS = {"Handschuhsheimer Landstraße", "Mönchhofstraße"}


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
    lines = list(_lines(zoom, column, row))
    return encode({"streets": lines, "street_labels": lines})


def _lines(zoom: int, column: int, row: int) -> Iterator[Line]:
    """Yield the streets that touch the tile."""
    for name, stretches in STREETS.items():
        points = [_point(point, zoom, column, row) for point in _joined(stretches)]
        if all(_touches([point[axis] for point in points]) for axis in (0, 1)):
            kind = "secondary" if name in _MAIN_STREETS else "residential"
            yield Line(points, {"kind": kind, "name": name})


def _joined(stretches: tuple[tuple[Point, ...], ...]) -> list[Point]:
    points = [point for stretch in stretches for point in stretch]
    return points[:1] + [end for start, end in pairwise(points) if start != end]


def _touches(coordinates: list[int]) -> bool:
    return max(coordinates) >= 0 and min(coordinates) <= EXTENT


def _point(point: Point, zoom: int, column: int, row: int) -> TilePoint:
    """Return where a place is in a tile, in Web Mercator."""
    latitude, longitude = point
    across = (longitude + 180) / 360
    down = (1 - asinh(tan(radians(latitude))) / pi) / 2
    tiles = 2**zoom
    return round((across * tiles - column) * EXTENT), round(
        (down * tiles - row) * EXTENT
    )
