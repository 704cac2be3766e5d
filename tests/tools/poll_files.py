"""Counts the files that a poll passes, for scripts/lib/house.py; no part of a usual run of the tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import sys
from types import CodeType

import pytest

from custom_components import bike_tracker

from ..conftest import EVERYTHING, RED, Poll
from .simulator import Simulator

_ROOT = Path(bike_tracker.__file__).parent
_COORDINATOR = str(_ROOT / "coordinator.py")
_TOOL = 4


class Passed:
    """The files in which a function was called, and how often another file called the coordinator."""

    def __init__(self) -> None:
        """Begin with none."""
        self.files: set[str] = set()
        self.coordinator = 0

    def start(self, code: CodeType, _offset: int) -> None:
        """Note a function that begins."""
        if not code.co_filename.startswith(str(_ROOT)):
            return
        self.files.add(code.co_filename)
        caller = sys._getframe(1).f_back  # noqa: SLF001
        by_itself = caller is not None and caller.f_code.co_filename == _COORDINATOR
        self.coordinator += code.co_filename == _COORDINATOR and not by_itself


@pytest.mark.usefixtures("setup")
async def test_poll_files(simulator: Simulator, poll: Poll) -> None:
    """Print what a poll passes in which a known tracker reports, and one in which none does."""
    simulator.report(RED, latitude=52.52, longitude=13.40, attributes=EVERYTHING)
    await poll()
    simulator.report(RED, latitude=52.53, longitude=13.41, attributes=EVERYTHING)
    for words in ("a changed poll", "an idle poll"):
        with _watching() as passed:
            await poll()
        print(f"\nfiles of {words}: {len(passed.files)}")  # noqa: T201
        print(f"times {words} enters the coordinator: {passed.coordinator}")  # noqa: T201


@contextmanager
def _watching() -> Iterator[Passed]:
    """Note each function of the integration that begins meanwhile."""
    passed = Passed()
    begins = sys.monitoring.events.PY_START
    sys.monitoring.use_tool_id(_TOOL, "files of a poll")
    sys.monitoring.register_callback(_TOOL, begins, passed.start)
    sys.monitoring.set_events(_TOOL, begins)
    try:
        yield passed
    finally:
        sys.monitoring.free_tool_id(_TOOL)
