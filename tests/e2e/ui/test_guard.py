"""The card of a guard: one tap arms it, and another disarms it after a theft."""

import asyncio

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.browser import DESKTOP, Look
from tests.e2e.frontend import Frontend
from tests.tools.demo import HomeAssistantClient, HomeAssistantProcess
from tests.tools.simulator.streets import HOME

from .dashboard import cards, dashboard
from .fleet import Fleet
from .test_looks import check

pytestmark = pytest.mark.asyncio(loop_scope="session")

_AWAY = HOME[0] + 0.005, HOME[1]
_SOON = 60


@pytest_asyncio.fixture(loop_scope="session")
async def guard(account: Fleet, home_assistant: HomeAssistantProcess) -> str:
    """Return the guard of a bike that stands."""
    client = home_assistant.client
    await client.wait_for_entities(len(account.places))
    number = account.serial_numbers["City bike"]
    return await client.entity_id("alarm_control_panel", f"{number}_guard")


@pytest.mark.parametrize(
    "look",
    [DESKTOP, Look("phone", 390, 844, touch=True)],
    ids=lambda look: look.name,
    indirect=True,
)
async def test_card(
    frontend: Frontend,
    account: Fleet,
    home_assistant: HomeAssistantProcess,
    guard: str,
    look: Look,
) -> None:
    """One tap on the tile arms it, the theft shows, and one tap disarms it; also while the service does not answer."""
    client, control = home_assistant.client, account.service.control
    modes = {"type": "alarm-modes", "modes": ["armed_away", "disarmed"]}
    card = {"type": "tile", "entity": guard, "features": [modes]}
    async with dashboard(client, cards(card)) as path:
        await frontend.open(path)
        tile = frontend.page.locator("hui-tile-card")
        await expect(tile).to_contain_text("Not guarded")
        await tile.get_by_label("Away").click()
        await expect(tile).to_contain_text("Guarded")
        await account.ride("City bike", _AWAY, 20)
        await client.poll()
        await expect(tile).to_contain_text("Being moved")
        await check(frontend, look, "guard")
        await tile.get_by_label("Disarm").click()
        await expect(tile).to_contain_text("Not guarded")

        await control.fault("status-503")
        connectivity = guard.replace("_guard", "_connectivity").partition(".")[2]
        await _poll_until(client, f"binary_sensor.{connectivity}", "unavailable")
        await tile.get_by_label("Away").click()
        await expect(tile).to_contain_text("Guarded")
        await tile.get_by_label("Disarm").click()
        await expect(tile).to_contain_text("Not guarded")


async def _poll_until(client: HomeAssistantClient, entity_id: str, state: str) -> None:
    async with asyncio.timeout(_SOON):
        while (await client.states())[entity_id].state != state:
            await client.poll()
            await asyncio.sleep(0.5)
