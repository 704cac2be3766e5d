"""Follow the README: from an empty Home Assistant to a message on the phone that a bike is offline."""

import asyncio
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
import re

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.frontend import Frontend
from tests.e2e.internet import Internet
from tests.e2e.internet.home_assistant import ConnectedHomeAssistant
from tests.e2e.internet.hosting import Repository
from tests.tools.demo.client import DOMAIN
from tests.tools.demo.config_folder import INTEGRATION, ROOT
from tests.tools.demo.home_assistant import complaints
from tests.tools.demo.phone import MESSAGE
from tests.tools.demo.phone.config_flow import NAME as PHONE

from .fleet import Fleet
from .words import ENGLISH

pytestmark = pytest.mark.asyncio(loop_scope="session")

_BUTTON = re.compile(r"https://my\.home-assistant\.io/redirect/([^)\s]+)\)")
_BIKE = "City bike"
_SECONDS_TO_TELL = 60
# On a slow machine, the frontend sometimes shows a confirmation without text, so open it
# up to five times.
_TRIES = 5


@pytest_asyncio.fixture(loop_scope="session")
async def home_assistant(
    tmp_path: Path, internet: Internet
) -> AsyncIterator[ConnectedHomeAssistant]:
    """Yield a running Home Assistant without the integration."""
    async with ConnectedHomeAssistant(
        tmp_path, internet, with_integration=False
    ) as home_assistant:
        yield home_assistant


async def test_from_nothing_to_a_message(
    frontend: Frontend,
    home_assistant: ConnectedHomeAssistant,
    repository: Repository,
    fleet: Fleet,
) -> None:
    """By the steps of the README, a user installs the release's files, and gets one message about a bike."""
    await install(frontend, repository)
    assert installed(home_assistant.folder) == shipped(repository)

    client = home_assistant.client
    await client.start_flow("mobile_app")
    await sign_in(frontend, fleet)
    await automate(frontend)

    async with client.listen(MESSAGE) as messages:
        await fleet.change(_BIKE, "set_status", status="offline")
        await client.poll()
        async with asyncio.timeout(_SECONDS_TO_TELL):
            message = await anext(messages)
        assert message["data"]["title"] == f"{_BIKE} went offline"
        await client.poll()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(messages), 1)
    names = ("bike_tracker", "homeassistant.components.marketplace")
    assert complaints(home_assistant.log, *names) == []


def buttons(name: str) -> list[str]:
    """Return the paths in Home Assistant that those buttons in the README open whose links contain this name."""
    targets = map(unescape, _BUTTON.findall((ROOT / "README.md").read_text()))
    return [f"/_my_redirect/{target}" for target in targets if name in target]


async def install(frontend: Frontend, repository: Repository) -> None:
    """Open the link of the README's first button, and let the Marketplace install the release.

    The form for an account opens without a restart of Home Assistant.
    """
    [button] = buttons("hacs_repository")
    await frontend.open(button)
    await connect_account(frontend)
    question, available = repository.full_name, f"Version {repository.version}"
    for _ in range(_TRIES):
        await frontend.open(button)
        await expect(frontend.button("Add")).to_be_visible()
        if await frontend.saying(question).count():
            break
    await expect(frontend.saying(question).first).to_be_visible()
    await frontend.button("Add").click()
    await expect(frontend.saying(f"{available} is available")).to_be_visible()
    await frontend.button("Install").click()
    await expect(frontend.saying("This installs Bike Tracker")).to_be_visible()
    await frontend.button("Install").last.click()
    await expect(frontend.field("Server address")).to_be_visible()


async def connect_account(frontend: Frontend) -> None:
    """Accept the warning of the Marketplace, and sign in at the simulated GitHub."""
    await frontend.saying("I understand the risks").click()
    await frontend.button("Continue").click()
    await expect(frontend.text("Connect GitHub")).to_be_visible()
    await frontend.button("Continue").click()
    await expect(frontend.saying("successful")).to_be_visible()
    await frontend.close()


async def sign_in(frontend: Frontend, fleet: Fleet) -> None:
    """Add the account, and expect its bikes."""
    await fleet.add_account(frontend)
    await frontend.button(ENGLISH.finish).click()
    for name in fleet.places:
        await expect(frontend.text(name)).to_be_visible()


async def automate(frontend: Frontend) -> None:
    """Import all blueprints. With one of them, make an automation that sends messages about a bike."""
    for button in buttons("blueprint_import"):
        await frontend.open(button)
        await frontend.import_blueprint()
    await frontend.button("Bike Tracker: tracker offline").click()
    await frontend.choose_bike(_BIKE)
    await frontend.button("Select a device").first.click()
    await frontend.option(PHONE).click()
    await frontend.page.get_by_role("spinbutton").first.fill("0")
    await frontend.save_automation()


def installed(folder: Path) -> dict[str, bytes]:
    """Return the integration's files in the folder of a Home Assistant, by path."""
    root = folder / "custom_components" / DOMAIN
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def shipped(repository: Repository) -> dict[str, bytes]:
    """Return the integration's files in the repository, by path."""
    start = f"custom_components/{INTEGRATION.name}/"
    return {
        path.removeprefix(start): content
        for path, content in repository.files.items()
        if path.startswith(start)
    }
