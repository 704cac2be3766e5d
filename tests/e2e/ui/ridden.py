"""Start a Home Assistant that has eight weeks of rides."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e.frontend import Frontend
from tests.e2e.internet import Internet
from tests.e2e.internet.home_assistant import ConnectedHomeAssistant
from tests.tools.demo import EMAIL, PASSWORD, SimulatedService
from tests.tools.demo.furnish import add_rides

_ENTITIES = 12
"""Minimum number of entities of a bike whose set-up is complete."""


@asynccontextmanager
async def ridden(
    folder: Path,
    internet: Internet,
    service: SimulatedService,
    *,
    bikes: int = 3,
    frontend: Path | None = None,
) -> AsyncIterator[ConnectedHomeAssistant]:
    """Run Home Assistant with an account and eight weeks of rides. If given, use the frontend in the folder `frontend`."""
    home_assistant = ConnectedHomeAssistant(folder, internet)
    if frontend:
        assert frontend.exists(), "scripts/test --e2e gets it"
        path = folder / "configuration.yaml"
        setting = f"frontend:\n  development_repo: {frontend}\n"
        path.write_text(path.read_text().replace("frontend:\n", setting))
    async with home_assistant:
        entry_id = await home_assistant.client.add_account(service.url, EMAIL, PASSWORD)
        await home_assistant.client.wait_for_entities(bikes * _ENTITIES)
        await add_rides(home_assistant, entry_id)
        await home_assistant.client.wait_for_entities(bikes * _ENTITIES)
        yield home_assistant


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def ridden_home_assistant(
    tmp_path_factory: pytest.TempPathFactory, internet: Internet
) -> AsyncIterator[ConnectedHomeAssistant]:
    """Yield a Home Assistant with rides. Its log must stay free of errors of the integration."""
    folder = tmp_path_factory.mktemp("ridden")
    async with (
        SimulatedService() as service,
        ridden(folder, internet, service) as home_assistant,
    ):
        yield home_assistant
        assert home_assistant.complaints() == []


async def list_rides(frontend: Frontend) -> None:
    """Show the rides of the previous week as a list in the calendar."""
    await frontend.open("/calendar")
    # Only screen readers see the list button, so click it without a check that it is
    # visible.
    await frontend.page.get_by_label("List (7 days)").click(force=True)
    await frontend.page.get_by_label("Previous").click()
