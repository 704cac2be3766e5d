"""Tests of pages on a desktop and on a phone, with the light and the dark theme."""

from playwright.async_api import expect
import pytest

from tests.e2e import RESULTS
from tests.e2e.browser import Look
from tests.e2e.frontend import Frontend
from tests.tools.demo import EMAIL, HomeAssistantProcess
from tests.tools.demo.dashboard import bikes_page

from .dashboard import PATH, dashboard
from .fleet import Fleet
from .layout import cut_off, too_wide

IN_EVERY_LOOK = pytest.mark.parametrize(
    "look",
    [
        Look("desktop-light"),
        Look("desktop-dark", colours="dark"),
        Look("phone-light", 390, 844, touch=True),
        Look("phone-dark", 390, 844, colours="dark", touch=True),
    ],
    ids=lambda look: look.name,
    indirect=True,
)
pytestmark = [pytest.mark.asyncio(loop_scope="session"), IN_EVERY_LOOK]

_SHADES = {"light": range(200, 256), "dark": range(60)}
"""Expected brightness of the background (0 to 255)."""


async def check(frontend: Frontend, look: Look, name: str) -> None:
    """Keep a screenshot. No text may be cut off, the page must fit the screen, and the background must fit the theme."""
    page = frontend.page
    await frontend.settle()
    path = RESULTS / "looks" / f"{name}-{look.name}.png"
    await page.screenshot(path=path, animations="disabled")
    assert await cut_off(page) == []
    assert await too_wide(page) == 0
    red, green, blue = await page.evaluate(
        "() => getComputedStyle(document.documentElement).backgroundColor.match(/[0-9]+/g).map(Number)"
    )
    assert (red + green + blue) // 3 in _SHADES[look.colours]


async def test_add_account(frontend: Frontend, fleet: Fleet, look: Look) -> None:
    """The form for an account is readable, also while it shows an error."""
    await frontend.open("/_my_redirect/config_flow_start?domain=bike_tracker")
    await frontend.button("OK").click()
    await expect(frontend.field("Password")).to_be_visible()
    await check(frontend, look, "form")
    await frontend.fill_in(
        {"Server address": fleet.url, "Email": EMAIL, "Password": "wrong"}
    )
    await frontend.button("Submit").click()
    await expect(frontend.saying("The server did not accept")).to_be_visible()
    await check(frontend, look, "error")


async def test_device_page(frontend: Frontend, account: Fleet, look: Look) -> None:
    """The device page of a tracker is readable."""
    await frontend.open_device("City bike")
    await expect(frontend.entity("Connectivity")).to_be_visible()
    await check(frontend, look, "device")


async def test_demo(
    frontend: Frontend, account: Fleet, home_assistant: HomeAssistantProcess, look: Look
) -> None:
    """The demo's dashboard shows the bikes and is readable."""
    await home_assistant.client.wait_for_entities(len(account.places))
    async with dashboard(home_assistant, {"views": [bikes_page()]}):
        await frontend.open(PATH)
        await expect(frontend.text("City bike").first).to_be_visible()
        await check(frontend, look, "demo")
        await expect(frontend.saying("not found")).to_have_count(0)
