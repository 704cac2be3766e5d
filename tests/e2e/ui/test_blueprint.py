"""From the README's button to an automation that runs."""

from collections.abc import AsyncIterator

from playwright.async_api import expect
import pytest
import pytest_asyncio

from tests.e2e.frontend import Frontend
from tests.e2e.internet.hosting import Repository
from tests.live import HomeAssistantProcess

from .fleet import Fleet
from .readme import button

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def clean_up(
    home_assistant: HomeAssistantProcess, repository: Repository
) -> AsyncIterator[None]:
    """Leave no automation, blueprint or notification behind."""
    yield
    client = home_assistant.client
    for state in (await client.states()).values():
        if state.entity_id.startswith("automation."):
            number = state.attributes["id"]
            await client.delete(f"/api/config/automation/config/{number}")
    owner = repository.full_name.partition("/")[0]
    await client.call(
        "blueprint/delete", domain="automation", path=f"{owner}/tracker_offline.yaml"
    )
    await client.action("persistent_notification.dismiss_all")


async def test_blueprint(
    frontend: Frontend,
    account: Fleet,
    home_assistant: HomeAssistantProcess,
) -> None:
    """Imported, given a tracker, it tells when that tracker is offline and when it is back."""
    await frontend.open(button("tracker_offline.yaml"))
    await frontend.button("Preview").click()
    await expect(
        frontend.page.get_by_role("paragraph").filter(
            has_text="Tells you when a tracker has been offline"
        )
    ).to_be_visible()
    await frontend.button("Import blueprint").last.click()

    await frontend.button("Bike Tracker: tracker offline").click()
    await frontend.button("Select a device").first.click()
    await frontend.option("City bike").click()
    await frontend.page.get_by_role("spinbutton").fill("0")
    await frontend.button("Save").click()
    await expect(frontend.link("Traces")).to_be_visible()

    await frontend.page.get_by_role("button", name="Notifications").first.click()
    await account.change("City bike", "set_status", status="offline")
    await home_assistant.client.poll()
    await expect(frontend.text("City bike is offline")).to_be_visible()
    await account.change("City bike", "set_status", status="online")
    await home_assistant.client.poll()
    await expect(frontend.text("City bike is back online")).to_be_visible()
