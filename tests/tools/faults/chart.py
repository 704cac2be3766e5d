"""Draws how long it took until all was right again, as SVG that is read on light and on dark pages."""

from collections import Counter
from collections.abc import Iterator
from math import log, sqrt

from .cases import PATHS, Lasted, Path
from .measured import MOST, Measured

_NAMES: dict[Path, str] = {
    "devices": "The list of trackers",
    "positions": "The positions",
    "live": "The live connection",
}
_WIDTH, _LEFT, _ROW, _TOP = 760, 250, 34, 50
_TICKS = {5: "5 s", 60: "1 min", 300: "5 min", 900: "15 min", 3600: "1 h"}
_STYLE = (
    "text{font:12px sans-serif;fill:#24292f}.grid{stroke:#8888884d}"
    ".dot{fill:#0060c0;fill-opacity:.75}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.dot{fill:#5ab0ff}}"
)


def draw(measured: Measured) -> str:
    """Return the picture: a row for each part of the service and each duration."""
    found: dict[tuple[Path, Lasted], Counter[int]] = {}
    for path in PATHS:
        for lasted in Lasted:
            times = Counter(
                MOST if seconds is None else seconds
                for case, seconds in measured.items()
                if (case.path, case.lasted) == (path, lasted)
            )
            if times:
                found[path, lasted] = times
    height = _TOP + _ROW * len(found)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
            "<title>How long it took until all was right again</title>",
            f"<style>{_STYLE}</style>",
            *_grid(height),
            *(
                part
                for number, ((path, lasted), times) in enumerate(found.items())
                for part in _row(number, f"{_NAMES[path]}, {_words(lasted)}", times)
            ),
            "</svg>\n",
        ]
    )


def _grid(height: int) -> Iterator[str]:
    for seconds, text in _TICKS.items():
        at = _across(seconds)
        yield f'<path class="grid" d="M{at:.1f} 30V{height}"/>'
        yield f'<text x="{at:.1f}" y="20" text-anchor="middle">{text}</text>'


def _row(number: int, name: str, times: Counter[int]) -> Iterator[str]:
    down = _TOP + _ROW * number + 4
    yield f'<text x="{_LEFT - 20}" y="{down + 4}" text-anchor="end">{name}</text>'
    for seconds, faults in times.items():
        yield (
            f'<circle class="dot" cx="{_across(seconds):.1f}" cy="{down}" r="{sqrt(faults) * 1.2 + 1.5:.1f}">'
            f"<title>{faults}</title></circle>"
        )


def _words(lasted: Lasted) -> str:
    return {60: "a minute", 3600: "an hour", 86400: "a day"}[lasted]


def _across(seconds: int) -> float:
    """Return where a time is: ten times as long is as far away each time, from 5 seconds on."""
    share = log(max(seconds, 5) / 5) / log(MOST / 5)
    return _LEFT + share * (_WIDTH - _LEFT - 30)
