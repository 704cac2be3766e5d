"""Dashboards as docs/dashboard.md has them: by clicking, and as code."""

import asyncio
import re

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.frontend import Frontend
from tests.tools.demo import HomeAssistantProcess
from tests.tools.demo.config_folder import ROOT

from .clicks import Clicks
from .dashboard import cards, dashboard
from .fleet import Fleet

pytestmark = pytest.mark.asyncio(loop_scope="session")

_BIKE = "City bike"
_CLICKS = 5
_SOON = 30
_YAML = re.compile(r"```yaml\n(.*?)```", re.DOTALL)


@pytest_asyncio.fixture(loop_scope="session")
async def bikes(account: Fleet, home_assistant: HomeAssistantProcess) -> Fleet:
    """Return bikes that all have what a bike may have: an alarm too."""
    client = home_assistant.client
    await client.wait_for_entities(len(account.places))
    await account.change(_BIKE, "report", attributes={"alarm": "vibration"})
    async with asyncio.timeout(_SOON):
        while "event.city_bike_alarm" not in await client.states():
            await client.poll()
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


async def test_as_code(
    frontend: Frontend, bikes: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """What is pasted into the editor shows all there is, and nothing that is not."""
    documented = _YAML.search((ROOT / "docs" / "dashboard.md").read_text())
    assert documented
    code = documented[1].replace("red_bike", "city_bike").replace("blue", "cargo")
    async with dashboard(home_assistant.client, cards()) as path:
        await frontend.open(path)
        await frontend.button("Edit dashboard").click()
        await frontend.page.locator(".toolbar ha-dropdown").last.click()
        await frontend.saying("Raw configuration editor").click()
        editor = frontend.page.locator("ha-code-editor")
        await editor.click()
        await frontend.page.keyboard.press("Control+A")
        await frontend.page.keyboard.insert_text(code)
        await frontend.button("Save").click()
        await frontend.open(path)
        for text in ("Not guarded", "Vibration", "Last ride", "Kilometers per week"):
            await expect(frontend.saying(text).first).to_be_visible()
        await frontend.open(f"{path}/0?edit=1")
        await expect(frontend.button("Done")).to_be_visible()
        await expect(frontend.saying("not found")).to_have_count(0)
