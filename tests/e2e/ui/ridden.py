"""A Home Assistant whose bikes have been ridden for weeks."""

from collections.abc import AsyncIterator

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.frontend import Frontend
from tests.e2e.internet import Internet
from tests.e2e.internet.home_assistant import ConnectedHomeAssistant
from tests.tools.demo import EMAIL, PASSWORD, SimulatorProcess
from tests.tools.demo.kilometres import add_kilometres
from tests.tools.demo.past_rides import add_rides
from tests.tools.demo.town import settle

from .dashboard import DASHBOARD, cards, dashboard


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def ridden_home_assistant(
    tmp_path_factory: pytest.TempPathFactory, internet: Internet
) -> AsyncIterator[ConnectedHomeAssistant]:
    """Return a Home Assistant with three bikes, their rides and kilometres."""
    folder = tmp_path_factory.mktemp("ridden")
    async with (
        SimulatorProcess() as service,
        ConnectedHomeAssistant(folder, internet) as home_assistant,
    ):
        await settle(home_assistant.client)
        entry_id = await home_assistant.client.add_account(service.url, EMAIL, PASSWORD)
        await home_assistant.client.wait_for_entities(36)
        await add_rides(home_assistant, entry_id)
        await home_assistant.client.wait_for_entities(36)
        await add_kilometres(home_assistant.client)
        # An empty one, as somebody has who never made one.
        async with dashboard(home_assistant.client, cards()):
            yield home_assistant
        assert home_assistant.complaints() == []


async def search_for_kilometres(frontend: Frontend) -> None:
    """Edit the dashboard, and see what is offered for the total distance of a bike."""
    await frontend.open(f"{DASHBOARD}/0")
    await frontend.button("Edit dashboard").click()
    await frontend.button("Add card").first.click()
    await expect(frontend.text("Add to dashboard")).to_be_visible()
    search = frontend.page.get_by_placeholder("Search entities")
    await search.fill("City bike Total distance")
    await frontend.text("Total distance").last.click()


async def list_rides(frontend: Frontend) -> None:
    """List the rides of the week before this one."""
    await frontend.open("/calendar")
    # What is clicked is a button for those who do not see.
    await frontend.page.get_by_label("List (7 days)").click(force=True)
    await frontend.page.get_by_label("Previous").click()
