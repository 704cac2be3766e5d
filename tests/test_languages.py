"""Home Assistant shows the integration's texts in each language."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_translations
import pytest

from custom_components.bike_tracker.const import DOMAIN

from .static.project import INTEGRATION, read_json
from .static.texts import flatten

SECTIONS = (
    *("conditions", "config", "config_panel", "config_subentries", "entity"),
    *("exceptions", "issues", "selector", "services", "system_health", "triggers"),
)
# Texts that may be the same in another language as in English.
INTERNATIONAL = {
    *("Accident", "Accounts", "Alarm", "alarm", "Altitude", "Color", "Distance"),
    *("Email", "In Home Assistant", "List", "max. {speed}", "Name", "No", "Offline"),
    *("Online", "Password", "Period", "Positions", "Route", "Routes", "SOS", "Tag"),
    *("Tracker", "Urgent", "Vibration", "Week"),
}
TRANSLATIONS = INTEGRATION / "translations"
LANGUAGES = sorted({path.stem for path in TRANSLATIONS.iterdir()} - {"en", "en-GB"})


async def async_texts(hass: HomeAssistant, language: str) -> dict[str, str]:
    """Return the texts that Home Assistant shows in a language.

    For a missing translation, Home Assistant shows the English text.
    """
    prefix = f"component.{DOMAIN}."
    return {
        key.removeprefix(prefix): text
        for section in SECTIONS
        for key, text in (
            await async_get_translations(hass, language, section, {DOMAIN})
        ).items()
    }


@pytest.mark.parametrize("language", LANGUAGES)
async def test_nothing_is_left_in_english(hass: HomeAssistant, language: str) -> None:
    """Each translated text differs from English, unless it is in `INTERNATIONAL`. Missing texts are shown in English."""
    english = await async_texts(hass, "en")
    texts = await async_texts(hass, language)
    assert texts.keys() == english.keys()
    own = flatten(read_json(TRANSLATIONS / f"{language}.json"))
    assert own == {key: text for key, text in texts.items() if key in own}
    assert {text for key, text in own.items() if text == english[key]} <= INTERNATIONAL
