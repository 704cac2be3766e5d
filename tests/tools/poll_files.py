"""Record which functions of the integration run in a poll, for tests and for scripts/lib/house.py.

Pytest runs the test below only if its command names this file, because the name of the
file does not begin with `test_`.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
import sys
from types import CodeType

import pytest

from custom_components import bike_tracker
from custom_components.bike_tracker.entity import BikeTrackerEntity

from ..conftest import EVERYTHING, RED, Bikes

_ROOT = str(Path(bike_tracker.__file__).parent)
_TOOL = 4


@dataclass
class Passed:
    """The recorded calls of the integration's functions."""

    files: list[str] = field(default_factory=list)
    """For each call, the file of the function, in the order of the calls."""
    functions: Counter[str] = field(default_factory=Counter)
    reads: Counter[str] = field(default_factory=Counter)
    """How often each entity was read, by entity ID."""


@contextmanager
def watching() -> Iterator[Passed]:
    """Record which functions of the integration are called in this context."""
    passed, begins = Passed(), sys.monitoring.events.PY_START

    def start(code: CodeType, _offset: int) -> None:
        if not code.co_filename.startswith(_ROOT):
            return
        passed.files.append(code.co_filename)
        passed.functions[code.co_name] += 1
        if code is BikeTrackerEntity._read.__code__:  # noqa: SLF001
            entity = sys._getframe(1).f_locals["self"]  # noqa: SLF001
            passed.reads[entity.entity_id] += 1

    sys.monitoring.use_tool_id(_TOOL, "files of a poll")
    sys.monitoring.register_callback(_TOOL, begins, start)
    sys.monitoring.set_events(_TOOL, begins)
    try:
        yield passed
    finally:
        sys.monitoring.free_tool_id(_TOOL)


@pytest.mark.usefixtures("ready")
async def test_poll_files(bikes: Bikes) -> None:
    """For an idle poll and a poll with a new report, print the files that run, the file switches, and reads of an entity."""
    bikes.simulator.report(RED, latitude=52.52, longitude=13.40, attributes=EVERYTHING)
    # After the first report, the database is written, too, so skip these two polls.
    await bikes.poll()
    await bikes.poll()
    for words in ("an idle poll", "a changed poll"):
        with watching() as passed:
            await bikes.poll()
        changes = sum(one != next_one for one, next_one in pairwise(passed.files))
        print(f"\nfiles of {words}: {len(set(passed.files))}")  # noqa: T201
        print(f"changes of file of {words}: {changes}")  # noqa: T201
        most = max(passed.reads.values(), default=0)
        print(f"reads of an entity in {words}: {most}")  # noqa: T201
        print(*sorted({Path(file).name for file in passed.files}))  # noqa: T201
        bikes.simulator.report(
            RED, latitude=52.53, longitude=13.41, attributes=EVERYTHING
        )
