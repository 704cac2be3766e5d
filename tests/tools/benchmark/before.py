"""What an earlier version of this integration costs, beside what this one costs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import subprocess
from tempfile import TemporaryDirectory
from typing import Final

from .plan import LARGE, LIVE_FLEETS, OURS, Step
from .results import Finding, Results
from .scenarios import ALL, ONE, TITLES

_WORKS: Final = (
    *(("time", LARGE, work) for work in TITLES),
    *(("live", trackers, work) for trackers in LIVE_FLEETS for work in (ONE, ALL)),
)


class RevisionError(Exception):
    """There is no such version."""


def compare(revision: str, repeats: int) -> str:
    """Measure both in turns, and return a table of both; raise RevisionError or StepError."""
    found: dict[str | None, list[Finding]] = {}
    with _checked_out(revision) as folder:
        for _ in range(repeats):
            for kind, trackers in dict.fromkeys(work[:2] for work in _WORKS):
                for where in (folder, None):
                    step = Step(kind, OURS, trackers, where)
                    print(step, "now" if where is None else revision, flush=True)
                    finding = Finding(kind, OURS, trackers, step.run())
                    found.setdefault(where, []).append(finding)
    before, now = map(Results, found.values())
    lines = [f"{'trackers':>9} {'CPU µs before':>14} {'now':>10} {'ratio':>6}  work"]
    for kind, trackers, work in _WORKS:
        old, new = (
            results.get(kind, OURS, trackers, work) * 1e6 for results in (before, now)
        )
        lines.append(
            f"{trackers:>9,} {old:>14,.0f} {new:>10,.0f} {new / old:>6.2f}  {kind} {work}"
        )
    return "\n".join(lines)


@contextmanager
def _checked_out(revision: str) -> Iterator[str]:
    """Provide a folder with the integration as it was."""
    command = ["git", "archive", revision, "custom_components"]
    root = Path(__file__).parents[3]
    archive = subprocess.run(command, cwd=root, capture_output=True, check=False)  # noqa: S603
    if archive.returncode:
        raise RevisionError(f"--before: {archive.stderr.decode().strip()}")
    with TemporaryDirectory(prefix="benchmark-before-") as folder:
        subprocess.run(  # noqa: S603
            ["tar", "-x", "-C", folder],  # noqa: S607
            input=archive.stdout,
            check=True,
        )
        yield folder
