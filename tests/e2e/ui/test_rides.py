"""Tests of rides in the calendar, and on the page where users try actions."""

import re

from playwright.async_api import expect
import pytest

from tests.e2e.browser import Look
from tests.e2e.frontend import Frontend
from tests.e2e.internet.home_assistant import ConnectedHomeAssistant

from .ridden import list_rides, ridden_home_assistant
from .test_looks import IN_EVERY_LOOK, check

__all__ = ["ridden_home_assistant"]

pytestmark = pytest.mark.asyncio(loop_scope="session")

_RIDE = re.compile(r"\d[.\d]* km")


@pytest.fixture
def home_assistant(
    ridden_home_assistant: ConnectedHomeAssistant,
) -> ConnectedHomeAssistant:
    """Return the Home Assistant with rides, which the browser opens."""
    return ridden_home_assistant


@IN_EVERY_LOOK
async def test_calendar(frontend: Frontend, look: Look) -> None:
    """The calendar shows the rides of a week readably. A click on a ride shows its details."""
    page = frontend.page
    await list_rides(frontend)
    ride = page.locator("ha-full-calendar").get_by_text(_RIDE).first
    await expect(ride).to_be_visible()
    await check(frontend, look, "calendar")
    await ride.click()
    await expect(page.get_by_role("dialog", name=_RIDE)).to_be_visible()
    await expect(frontend.saying("km/h")).to_be_visible()
    await check(frontend, look, "ride")


async def test_get_rides(frontend: Frontend) -> None:
    """The page where users try actions shows the rides of the chosen bike."""
    await frontend.open(
        "/_my_redirect/developer_call_service?service=bike_tracker.get_rides"
    )
    await frontend.choose_bike("City bike")
    await frontend.button("Perform action").click()
    await expect(frontend.text("Response")).to_be_visible()
    await expect(frontend.text("started_at").first).to_be_visible()
