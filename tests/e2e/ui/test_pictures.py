"""Make the README's pictures: screenshots of the newest Home Assistant."""

import os
from pathlib import Path

from PIL import Image
from playwright.async_api import BrowserContext, expect
import pytest
import pytest_asyncio

from tests.e2e.frontend import Frontend
from tests.e2e.internet.home_assistant import ConnectedHomeAssistant
from tests.tools.demo import HomeAssistantProcess, SimulatedService
from tests.tools.demo.client import DOMAIN
from tests.tools.demo.furnish import add_night_guard
from tests.tools.simulator.streets import HOME, STREETS

from .cards import CONFIG, Cards
from .conftest import RESULTS
from .dashboard import PATH, cards, dashboard as have_dashboard, phone_on_dashboard
from .fleet import Fleet
from .layout import cut_off
from .ridden import list_rides, ridden_home_assistant

__all__ = ["ridden_home_assistant"]

pytestmark = pytest.mark.asyncio(loop_scope="session")

_FOLDER = Path(os.environ.get("PICTURES_FOLDER") or RESULTS / "pictures")
_LARGEST_FILE = 200_000

_START, _AWAY = STREETS["Mönchhofstraße"][0][0], STREETS["Mönchhofstraße"][1][-1]


async def take(
    frontend: Frontend, name: str, height: int, width: int = 1200, part: str = "body"
) -> None:
    """Save a screenshot of a part of the page in a window of this size. No text may be cut off."""
    await frontend.page.set_viewport_size({"width": width, "height": height})
    await frontend.page.mouse.move(0, 0)
    await frontend.settle()
    assert await cut_off(frontend.page) == []
    path = _FOLDER / f"{name}.png"
    await frontend.page.locator(part).first.screenshot(path=path, animations="disabled")
    with Image.open(path) as picture:
        picture.convert("RGB").save(path, optimize=True)
    assert path.stat().st_size < _LARGEST_FILE


@pytest_asyncio.fixture(loop_scope="session")
async def fleet(service: SimulatedService) -> Fleet:
    """Return the bikes in the README's pictures: the red bike stays at home, and the blue bike is moved."""
    fleet = Fleet(service, {"Red bike": HOME, "Blue bike": _START})
    await fleet.create()
    return fleet


async def test_guard(
    frontend: Frontend, account: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """Make pictures of the message and of the card about a guarded bike that is stolen."""
    client = home_assistant.client
    [entry] = await client.call("config_entries/get", domain=DOMAIN)
    guards = {
        name: await client.entity_id("alarm_control_panel", f"{number}_guard")
        for name, number in account.serial_numbers.items()
    }
    for entity_id in guards.values():
        await client.action("alarm_control_panel.alarm_arm_away", entity_id=entity_id)
    async with phone_on_dashboard(home_assistant):
        await add_night_guard(client, entry["entry_id"])
        await account.ride("Blue bike", _AWAY, 18, "Mönchhofstraße")
        await client.poll()
        await frontend.open(PATH)
        await expect(frontend.saying("Blue bike is being moved")).to_be_visible()
        await take(frontend, "message", 500, 390, "hui-section")
    card = {"type": "custom:bike-tracker-bikes-card"}
    async with have_dashboard(home_assistant, cards(card)):
        await frontend.open(PATH)
        await expect(frontend.saying("Being moved").first).to_be_visible()
        await expect(frontend.page.locator("ha-map")).to_be_visible()
        await take(frontend, "guard", 620)


async def test_rides(
    context: BrowserContext, ridden_home_assistant: ConnectedHomeAssistant
) -> None:
    """Make pictures of a week in the calendar, and of the dashboard with a ride on a desktop and a phone."""
    frontend = Frontend(await context.new_page(), ridden_home_assistant.url)
    await list_rides(frontend)
    await take(frontend, "calendar", 600)
    shown = Cards(frontend)
    async with have_dashboard(ridden_home_assistant, CONFIG):
        await frontend.open(PATH)
        await shown.ride(1).click()
        await shown.expect_route()
        await frontend.page.evaluate("() => scrollTo(0, 0)")
        await take(frontend, "dashboard", 900)
        await take(frontend, "dashboard-phone", 844, 390)


async def test_triggers(
    frontend: Frontend, account: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """Make a picture of the triggers that the editor offers for an area."""
    client = home_assistant.client
    area = await client.call("config/area_registry/create", name="Shed")
    devices = await client.devices()
    for number in account.serial_numbers.values():
        await client.call(
            "config/device_registry/update",
            device_id=devices[number]["id"],
            area_id=area["area_id"],
        )
    await frontend.open("/config/automation/edit/new")
    await frontend.button("Add trigger").click()
    await frontend.page.get_by_role("treeitem", name="Shed", exact=True).click()
    await frontend.saying(
        "Guard of bike tracker triggered"
    ).scroll_into_view_if_needed()
    await expect(frontend.saying("Bike tracker went offline")).to_be_visible()
    await take(frontend, "triggers", 920)
    await client.call("config/area_registry/delete", area_id=area["area_id"])
