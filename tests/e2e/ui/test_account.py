"""Tests of changes to an account after its set-up: a new password, and the removal of the account."""

from playwright.async_api import expect
import pytest
from yarl import URL

from tests.e2e.frontend import Frontend
from tests.tools.demo import EMAIL, PASSWORD, HomeAssistantProcess

from .fleet import Fleet

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_sign_in_again(
    frontend: Frontend, account: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """If the password changes at the service, the user has to sign in again, which only works with the new password."""
    account.service.set_password(EMAIL, "new password")
    # Poll twice: the integration ignores a single refusal, which may be a mistake.
    await home_assistant.client.poll()
    await home_assistant.client.poll()
    await frontend.open("/config")
    await frontend.saying("Authentication expired for 127.0.0.1").click()
    await expect(frontend.saying("Sign in again")).to_be_visible()
    await expect(frontend.saying(EMAIL)).to_be_visible()
    await frontend.fill_in({"Password": PASSWORD})
    await frontend.button("Submit").click()
    await expect(frontend.saying("The server did not accept")).to_be_visible()
    await frontend.fill_in({"Password": "new password"})
    await frontend.button("Submit").click()
    await expect(frontend.saying("You are signed in again")).to_be_visible()
    await frontend.close()

    await frontend.open_device("City bike")
    await expect(frontend.entity("Connectivity")).to_contain_text("Online")


async def test_remove(
    frontend: Frontend, account: Fleet, home_assistant: HomeAssistantProcess
) -> None:
    """If the user removes an account, no device, entity, state or file of it remains."""
    client = home_assistant.client
    assert await client.devices()
    assert await client.entities()
    title = URL(account.url).authority
    await frontend.open_integration()
    # The first button opens the menu of the page, and the second that of the account.
    await frontend.button("Menu").nth(1).click()
    await frontend.page.get_by_role("menuitem", name="Delete", exact=True).click()
    await expect(frontend.heading(f"Delete {title}?")).to_be_visible()
    await frontend.button("Delete").click()
    await expect(frontend.text(title)).to_have_count(0)

    assert await client.call("config_entries/get", domain="bike_tracker") == []
    assert await client.devices() == {}
    assert await client.entities() == []
    states = await client.states()
    assert [entity_id for entity_id in states if "bike" in entity_id] == []
    storage = home_assistant.folder / ".storage"
    assert list(storage.glob("bike_tracker*")) == []
