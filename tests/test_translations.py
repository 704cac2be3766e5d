"""The texts in every language, as Home Assistant shows them."""

from pathlib import Path
from typing import NamedTuple

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, issue_registry as ir
from homeassistant.helpers.template import Template
from homeassistant.helpers.translation import async_get_translations
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components import bike_tracker
from custom_components.bike_tracker.const import DOMAIN

from .conftest import BLUE, EMAIL, EVERYTHING, RED, StateOf, async_setup
from .simulator.server import Simulator

SECTIONS = (
    "conditions",
    "config",
    "entity",
    "exceptions",
    "issues",
    "system_health",
    "triggers",
)


class Language(NamedTuple):
    """Some texts as people who speak the language know them."""

    connectivity: str
    online: str
    sign_in_again: str
    same_as_english: set[str]
    """The only texts that are the same in English."""


LANGUAGES = {
    "cs": Language(
        connectivity="Připojení",
        online="Online",
        sign_in_again="Přihlásit se znovu",
        same_as_english={"Alarm", "E-mail", "Offline", "Online", "SOS"},
    ),
    "da": Language(
        connectivity="Forbindelse",
        online="Online",
        sign_in_again="Log ind igen",
        same_as_english={"Alarm", "Offline", "Online", "SOS", "Vibration"},
    ),
    "de": Language(
        connectivity="Konnektivität",
        online="Online",
        sign_in_again="Erneut anmelden",
        same_as_english={"Alarm", "Offline", "Online", "SOS"},
    ),
    "es": Language(
        connectivity="Conectividad",
        online="En línea",
        sign_in_again="Volver a iniciar sesión",
        same_as_english={"No", "SOS"},
    ),
    "fi": Language(
        connectivity="Yhteys",
        online="Online",
        sign_in_again="Kirjaudu uudelleen",
        same_as_english={"Offline", "Online", "SOS"},
    ),
    "fr": Language(
        connectivity="Connectivité",
        online="En ligne",
        sign_in_again="Se reconnecter",
        same_as_english={"Accident", "Altitude", "E-mail", "SOS", "Vibration"},
    ),
    "it": Language(
        connectivity="Connettività",
        online="In linea",
        sign_in_again="Accedi di nuovo",
        same_as_english={"E-mail", "No", "Password", "SOS"},
    ),
    "nb": Language(
        connectivity="Tilkobling",
        online="Tilkoblet",
        sign_in_again="Logg inn på nytt",
        same_as_english={"Alarm", "SOS"},
    ),
    "nl": Language(
        connectivity="Connectiviteit",
        online="Online",
        sign_in_again="Opnieuw aanmelden",
        same_as_english={"Accounts", "Alarm", "E-mail", "Offline", "Online", "SOS"},
    ),
    "pl": Language(
        connectivity="Łączność",
        online="online",
        sign_in_again="Zaloguj się ponownie",
        same_as_english={"Alarm", "SOS"},
    ),
    "pt": Language(
        connectivity="Conectividade",
        online="Online",
        sign_in_again="Iniciar sessão novamente",
        same_as_english={"Altitude", "Offline", "Online", "SOS"},
    ),
    # Without a file of its own Home Assistant would show English, not pt.
    "pt-BR": Language(
        connectivity="Conectividade",
        online="Online",
        sign_in_again="Entrar novamente",
        same_as_english={"Altitude", "E-mail", "Offline", "Online", "SOS"},
    ),
    "sv": Language(
        connectivity="Anslutning",
        online="Online",
        sign_in_again="Logga in igen",
        same_as_english={"Offline", "Online", "SOS", "Vibration"},
    ),
}


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
    folder = Path(bike_tracker.__file__).parent / "translations"
    assert {path.stem for path in folder.glob("*.json")} == {"en", *LANGUAGES}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_nothing_is_left_in_english(hass: HomeAssistant, language: str) -> None:
    """Home Assistant falls back to English for no text."""
    english = await async_texts(hass, "en")
    texts = await async_texts(hass, language)

    same = {text for key, text in texts.items() if text == english[key]}
    assert same == LANGUAGES[language].same_as_english


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.usefixtures("all_enabled")
async def test_entities(
    hass: HomeAssistant,
    entity_registry: er.EntityRegistry,
    simulator: Simulator,
    entry: MockConfigEntry,
    state_of: StateOf,
    language: str,
) -> None:
    """Entities have names and states in the language of Home Assistant."""
    hass.config.language = language
    simulator.report(RED, attributes=EVERYTHING)
    await async_setup(hass, entry)

    state = state_of(f"{RED}_online", Platform.BINARY_SENSOR)
    assert state is not None
    assert state.name == f"Red bike {LANGUAGES[language].connectivity}"
    shown = Template(f"{{{{ state_translated('{state.entity_id}') }}}}", hass)
    assert shown.async_render() == LANGUAGES[language].online

    texts = await async_texts(hass, language)
    names = {
        text
        for key, text in texts.items()
        if key.startswith("entity.") and key.endswith(".name")
    }
    entities = er.async_entries_for_config_entry(entity_registry, entry.entry_id)
    assert names <= {entity.original_name for entity in entities}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_signing_in_again(
    hass: HomeAssistant, simulator: Simulator, entry: MockConfigEntry, language: str
) -> None:
    """The request to sign in again says whose password is asked for."""
    simulator.set_password(EMAIL, "another")
    await async_setup(hass, entry)
    (flow,) = hass.config_entries.flow.async_progress()
    form = await hass.config_entries.flow.async_configure(flow["flow_id"])

    texts = await async_texts(hass, language)
    step = f"config.step.{form['step_id']}"
    assert texts[f"{step}.title"] == LANGUAGES[language].sign_in_again
    description = texts[f"{step}.description"]
    assert EMAIL in description.format(**form["description_placeholders"] or {})


async def test_issue(
    hass: HomeAssistant,
    simulator: Simulator,
    entry: MockConfigEntry,
    issue_registry: ir.IssueRegistry,
) -> None:
    """An issue says which account it is about."""
    simulator.unassign(EMAIL, RED)
    simulator.unassign(EMAIL, BLUE)
    await async_setup(hass, entry)

    (issue,) = (
        issue for issue in issue_registry.issues.values() if issue.domain == DOMAIN
    )
    for language in LANGUAGES:
        texts = await async_texts(hass, language)
        text = texts[f"issues.{issue.translation_key}.description"]
        assert entry.title in text.format(**issue.translation_placeholders or {})
