"""A guarded bike: armed with one tap, triggered before one's eyes, and told of by blueprints."""

import asyncio
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.browser import DESKTOP, Look
from tests.e2e.frontend import Frontend
from tests.tools.demo import HomeAssistantClient, HomeAssistantProcess
from tests.tools.simulator.streets import HOME

from .dashboard import cards, dashboard
from .fleet import Fleet
from .readme import button
from .test_looks import check

pytestmark = pytest.mark.asyncio(loop_scope="session")

_AWAY = HOME[0] + 0.005, HOME[1]
_SOON = 30
_NOON = 12


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


async def test_message(
    frontend: Frontend,
    account: Fleet,
    home_assistant: HomeAssistantProcess,
    guard: str,
) -> None:
    """The blueprint from the README tells why a guarded bike is moved; disarmed, there is nothing to tell."""
    client = home_assistant.client
    await _make(frontend)
    await frontend.save_automation()

    await client.action("alarm_control_panel.alarm_arm_away", entity_id=guard)
    await frontend.page.get_by_role("button", name="Notifications").first.click()
    await account.ride("City bike", _AWAY, 20)
    await client.poll()
    told = frontend.saying("m from where it stood")
    await expect(told).to_be_visible()
    await client.action("alarm_control_panel.alarm_disarm", entity_id=guard)
    await expect(told).to_have_count(0)


async def test_at_night(frontend: Frontend, guard: str) -> None:
    """It arms the guard as the night begins."""
    await _make(frontend)
    begins = datetime.now(ZoneInfo("Europe/Berlin")) + timedelta(seconds=_SOON)
    evening = frontend.page.locator("ha-selector-time").first
    for label, number in {
        "hh": f"{begins:%I}",
        "mm": f"{begins:%M}",
        "ss": f"{begins:%S}",
    }.items():
        await evening.get_by_role("spinbutton", name=label).fill(number)
        await frontend.page.keyboard.press("Tab")
    if begins.hour < _NOON:
        await evening.get_by_role("button", name="PM").click()
        await frontend.page.get_by_role("menuitem", name="AM").click()
    await frontend.save_automation()

    await frontend.open_device("City bike")
    await expect(frontend.entity("Guard")).to_contain_text(
        "Guarded", timeout=1_000 * 2 * _SOON
    )


async def _make(frontend: Frontend) -> None:
    """Import the blueprint with the README's button, and give the automation a bike."""
    await frontend.open(button("guard_bikes.yaml"))
    await frontend.import_blueprint()
    await frontend.button("Bike Tracker: guard bikes").click()
    await frontend.choose_bike("City bike")
