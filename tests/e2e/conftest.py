"""Fixtures: a simulated service, and a Home Assistant with the integration but without an account."""

from collections.abc import AsyncIterator
from pathlib import Path
import shutil

import pytest

from tests.tools.demo import HomeAssistantProcess, SimulatedService

from . import RESULTS

_OWN_HOME_ASSISTANT = (
    "test_card_states",
    "test_cards",
    "test_first_hour",
    "first_paint",
    "test_one_bike",
    "test_rides",
)


def pytest_configure(config: pytest.Config) -> None:
    """Delete the results of earlier runs. Only pytest's main process does this, not its workers."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(RESULTS, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run each file in a single worker, and all browser files that share a Home Assistant in the same worker."""
    for item in items:
        shares = "ui" in item.path.parts and item.path.stem not in _OWN_HOME_ASSISTANT
        group = "browser" if shares else item.path.stem
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture
async def simulator() -> AsyncIterator[SimulatedService]:
    """Yield a service with three bikes that stand. The first bike is at home."""
    async with SimulatedService() as simulator:
        yield simulator


@pytest.fixture
async def home_assistant(tmp_path: Path) -> AsyncIterator[HomeAssistantProcess]:
    """Yield a running Home Assistant. At the end, print its log, which pytest shows if the test fails."""
    async with HomeAssistantProcess(tmp_path) as home_assistant:
        yield home_assistant
    print(home_assistant.log)  # noqa: T201
