"""The demo's dashboard."""

import asyncio

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.frontend import Frontend
from tests.tools.demo import HomeAssistantProcess, question
from tests.tools.demo.dashboard import bikes_page
from tests.tools.demo.rider import TO_TRY
from tests.tools.demo.try_it import add_scripts, page, phone

from .dashboard import DASHBOARD
from .fleet import Fleet
from .phone import phone_on_dashboard

pytestmark = pytest.mark.asyncio(loop_scope="session")

_BIKE = "City bike"


@pytest_asyncio.fixture(loop_scope="session")
async def bikes(account: Fleet, home_assistant: HomeAssistantProcess) -> Fleet:
    """Return bikes that all have what a bike may have: an alarm too."""
    client = home_assistant.client
    await client.wait_for_entities(len(account.places))
    await account.change(_BIKE, "report", attributes={"alarm": "vibration"})
    async with asyncio.timeout(60):
        while "event.city_bike_alarm" not in await client.states():
            await client.poll()
            await asyncio.sleep(0.5)
    return account


async def test_demo(
    frontend: Frontend, bikes: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """All that the demo's dashboard names is there, also what it does not show."""
    client = home_assistant.client
    await add_scripts(client, TO_TRY)
    await question.add_script(client)
    async with phone_on_dashboard(client):
        pages = [bikes_page(phone()), page(TO_TRY)]
        await client.call(
            "lovelace/config/save",
            url_path=DASHBOARD.removeprefix("/"),
            config={"views": pages},
        )
        for number, shown in enumerate(("City bike", "Ask: ")):
            await frontend.open(f"{DASHBOARD}/{number}?edit=1")
            await expect(frontend.saying(shown).first).to_be_visible()
            await frontend.settle()
            await expect(frontend.saying("not found")).to_have_count(0)
