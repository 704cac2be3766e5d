"""Dashboards with Home Assistant's own cards, as docs/dashboard.md has them, and the demo's."""

import asyncio

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.frontend import Frontend
from tests.tools.demo import HomeAssistantProcess, question
from tests.tools.demo.dashboard import bikes_page
from tests.tools.demo.rider import TO_TRY
from tests.tools.demo.try_it import add_scripts, page, phone

from .clicks import Clicks
from .dashboard import DASHBOARD, cards, dashboard
from .fleet import Fleet
from .phone import phone_on_dashboard

pytestmark = pytest.mark.asyncio(loop_scope="session")

_BIKE = "City bike"
_CLICKS = 5


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


async def test_by_clicking(
    frontend: Frontend, bikes: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """Five clicks for each card; of the kilometers there is a test where some were ridden."""
    clicks = Clicks(frontend.page)
    async with dashboard(home_assistant.client, cards()) as path:
        await frontend.open(path)
        edit = frontend.button("Edit dashboard")
        for entity, suggestion, shown in (
            ("Guard", "Tile - Alarm modes", "Not guarded"),
            ("Ride distance", "Tile", "Ride distance"),
            ("Alarm", "Tile", "Alarm"),
        ):
            await expect(edit).to_be_visible()
            await clicks.begin()
            await edit.click()
            await frontend.button("Add card").first.click()
            search = frontend.page.get_by_placeholder("Search entities")
            await search.fill(f"{_BIKE} {entity}")
            await frontend.text(entity).last.click()
            await frontend.text(suggestion).first.click()
            await frontend.button("Done").click()
            await expect(frontend.page.locator("hui-section")).to_contain_text(shown)
            assert await clicks.count() == _CLICKS


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
