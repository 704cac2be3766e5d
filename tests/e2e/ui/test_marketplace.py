"""From the README's first button to "Add integration", with Home Assistant's own Marketplace."""

from collections.abc import AsyncIterator
from html import unescape
import logging
from pathlib import Path
import re

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.frontend import Frontend
from tests.e2e.internet import Internet
from tests.e2e.internet.home_assistant import ConnectedHomeAssistant
from tests.e2e.internet.hosting import Repository
from tests.live.client import DOMAIN
from tests.live.config_folder import INTEGRATION, ROOT

from .words import ENGLISH

pytestmark = pytest.mark.asyncio(loop_scope="session")

_BUTTON = re.compile(
    r"https://my\.home-assistant\.io/redirect/(hacs_repository/\S+?)\)"
)


@pytest_asyncio.fixture(loop_scope="session")
async def home_assistant(
    tmp_path: Path, internet: Internet
) -> AsyncIterator[ConnectedHomeAssistant]:
    """Return a Home Assistant without the integration."""
    async with ConnectedHomeAssistant(
        tmp_path, internet, with_integration=False
    ) as home_assistant:
        yield home_assistant


@pytest.fixture
def button() -> str:
    """Return where the README's button leads, in one's own Home Assistant."""
    target = _BUTTON.search((ROOT / "README.md").read_text())
    assert target
    return f"/_my_redirect/{unescape(target[1])}"


async def test_installation(
    frontend: Frontend,
    home_assistant: ConnectedHomeAssistant,
    repository: Repository,
    button: str,
) -> None:
    """The release is found fit, is on the disk file by file, and is offered after a restart."""
    await frontend.open(button)
    await connect_account(frontend)
    await frontend.open(button)
    await expect(frontend.saying(repository.full_name).first).to_be_visible()
    await frontend.button("Add").click()
    await expect(
        frontend.saying(f"Version {repository.version} is available")
    ).to_be_visible()
    await frontend.button("Install").click()
    await expect(frontend.saying("This installs Bike Tracker")).to_be_visible()
    await frontend.button("Install").last.click()
    # Home Assistant goes on to the account without being started again.
    await expect(frontend.field("Server address")).to_be_visible()
    assert installed(home_assistant.folder) == shipped(repository)

    await home_assistant.stop()
    await home_assistant.start()
    await frontend.open("/config/integrations/dashboard")
    await frontend.button(ENGLISH.add).click()
    await frontend.page.get_by_placeholder(ENGLISH.search).fill("bike")
    await frontend.button("Bike Tracker").click()
    await expect(frontend.field("Server address")).to_be_visible()
    assert refused(home_assistant) == []


async def connect_account(frontend: Frontend) -> None:
    """Agree to what the Marketplace warns of, and sign in at the hosting service."""
    await frontend.saying("I understand the risks").click()
    await frontend.button("Continue").click()
    await expect(frontend.text("Connect GitHub")).to_be_visible()
    await frontend.button("Continue").click()
    await expect(frontend.saying("successful")).to_be_visible()
    await frontend.close()


def installed(folder: Path) -> dict[str, bytes]:
    """Return the files of the integration in a Home Assistant's folder."""
    root = folder / "custom_components" / DOMAIN
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def shipped(repository: Repository) -> dict[str, bytes]:
    """Return the files of the integration in the repository."""
    start = f"custom_components/{INTEGRATION.name}/"
    return {
        path.removeprefix(start): content
        for path, content in repository.files.items()
        if path.startswith(start)
    }


def refused(home_assistant: ConnectedHomeAssistant) -> list[str]:
    """Return what the Marketplace or the loader did not like."""
    return [
        record.text
        for record in home_assistant.records()
        if record.level >= logging.WARNING
        and record.logger.startswith("homeassistant.components.marketplace")
    ] + [record.text for record in home_assistant.complaints()]
