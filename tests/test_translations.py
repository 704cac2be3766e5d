"""The texts in every language, as Home Assistant shows them."""

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.template import Template
from homeassistant.helpers.translation import async_get_translations
import pytest

from custom_components.bike_tracker.const import DOMAIN

from .conftest import EVERYTHING, RED, Bikes, async_setup
from .static.project import INTEGRATION, read_json
from .static.texts import flatten

SECTIONS = (
    "conditions",
    "config",
    "config_panel",
    "config_subentries",
    "entity",
    "exceptions",
    "issues",
    "selector",
    "services",
    "system_health",
    "triggers",
)


SAME_AS_ENGLISH: dict[str, set[str]] = {
    "ar": {"SOS"},
    "bg": {"SOS"},
    "ca": {"Accident", "No", "SOS", "Urgent"},
    "cs": {"Alarm", "alarm", "Offline", "Online", "SOS", "max. {speed}"},
    "da": {
        *("Alarm", "alarm", "Email", "Offline", "Online", "SOS", "Tracker"),
        "Vibration",
    },
    "de": {
        "Alarm",
        "In Home Assistant",
        "Name",
        "Offline",
        "Online",
        "Route",
        "SOS",
        "Tracker",
        "max. {speed}",
    },
    "el": {"Email", "SOS"},
    "es": {"Color", "No", "SOS"},
    "es-419": {"Color", "No", "SOS"},
    "et": {"SOS"},
    "eu": {"SOS"},
    "fi": {"Offline", "Online", "SOS"},
    "fr": {
        "Accident",
        "Altitude",
        "Distance",
        "Positions",
        "SOS",
        "Urgent",
        "Vibration",
        "max. {speed}",
    },
    "fy": {
        *("Accounts", "Alarm", "alarm", "List", "Offline", "Online", "SOS"),
        "Tracker",
    },
    "ga": {"SOS"},
    "gl": {"Altitude", "SOS"},
    "he": {"SOS"},
    "hu": {"Offline", "Online", "SOS", "max. {speed}"},
    "id": {"Alarm", "alarm", "Email", "Offline", "Online", "SOS", "Tag"},
    "it": {"In Home Assistant", "No", "Password", "SOS", "max. {speed}"},
    "ja": {"SOS"},
    "ko": {"SOS"},
    "lt": {"SOS"},
    "mk": {"SOS"},
    "nb": {"Alarm", "alarm", "SOS"},
    "nl": {
        "Accounts",
        "Alarm",
        "alarm",
        "In Home Assistant",
        "Offline",
        "Online",
        "Route",
        "Routes",
        "SOS",
        "Tag",
        "Tracker",
        "Week",
        "max. {speed}",
    },
    "pl": {"Alarm", "alarm", "SOS"},
    "pt": {"Altitude", "Email", "Offline", "Online", "SOS"},
    # Without a file of its own Home Assistant would show English, not pt.
    "pt-BR": {"Altitude", "Offline", "Online", "SOS"},
    "ru": {"SOS"},
    "sk": {"Alarm", "alarm", "Email", "Offline", "Online", "SOS", "max. {speed}"},
    "sr": {"SOS"},
    "sr-Latn": {"Alarm", "alarm", "Period", "SOS"},
    "sv": {"Offline", "Online", "Period", "SOS", "Vibration", "max. {speed}"},
    "tr": {"Alarm", "alarm", "SOS"},
    "uk": {"SOS"},
    "vi": {"Email", "SOS"},
    "zh-Hans": {"SOS"},
    "zh-Hant": {"SOS"},
}
"""For each language the only texts that are the same in English."""


async def async_texts(hass: HomeAssistant, language: str) -> dict[str, str]:
    """Return the texts Home Assistant shows: English where it has no other."""
    prefix = f"component.{DOMAIN}."
    return {
        key.removeprefix(prefix): text
        for section in SECTIONS
        for key, text in (
            await async_get_translations(hass, language, section, {DOMAIN})
        ).items()
    }


def test_every_language_is_known_here() -> None:
    """No language goes untested."""
    files = (INTEGRATION / "translations").glob("*.json")
    assert {path.stem for path in files} == {"en", "en-GB", *SAME_AS_ENGLISH}


@pytest.mark.parametrize("language", SAME_AS_ENGLISH)
async def test_nothing_is_left_in_english(hass: HomeAssistant, language: str) -> None:
    """No text of the language is English; those it does not have yet are shown in English."""
    english = await async_texts(hass, "en")
    texts = await async_texts(hass, language)
    assert texts.keys() == english.keys()

    own = flatten(read_json(INTEGRATION / "translations" / f"{language}.json"))
    assert own == {key: text for key, text in texts.items() if key in own}
    same = {text for key, text in own.items() if text == english[key]}
    assert same == SAME_AS_ENGLISH[language]


@pytest.mark.usefixtures("all_enabled")
async def test_entities(bikes: Bikes, entity_registry: er.EntityRegistry) -> None:
    """Entities have names and states in the language of Home Assistant."""
    bikes.hass.config.language = "de"
    bikes.simulator.report(RED, address="Moltkestraße 1", attributes=EVERYTHING)
    await async_setup(bikes.hass, bikes.entry)

    state = bikes.state(f"{RED}_online", Platform.BINARY_SENSOR)
    assert state.name == "Red bike Konnektivität"
    shown = Template(f"{{{{ state_translated('{state.entity_id}') }}}}", bikes.hass)
    assert shown.async_render() == "Online"

    texts = await async_texts(bikes.hass, "de")
    names = {
        text
        for key, text in texts.items()
        if key.startswith("entity.")
        and key.endswith(".name")
        and ".state_attributes." not in key
    }
    entities = er.async_entries_for_config_entry(entity_registry, bikes.entry.entry_id)
    assert names <= {entity.original_name for entity in entities}
