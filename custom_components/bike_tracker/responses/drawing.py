"""Draw a route as SVG: north up, without a map."""

from collections.abc import Sequence
from typing import Final

from ..api.models import Point
from ..tracking.routes import flat, thinned

_MIN_EXTENT_METERS: Final = 100


def route_as_svg(lines: Sequence[Sequence[Point]]) -> str:
    """Return lines of latitudes and longitudes as SVG in meters, or "" without points.

    A ring marks the start, and a dot the end. The page scales the drawing.
    """
    on_plane = [flat(thinned(line), lines[0][0]) for line in lines if line]
    if not on_plane:
        return ""
    north, east = zip(*(point for line in on_plane for point in line), strict=True)
    width, height = (max(max(it) - min(it), _MIN_EXTENT_METERS) for it in (east, north))
    left = (max(east) + min(east) - width) / 2
    top = -(max(north) + min(north) + height) / 2
    start, end = [on_plane[0][0]] * 2, [on_plane[-1][-1]] * 2
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}">'
        f"{''.join(_line(line, '#c00', 2) for line in on_plane)}"
        f"{_line(start, '#000', 14)}{_line(start, '#fff', 10)}{_line(end, '#000', 10)}"
        "</svg>"
    )


def _line(points: Sequence[Point], color: str, width: int) -> str:
    """Return a line of this width in pixels. Between two equal points, it is a dot."""
    path = " ".join(f"{east:.1f},{-north:.1f}" for north, east in points)
    return f'<polyline points="{path}" stroke="{color}" stroke-width="{width}"/>'
