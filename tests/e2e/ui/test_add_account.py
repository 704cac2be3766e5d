"""Add an account from the start page, in each language of words.json."""

from playwright.async_api import Locator, expect
import pytest

from tests.e2e.frontend import Frontend
from tests.tools.demo import EMAIL, PASSWORD

from .fleet import Fleet
from .layout import cut_off, too_wide
from .words import IN_EVERY_LANGUAGE, Texts, Words

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def find(frontend: Frontend, words: Words) -> Locator:
    """Search for "bike" in the list of all integrations, and return the button of Bike Tracker."""
    await frontend.open()
    await frontend.page.get_by_role("link", name=words.settings, exact=True).click()
    await frontend.link(words.integrations).click()
    await frontend.button(words.add).click()
    await frontend.page.get_by_placeholder(words.search).fill("bike")
    return frontend.button("Bike Tracker")


@IN_EVERY_LANGUAGE
async def test_add_account(frontend: Frontend, fleet: Fleet, words: Words) -> None:
    """A search finds the integration, with its icon.

    After a wrong password, the form shows an error and keeps the typed texts. The
    form accepts the right password.
    """
    texts = Texts(words.language)
    found = await find(frontend, words)
    icon = frontend.page.locator("ha-integration-list-item img").first
    await expect(icon).to_have_js_property("naturalWidth", 256)
    await found.click()
    for text in (texts.title, texts.description, *texts.explanations.values()):
        await expect(frontend.text(text)).to_be_visible()
    typed = {
        texts.labels["url"]: fleet.url,
        texts.labels["email"]: EMAIL,
        texts.labels["password"]: "wrong password",
    }
    await frontend.fill_in(typed)
    await frontend.button(words.submit).click()
    await expect(frontend.page.get_by_role("alert")).to_be_visible()
    await expect(frontend.text(texts.errors["invalid_auth"])).to_be_visible()
    for label, text in typed.items():
        await expect(frontend.field(label)).to_have_value(text)

    await frontend.fill_in({texts.labels["password"]: PASSWORD})
    await frontend.button(words.submit).click()
    await expect(frontend.field(words.device_name)).to_have_count(3)
    await frontend.button(words.finish).click()

    await expect(frontend.heading("Bike Tracker")).to_be_visible()
    for name in fleet.places:
        await expect(frontend.text(name)).to_be_visible()
    await expect_device(frontend, words, texts)


async def expect_device(frontend: Frontend, words: Words, texts: Texts) -> None:
    """Expect the device page of a tracker with the entities' names in this language, and not in English."""
    await frontend.open_device("City bike", heading=words.device_info)
    for key, state in {"online": "on", "disabled": "off"}.items():
        row = frontend.entity(texts.entities[key])
        await expect(row).to_contain_text(texts.states[key][state])
    for key in ("last_update", "ride", "ride_distance", "total_distance"):
        await expect(frontend.entity(texts.entities[key])).to_be_visible()
    for key, name in Texts("en").entities.items():
        if texts.entities[key] != name:
            await expect(frontend.text(name)).to_have_count(0)
    await frontend.settle()
    # Home Assistant cuts off the name *Last update* if the duration beside it is long.
    assert set(await cut_off(frontend.page)) <= {texts.entities["last_update"]}
    assert await too_wide(frontend.page) == 0
