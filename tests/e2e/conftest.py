"""A simulated service, and a Home Assistant with the integration. No account is set up."""

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
    """Delete the results of earlier runs, once for all workers."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(RESULTS, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all browser tests in the same worker, because they share a Home Assistant."""
    for item in items:
        shares = "ui" in item.path.parts and item.path.stem not in _OWN_HOME_ASSISTANT
        group = "browser" if shares else item.path.stem
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture
async def simulator() -> AsyncIterator[SimulatedService]:
    """Return a service with three parked trackers. The first one is at home."""
    async with SimulatedService() as simulator:
        yield simulator


@pytest.fixture
async def home_assistant(tmp_path: Path) -> AsyncIterator[HomeAssistantProcess]:
    """Return a running Home Assistant. If the test fails, its log is printed."""
    async with HomeAssistantProcess(tmp_path) as home_assistant:
        yield home_assistant
    print(home_assistant.log)  # noqa: T201
