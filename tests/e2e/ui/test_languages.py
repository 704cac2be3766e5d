"""What one sees of a tracker, in other languages."""

from playwright.async_api import expect
import pytest

from tests.e2e.frontend import Frontend
from tests.tools.demo import EMAIL, PASSWORD, HomeAssistantProcess

from .fleet import Fleet
from .layout import cut_off, too_wide
from .words import ENGLISH, IN_EVERY_LANGUAGE, Texts, Words

pytestmark = pytest.mark.asyncio(loop_scope="session")


@IN_EVERY_LANGUAGE
async def test_device_page(
    frontend: Frontend, home_assistant: HomeAssistantProcess, fleet: Fleet, words: Words
) -> None:
    """The page of a tracker says all in that language, and nothing in English."""
    texts, english = Texts(words.language), Texts(ENGLISH.language)
    await home_assistant.client.add_account(fleet.url, EMAIL, PASSWORD)
    await frontend.open_device("City bike", heading=words.device_info)
    for key, state in {"online": "on", "disabled": "off"}.items():
        row = frontend.entity(texts.entities[key])
        await expect(row).to_contain_text(texts.states[key][state])
    for key in ("last_update", "ride", "ride_distance", "total_distance"):
        await expect(frontend.entity(texts.entities[key])).to_be_visible()
    for key, name in english.entities.items():
        if texts.entities[key] != name:
            await expect(frontend.text(name)).to_have_count(0)
    await frontend.settle()
    # Home Assistant cuts off a name beside how long ago it was, which may be long.
    assert set(await cut_off(frontend.page)) <= {texts.entities["last_update"]}
    assert await too_wide(frontend.page) == 0
