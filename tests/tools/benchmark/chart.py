"""Draws cost against the size of the fleet, as SVG that is read on light and on dark pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Final

_WIDTH: Final = 860
_PANEL: Final = 340
"""Of one chart, with its numbers; two are side by side."""
_PLOT: Final = (66, 34, 256, 190)
"""Left, top, width and height of what is drawn into, within its panel."""
_ROW: Final = 262
_LEGEND: Final = 690

# Burst apart by people who see no red or green, too; each also has a mark of its own.
_COLOURS: Final = (
    ("#0060c0", "#5ab0ff"),
    ("#6b6b6b", "#a0a0a0"),
    ("#b85c00", "#ffa94d"),
    ("#00795c", "#45c9a5"),
    ("#a3308a", "#e88fd6"),
    ("#8a7400", "#d9c33c"),
    ("#c0263c", "#ff8093"),
)
_MARKS: Final = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3-3h6v6h-6z",
    "M0-5l4.5 8h-9z",
    "M0-5l5 5-5 5-5-5z",
    "M0 5l4.5-8h-9z",
    "M-5-1.2h10v2.4h-10z",
    "M-1.2-5h2.4v10h-2.4z",
)


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines of some candidates: for each a value, in milliseconds, by number of trackers."""

    title: str
    lines: dict[str, dict[int, float]]


@dataclass(frozen=True, slots=True)
class _Scales:
    """Go by powers of ten: ten times as much is as far away each time."""

    largest: int
    """The largest fleet, at the right edge; the smallest is one tracker."""
    low: int
    """The power of ten of the milliseconds at the lower edge."""
    high: int

    def x(self, trackers: int) -> float:
        left, _top, width, _height = _PLOT
        return left + width * log10(trackers) / log10(self.largest)

    def y(self, value: float) -> float:
        _left, top, _width, height = _PLOT
        return top + height * (self.high - log10(value)) / (self.high - self.low)


def draw(charts: Sequence[Chart], names: Mapping[str, str]) -> str:
    """Return an SVG with all charts at one scale, and the candidates by the names people read."""
    height = _ROW * ceil(len(charts) / 2) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        "<title>Milliseconds of the event loop by number of trackers</title>",
        f"<style>{''.join(_style(len(names)))}</style>",
    ]
    marks = {candidate: number for number, candidate in enumerate(names)}
    lines = [line for chart in charts for line in chart.lines.values()]
    values = [value for line in lines for value in line.values()]
    scales = _Scales(
        max(map(max, lines)), floor(log10(min(values))), ceil(log10(max(values)))
    )
    for number, chart in enumerate(charts):
        row, column = divmod(number, 2)
        parts.append(f'<g transform="translate({column * _PANEL} {row * _ROW})">')
        parts += [*_chart(chart, scales, marks), "</g>"]
    for number, name in enumerate(names.values()):
        parts.append(
            f'<g class="c{number}" transform="translate({_LEGEND} {50 + number * 24})">'
            f'<path class="line" d="M0 0h26"/>{_mark(number, 13, 0)}'
            f'<text x="34" y="4">{name.strip("`")}</text></g>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _style(candidates: int) -> Iterator[str]:
    yield "text{font:12px sans-serif;fill:#24292f}.title{font-weight:600;font-size:13px}"
    yield ".grid{stroke:#8888884d;fill:none}.line{fill:none;stroke-width:1.8}.c0 .line{stroke-width:3}"
    dark = "text{fill:#e6edf3}"
    for number in range(candidates):
        light, bright = _COLOURS[number]
        yield f".c{number} .line{{stroke:{light}}}.c{number} .mark{{fill:{light}}}"
        dark += f".c{number} .line{{stroke:{bright}}}.c{number} .mark{{fill:{bright}}}"
    yield f"@media (prefers-color-scheme:dark){{{dark}}}"


def _chart(chart: Chart, scales: _Scales, marks: Mapping[str, int]) -> Iterator[str]:
    left, top, width, height = _PLOT
    yield f'<text class="title" x="{left}" y="20">{chart.title}</text>'
    for power in range(scales.low, scales.high + 1):
        at = scales.y(10.0**power)
        yield f'<path class="grid" d="M{left} {at:.1f}h{width}"/>'
        yield f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:,g} ms</text>'
    for power in range(floor(log10(scales.largest)) + 1):
        at = scales.x(10**power)
        yield f'<path class="grid" d="M{at:.1f} {top}v{height}"/>'
        yield f'<text x="{at:.1f}" y="{top + height + 16}" text-anchor="middle">{10**power:,}</text>'
    # This integration comes first, and is drawn last, above the others.
    for candidate, line in reversed(chart.lines.items()):
        number = marks[candidate]
        points = [
            (scales.x(trackers), scales.y(value))
            for trackers, value in sorted(line.items())
        ]
        path = "L".join(f"{across:.1f} {down:.1f}" for across, down in points)
        yield f'<g class="c{number}"><path class="line" d="M{path}"/>'
        yield "".join(_mark(number, *point) for point in points) + "</g>"


def _mark(number: int, across: float, down: float) -> str:
    return f'<path class="mark" transform="translate({across:.1f} {down:.1f})" d="{_MARKS[number]}"/>'
