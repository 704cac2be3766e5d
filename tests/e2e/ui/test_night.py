"""A night: from the page of the integration to a message on the phone about a bike that is moved."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
import re

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.frontend import Frontend
from tests.tools.demo import HomeAssistantProcess
from tests.tools.simulator.streets import HOME

from .clicks import Clicks
from .fleet import Fleet
from .phone import phone_on_dashboard

pytestmark = pytest.mark.asyncio(loop_scope="session")

_BIKE = "City bike"
_AWAY = HOME[0] + 0.005, HOME[1]
_STREET = "Roonstraße"
_MOST_CLICKS = 3
_MIDNIGHT = 1


@pytest_asyncio.fixture(loop_scope="session")
async def night(home_assistant: HomeAssistantProcess) -> AsyncIterator[None]:
    """Move the house to a time zone in which it is night."""
    ahead = (_MIDNIGHT - datetime.now(UTC).hour + 12) % 24 - 12
    # The names of these zones have the opposite sign.
    zone = f"Etc/GMT{-ahead:+d}"
    await home_assistant.client.call("config/core/update", time_zone=zone)
    yield
    await home_assistant.client.call("config/core/update", time_zone="Europe/Berlin")


@pytest.mark.usefixtures("night")
async def test_a_night(
    frontend: Frontend, account: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """Three clicks guard all bikes at night; a message says which bike is moved and where it is."""
    client, clicks = home_assistant.client, Clicks(frontend.page)
    await client.wait_for_entities(len(account.places))
    number = account.serial_numbers[_BIKE]
    guard = await client.entity_id("alarm_control_panel", f"{number}_guard")
    tile = {
        "type": "tile",
        "entity": guard,
        "features": [{"type": "alarm-modes", "modes": ["armed_away", "disarmed"]}],
    }
    async with phone_on_dashboard(client, tile) as path:
        await frontend.open_integration()
        await clicks.begin()
        await frontend.button("Add night guard").click()
        await expect(frontend.saying("The bikes to guard")).to_be_visible()
        await frontend.button("Submit").click()
        await frontend.button("Finish").click()
        await client.wait_for_state(guard, "armed_away")
        assert await clicks.count() <= _MOST_CLICKS

        await account.ride(_BIKE, _AWAY, 20, _STREET)
        await client.poll()
        await frontend.open(path)
        message = frontend.page.locator("hui-markdown-card")
        await expect(message).to_contain_text(
            re.compile(rf"{_BIKE} .*5\d\d m from where it stood.*{_STREET}", re.DOTALL)
        )

        tiles = frontend.page.locator("hui-tile-card")
        await tiles.filter(has_text="It's me").click()
        await expect(message).to_contain_text("No message")
        await client.wait_for_state(guard, "disarmed")
        await expect(tiles.filter(has_text="Not guarded")).to_be_visible()
