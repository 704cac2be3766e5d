"""What was measured, kept beside this package: the page is written of it."""

from dataclasses import asdict, dataclass
import json
from pathlib import Path
from typing import Any, Final

from .results import Results

FOLDER: Final = Path(__file__).parent / "measured"
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
    found: dict[str, Any]


def save(part: str, run: str, findings: list[Finding]) -> None:
    """Keep a part of the page, with what it was measured on; it replaces the one before."""
    FOLDER.mkdir(exist_ok=True)
    lines = [json.dumps(_rounded(asdict(finding))) for finding in findings]
    text = f'{{"run": {json.dumps(run)}, "findings": [\n' + ",\n".join(lines) + "\n]}\n"
    _path(part).write_text(text)


def load(part: str, results: Results) -> str:
    """Take in what was kept of a part, and return what it was measured on; raise NotMeasuredError."""
    if not _path(part).exists():
        raise NotMeasuredError(f"{part} were never measured")
    kept = json.loads(_path(part).read_text())
    for finding in kept["findings"]:
        results.add(**finding)
    run: str = kept["run"]
    return run


def _path(part: str) -> Path:
    return FOLDER / f"{part}.json"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return value
