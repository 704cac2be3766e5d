"""Test of a night guard, from the set-up of its account to the messages on a phone about a moved bike."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
import re

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.frontend import Clicks, Frontend
from tests.tools.demo import HomeAssistantClient, HomeAssistantProcess
from tests.tools.simulator.streets import HOME

from .dashboard import PATH, phone_on_dashboard
from .fleet import Fleet
from .words import ENGLISH

pytestmark = pytest.mark.asyncio(loop_scope="session")

_BIKE = "City bike"
_STREET = "Roonstraße"
_MOST_CLICKS = 4
_MIDNIGHT = 1
_CARD = {"type": "custom:bike-tracker-bikes-card"}


@pytest_asyncio.fixture(loop_scope="session")
async def night(home_assistant: HomeAssistantProcess) -> AsyncIterator[None]:
    """During the test, give the house a time zone in which the current time is between one and two at night."""
    ahead = (_MIDNIGHT - datetime.now(UTC).hour + 12) % 24 - 12
    # In the names of these zones, the sign is reversed: *Etc/GMT-2* is ahead of UTC.
    zone = f"Etc/GMT{-ahead:+d}"
    await home_assistant.client.call("config/core/update", time_zone=zone)
    yield
    await home_assistant.client.call("config/core/update", time_zone="Europe/Berlin")


@pytest.mark.usefixtures("night")
async def test_a_night(
    frontend: Frontend, fleet: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """At most four clicks add a night guard. Messages about a theft then follow until the owner taps *It's me*."""
    client, clicks = home_assistant.client, Clicks(frontend.page)
    async with phone_on_dashboard(home_assistant, _CARD):
        await fleet.add_account(frontend)
        await expect(frontend.button(ENGLISH.finish)).to_be_visible()
        await clicks.begin()
        await frontend.button(ENGLISH.finish).click()
        await frontend.button("Add night guard").click()
        await expect(frontend.saying("The bikes to guard")).to_be_visible()
        await frontend.button("Submit").click()
        await frontend.button("Finish").click()
        await client.wait_for_entities(len(fleet.places))
        number = fleet.serial_numbers[_BIKE]
        guard = await client.entity_id("alarm_control_panel", f"{number}_guard")
        await client.wait_for_state(guard, "armed_away")
        assert await clicks.count() <= _MOST_CLICKS

        vibration = {"latitude": HOME[0], "attributes": {"alarm": "vibration"}}
        await fleet.change(_BIKE, "report", motion=False, **vibration)
        await client.poll()
        await frontend.open(PATH)
        message = frontend.page.locator("hui-markdown-card")
        await expect(message).to_contain_text(f"{_BIKE}: Vibration")
        card = frontend.page.locator("bike-tracker-bikes-card")
        await expect(card.get_by_role("alert")).to_have_text(f"{_BIKE}: Alarm")
        await expect(card.get_by_role("button", name="It's me")).to_have_count(2)

        await _ride(fleet, client, 0.005)
        await expect(message).to_contain_text(
            re.compile(
                rf"{_BIKE} is being moved.*5\d\d m from where.*{_STREET}", re.DOTALL
            )
        )

        tiles = frontend.page.locator("hui-tile-card")
        await tiles.filter(has_text="Guard again").click()
        await expect(message).to_contain_text("It will be guarded again once")
        await client.wait_for_state(guard, "triggered")
        await _ride(fleet, client, 0.01)
        await client.wait_for_state(guard, "triggered")
        await tiles.filter(has_text="It's me").click()
        await expect(message).to_contain_text("No message")
        await client.wait_for_state(guard, "disarmed")


async def _ride(fleet: Fleet, client: HomeAssistantClient, north: float) -> None:
    await fleet.ride(_BIKE, (HOME[0] + north, HOME[1]), 20, _STREET)
    await client.poll()
