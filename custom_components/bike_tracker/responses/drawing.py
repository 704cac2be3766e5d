"""Draw a route as SVG: north up, with a scale, without a map."""

from collections.abc import Callable, Sequence
from math import floor, log10
from typing import Final

from ..api.models import Point
from ..tracking.routes import flat, thinned

_WIDTH: Final = 680
_HEIGHT: Final = 190
_MARGIN: Final = 26
_MIN_EXTENT_METERS: Final = 100
# Maximum length of the scale, as a share of the drawing's width.
_SCALE_PART: Final = 0.25

type _Line = Sequence[Point]


def route_as_svg(lines: Sequence[_Line], label: Callable[[float], str]) -> str:
    """Return lines of latitudes and longitudes as SVG, or "" without points.

    `label` returns the escaped text of a distance in meters. All other content consists
    of numbers.
    """
    on_plane = [flat(thinned(line), lines[0][0]) for line in lines if line]
    if not on_plane:
        return ""
    placed, scale = _placed(on_plane)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'direction="ltr">'
        f"{_lines(placed)}{_ends(placed[0][0], placed[-1][-1])}"
        f"{_scale(scale, label)}{_NORTH}</svg>"
    )


_NORTH: Final = (
    f'<path d="M{_WIDTH - 18} 30V10m-4 6l4-6 4 6" fill="none" stroke="#000"/>'
    f'<text x="{_WIDTH - 18}" y="33" text-anchor="middle" dominant-baseline="hanging">N</text>'
)


def _placed(lines: Sequence[_Line]) -> tuple[list[_Line], float]:
    """Place lines, given in meters north and east, in the middle of the drawing. Also return the pixels per meter."""
    north, east = zip(*(point for line in lines for point in line), strict=True)
    scale = min(
        (_WIDTH - 2 * _MARGIN) / max(max(east) - min(east), _MIN_EXTENT_METERS),
        (_HEIGHT - 2 * _MARGIN) / max(max(north) - min(north), _MIN_EXTENT_METERS),
    )
    middle = (max(east) + min(east)) / 2, (max(north) + min(north)) / 2
    placed: list[_Line] = [
        [
            (
                _WIDTH / 2 + (x - middle[0]) * scale,
                _HEIGHT / 2 - (y - middle[1]) * scale,
            )
            for y, x in line
        ]
        for line in lines
    ]
    return placed, scale


def _lines(placed: Sequence[_Line]) -> str:
    texts = (" ".join(f"{x:.1f},{y:.1f}" for x, y in line) for line in placed)
    return "".join(
        f'<polyline points="{text}" fill="none" stroke="#c00" stroke-width="2" '
        'stroke-linejoin="round"/>'
        for text in texts
    )


def _ends(start: Point, end: Point) -> str:
    """Return a ring that marks the start and a dot that marks the end."""
    return (
        f'<circle cx="{start[0]:.1f}" cy="{start[1]:.1f}" r="6" fill="#fff" '
        'stroke="#000" stroke-width="2"/>'
        f'<circle cx="{end[0]:.1f}" cy="{end[1]:.1f}" r="5" fill="#000"/>'
    )


def _scale(scale: float, label: Callable[[float], str]) -> str:
    """Return a bar with a round length in meters, at most a quarter of the width. `scale` is pixels per meter."""
    longest = _WIDTH * _SCALE_PART / scale
    unit = 10 ** floor(log10(longest))
    meters = max(step * unit for step in (1, 2, 5) if step * unit <= longest)
    x, y, right = 12, _HEIGHT - 12, 12 + meters * scale
    return (
        f'<path d="M{x} {y - 5}v5H{right:.1f}v-5" fill="none" stroke="#000"/>'
        f'<text x="{x + 4}" y="{y - 5}">{label(meters)}</text>'
    )
