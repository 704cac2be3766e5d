"""What an earlier version of this integration costs, beside what this one costs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import subprocess
from tempfile import TemporaryDirectory
from typing import Final

from .plan import LARGE, LIVE, MOST, OURS, Step
from .results import Results
from .scenarios import BURSTS, TITLES

_POLLS: Final = 5
_BURST: Final = 7
_POLLED: Final = (LARGE[0], MOST)
_LIVE_FLEETS: Final = (1, 100, 1_000)


class RevisionError(Exception):
    """There is no such version."""


def compare(revision: str, repeats: int) -> str:
    """Measure both in turns, and return a table of both; raise RevisionError or StepError."""
    before, now = Results(), Results()
    with _checked_out(revision) as folder:
        for _ in range(repeats):
            for kind, trackers, times in (
                *(("time", trackers, _POLLS) for trackers in _POLLED),
                *((LIVE, trackers, _BURST) for trackers in _LIVE_FLEETS),
            ):
                for results, where in ((before, folder), (now, None)):
                    step = Step(kind, OURS, trackers, times, where)
                    print(step, "now" if where is None else revision, flush=True)
                    results.add(kind, OURS, trackers, step.run())
    lines = [f"{'trackers':>9} {'CPU µs before':>14} {'now':>10} {'ratio':>6}  work"]
    lines += [
        f"{trackers:>9,} {old * 1e6:>14,.0f} {new * 1e6:>10,.0f} {new / old:>6.2f}  {work}"
        for (trackers, work, old), (*_, new) in zip(
            _figures(before), _figures(now), strict=True
        )
    ]
    return "\n".join(lines)


def _figures(results: Results) -> Iterator[tuple[int, str, float]]:
    """Return seconds of the event loop's thread, by number of trackers and work."""
    for trackers in _POLLED:
        for work, title in TITLES.items():
            yield trackers, title, results.cpu(trackers, OURS, work)
    for trackers in _LIVE_FLEETS:
        for burst in BURSTS:
            if burst.struck(trackers) is not None:
                seconds = results.live.per_message(trackers, OURS, burst.key)
                yield trackers, f"live, {burst.title}, a message", seconds


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
