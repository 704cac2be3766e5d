"""What is measured is like what people have: rows as long as real ones, and the same entities."""

import orjson
import pytest

from custom_components.bike_tracker import (
    binary_sensor as our_binary_sensor,
    sensor as our_sensor,
)
from custom_components.bike_tracker.entity import always

from .tools.benchmark import plan
from .tools.benchmark.measured import load
from .tools.benchmark.report import DATA, tables
from .tools.benchmark.reports import TITLES as REPORT_TITLES, measure
from .tools.benchmark.results import Results
from .tools.benchmark.service.fleet import EMAIL as RIDER, Fleet
from .tools.benchmark.usual_way import binary_sensor, sensor
from .tools.simulator import Simulator


@pytest.mark.parametrize("full", [False, True])
async def test_rows_are_as_long_as_real_ones(*, full: bool) -> None:
    """What costs by the byte is measured with as many bytes as Traccar sends, 450 and 780."""
    async with Simulator() as simulator:
        fleet = Fleet(simulator, 3, full=full)
        for _ in range(2):
            for row in simulator.listed("devices", RIDER):
                assert 430 <= len(orjson.dumps(row)) <= 470
            for row in simulator.listed("positions", RIDER):
                assert 730 <= len(orjson.dumps(row)) <= 830
            fleet.commands["report"](3)


def test_reports() -> None:
    """Each has a figure."""
    assert measure(50).keys() == REPORT_TITLES.keys()


def test_same_entities() -> None:
    """The usual way has no entity that this integration has not, so that both are alike."""
    ours = {
        (kind.key, kind.entity_registry_enabled_default, kind.reported_fn is not always)
        for kind in (*our_binary_sensor.DESCRIPTIONS, *our_sensor.DESCRIPTIONS)
    }
    usual = {
        (kind.key, kind.entity_registry_enabled_default, kind.only_if_reported)
        for kind in (*binary_sensor.DESCRIPTIONS, *sensor.DESCRIPTIONS)
    }
    assert usual <= ours


def test_tables() -> None:
    """What stands beside the page is what was measured last."""
    results = Results()
    for part in plan.PARTS:
        load(part, results)
    for name, text in tables(results).items():
        assert (DATA / f"benchmark-{name}.csv").read_text() == text
