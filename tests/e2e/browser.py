"""Start the Chromium that is installed on this machine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
import shutil
from typing import Literal

from playwright.async_api import Browser, BrowserContext, async_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-sync",
    # Draw the map in software if the machine has no graphics card.
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--no-sandbox",
)

MILLISECONDS = 60_000
"""Timeout of each wait for the page or an element. It is long because the machine may be busy."""


@dataclass(frozen=True, slots=True)
class Look:
    """A user's screen (its size in pixels, and whether it is a touch screen) and preferred colors."""

    name: str
    width: int = 1200
    height: int = 800
    colours: Literal["light", "dark"] = "light"
    touch: bool = False


DESKTOP = Look("desktop")
PHONE = Look("phone", 390, 844, touch=True)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Yield a Chromium that runs without a window. At the end, stop it."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    assert program, "there is no Chromium on this machine"
    async with (
        async_playwright() as playwright,
        await playwright.chromium.launch(
            executable_path=program, args=_ARGUMENTS
        ) as browser,
    ):
        yield browser


async def new_context(browser: Browser, look: Look) -> BrowserContext:
    """Return a new browser session, without stored data, for a user with this screen and these colors."""
    context = await browser.new_context(
        viewport={"width": look.width, "height": look.height},
        color_scheme=look.colours,
        has_touch=look.touch,
        is_mobile=look.touch,
        locale="en-US",
        reduced_motion="reduce",
        timezone_id="Europe/Berlin",
        # A service worker would answer requests of the page, and the tests would not
        # see these requests.
        service_workers="block",
    )
    context.set_default_timeout(MILLISECONDS)
    return context
