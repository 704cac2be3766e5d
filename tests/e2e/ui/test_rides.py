"""How far this week, where last night: as clicks, without any code."""

from datetime import datetime, timedelta
import re

from playwright.async_api import expect
import pytest

from tests.e2e.browser import Look
from tests.e2e.frontend import Frontend
from tests.e2e.internet.home_assistant import ConnectedHomeAssistant

from .dashboard import DASHBOARD
from .ridden import list_rides, ridden_home_assistant, search_for_kilometres
from .test_looks import IN_EVERY_LOOK, check

__all__ = ["ridden_home_assistant"]

pytestmark = pytest.mark.asyncio(loop_scope="session")

_RIDE = re.compile(r"\d[.\d]* km")


@pytest.fixture
def home_assistant(
    ridden_home_assistant: ConnectedHomeAssistant,
) -> ConnectedHomeAssistant:
    """Return one whose bikes have been ridden."""
    return ridden_home_assistant


async def test_kilometres_of_this_week(frontend: Frontend) -> None:
    """Two clicks on a dashboard that is being edited: the bike's total distance, and the graph that is offered for it."""
    await search_for_kilometres(frontend)
    await frontend.saying("Statistics graph - Last 7 days").click()
    card = frontend.page.locator("hui-statistics-graph-card")
    await expect(card.locator("canvas").first).to_be_visible()
    await expect(card).to_contain_text("City bike")
    await expect(card).not_to_contain_text("No statistics found")
    await frontend.button("Done").click()


async def test_all_of_a_bike(frontend: Frontend) -> None:
    """The page of a bike offers to put all of it on a dashboard."""
    await frontend.open_device("Gravel bike")
    await frontend.button("Add to…").click()
    await frontend.saying("Add to a dashboard").click()
    await frontend.button("Next").click()
    await expect(frontend.text("Preview")).to_be_visible()
    await frontend.button("Save").click()
    await expect(frontend.page.get_by_role("dialog")).to_have_count(0)
    await frontend.open(f"{DASHBOARD}/0")
    await expect(frontend.text("Gravel bike").first).to_be_visible()
    await expect(frontend.text("Connectivity")).to_be_visible()


async def test_where_it_was_last_night(frontend: Frontend) -> None:
    """The map draws the way of as many hours as one enters."""
    await frontend.open(f"{DASHBOARD}/0?edit=1")
    await frontend.button("Add card").first.click()
    await frontend.page.get_by_role("tab", name="By card").click()
    # What is clicked is a card of which a part is covered by nothing that one sees.
    await frontend.text("Map").last.click(force=True)
    await frontend.button("Appearance").click()
    await expect(frontend.saying("Hours to show")).to_be_visible()


@IN_EVERY_LOOK
async def test_calendar(frontend: Frontend, look: Look) -> None:
    """The rides of a week can be read, and opened."""
    page = frontend.page
    await list_rides(frontend)
    ride = page.locator("ha-full-calendar").get_by_text(_RIDE).first
    await expect(ride).to_be_visible()
    await check(frontend, look, "calendar")
    await ride.click()
    await expect(page.get_by_role("dialog", name=_RIDE)).to_be_visible()
    await expect(frontend.saying("km/h")).to_be_visible()
    await check(frontend, look, "ride")


_PERFORM = "/_my_redirect/developer_call_service?service=bike_tracker."


async def test_get_rides(frontend: Frontend) -> None:
    """The action answers in the tools, of a bike that one chooses there."""
    await frontend.open(f"{_PERFORM}get_rides")
    await frontend.choose_bike("City bike")
    await frontend.button("Perform action").click()
    await expect(frontend.text("Response")).to_be_visible()
    await expect(frontend.text("started_at").first).to_be_visible()


async def test_get_track(frontend: Frontend) -> None:
    """So does the other one, of the times that one enters."""
    page, now = frontend.page, datetime.now()
    await frontend.open(f"{_PERFORM}get_track")
    await frontend.button("Select a device").click()
    await frontend.option("City bike").first.click()
    # What is clicked is a button for those who do not see.
    await frontend.saying("YAML mode").click(force=True)
    editor = page.locator(".cm-content").first
    entered = await editor.inner_text()
    for name, hours in (("start_date_time", -6), ("end_date_time", 6)):
        time = (now + timedelta(hours=hours)).isoformat(" ", "seconds")
        entered = entered.replace("data:", f'data:\n  {name}: "{time}"')
    await editor.fill(entered)
    await frontend.button("Perform action").click()
    await expect(frontend.text("points").first).to_be_visible()
    await expect(frontend.text("latitude").first).to_be_visible()
