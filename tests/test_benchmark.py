"""The benchmark's server sends as many bytes as real servers, and docs/benchmarks.md shows the newest run."""

import orjson
import pytest

from .tools.benchmark.page import PAGE, tables
from .tools.benchmark.plan import load
from .tools.benchmark.service import EMAIL as RIDER, Fleet
from .tools.simulator import Simulator
from .tools.tables import tables_of


@pytest.mark.parametrize("everything", [False, True])
async def test_rows_are_as_long_as_real_ones(everything: bool) -> None:
    """The rows of the fleet are as long as Traccar's: about 450 bytes for a device, and 800 for a position."""
    async with Simulator() as simulator:
        fleet = Fleet(simulator, 3, everything=everything)
        for _ in range(2):
            for row in simulator.listed("devices", RIDER):
                assert 430 <= len(orjson.dumps(row)) <= 470
            for row in simulator.listed("positions", RIDER):
                assert 730 <= len(orjson.dumps(row)) <= 890
            fleet.report(3)


def test_page() -> None:
    """The page has exactly the tables that follow from the stored values of the newest run."""
    assert tables_of(PAGE) == tables(*load())
