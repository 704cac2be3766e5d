"""What was found out, kept beside this package: the page is written of it."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
import json
from pathlib import Path
from statistics import median
from typing import Any, Final

type Found = dict[str, list[dict[str, float]]]
"""Figures by name, of each time that each kind of work was done."""

_FOLDER: Final = Path(__file__).parent / "measured"
# Tenths of a microsecond.
_DIGITS: Final = 7


class NotMeasuredError(Exception):
    """A part of the page was never measured."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one step found out."""

    kind: str
    candidate: str
    trackers: int
    found: Found


class Results:
    """All figures of some steps, repeats of a step together."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        """Gather them."""
        self._figures: defaultdict[tuple[object, ...], list[float]] = defaultdict(list)
        for finding in findings:
            for work, times in finding.found.items():
                for figures in times:
                    for name, value in figures.items():
                        key = finding.kind, finding.candidate, finding.trackers, work
                        self._figures[*key, name].append(value)

    def get(
        self,
        kind: str,
        candidate: str,
        trackers: int,
        work: str,
        name: str = "cpu",
        average: Callable[[list[float]], float] = median,
    ) -> float:
        """Return a figure over all repeats."""
        return average(self._figures[kind, candidate, trackers, work, name])

    def per_tracker(self, candidate: str, trackers: int) -> float:
        """Return the bytes that each tracker beyond the first takes."""
        one, all_ = (
            self.get("memory", candidate, number, "memory", "bytes")
            for number in (1, trackers)
        )
        return (all_ - one) / (trackers - 1)


def save(part: str, run: str, findings: list[Finding]) -> None:
    """Keep a part of the page, with what it was measured on; it replaces the one before."""
    lines = [json.dumps(_rounded(asdict(finding))) for finding in findings]
    text = f'{{"run": {json.dumps(run)}, "findings": [\n' + ",\n".join(lines) + "\n]}\n"
    _path(part).write_text(text)


def load(part: str) -> tuple[str, list[Finding]]:
    """Return what a part was measured on, and what was found; raise NotMeasuredError."""
    if not _path(part).exists():
        raise NotMeasuredError(f"{part} were never measured")
    kept = json.loads(_path(part).read_text())
    return kept["run"], [Finding(**finding) for finding in kept["findings"]]


def _path(part: str) -> Path:
    return _FOLDER / f"{part}.json"


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return round(value, _DIGITS)
        case dict():
            return {key: _rounded(item) for key, item in value.items()}
        case list():
            return [_rounded(item) for item in value]
    return value
