"""What is measured is like what people have: rows as long as real ones."""

import orjson
import pytest

from .tools.benchmark.page import PAGE, goals
from .tools.benchmark.plan import PARTS
from .tools.benchmark.results import Results, load
from .tools.benchmark.service.fleet import EMAIL as RIDER, Fleet
from .tools.simulator import Simulator


@pytest.mark.parametrize("everything", [False, True])
async def test_rows_are_as_long_as_real_ones(*, everything: bool) -> None:
    """What costs by the byte is measured with as many bytes as Traccar sends, 450 and some 800."""
    async with Simulator() as simulator:
        fleet = Fleet(simulator, 3, everything=everything)
        for _ in range(2):
            for row in simulator.listed("devices", RIDER):
                assert 430 <= len(orjson.dumps(row)) <= 470
            for row in simulator.listed("positions", RIDER):
                assert 730 <= len(orjson.dumps(row)) <= 890
            fleet.commands["report"](3)


def test_page() -> None:
    """The page has a verdict on each goal of what was measured last."""
    page = PAGE.read_text()
    findings = [finding for part in PARTS for finding in load(part)[1]]
    for goal in goals(Results(findings)):
        assert f"| {goal.work} | {goal.promise} |" in page
    for part in PARTS:
        assert load(part)[0] in page
