"""The texts in every language, as Home Assistant shows them."""

from typing import NamedTuple

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, issue_registry as ir
from homeassistant.helpers.template import Template
from homeassistant.helpers.translation import async_get_translations
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN

from .conftest import BLUE, EMAIL, EVERYTHING, RED, StateOf, async_setup
from .static.project import INTEGRATION, read_json
from .static.texts import flatten
from .tools.simulator.server import Simulator

SECTIONS = (
    "conditions",
    "config",
    "entity",
    "exceptions",
    "issues",
    "selector",
    "services",
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
    "ar": Language(
        connectivity="الاتصال",
        online="متصل",
        sign_in_again="تسجيل الدخول من جديد",
        same_as_english={"SOS"},
    ),
    "bg": Language(
        connectivity="Свързаност",
        online="Онлайн",
        sign_in_again="Влезте отново",
        same_as_english={"SOS"},
    ),
    "ca": Language(
        connectivity="Connectivitat",
        online="En línia",
        sign_in_again="Torna a iniciar la sessió",
        same_as_english={"Accident", "No", "SOS", "Urgent"},
    ),
    "cs": Language(
        connectivity="Připojení",
        online="Online",
        sign_in_again="Přihlásit se znovu",
        same_as_english={"Alarm", "Offline", "Online", "SOS"},
    ),
    "da": Language(
        connectivity="Forbindelse",
        online="Online",
        sign_in_again="Log ind igen",
        same_as_english={"Alarm", "Email", "Offline", "Online", "SOS", "Vibration"},
    ),
    "de": Language(
        connectivity="Konnektivität",
        online="Online",
        sign_in_again="Erneut anmelden",
        same_as_english={
            "Alarm",
            "In Home Assistant",
            "Name",
            "Offline",
            "Online",
            "SOS",
            "Tag",
        },
    ),
    "el": Language(
        connectivity="Συνδεσιμότητα",
        online="Σε σύνδεση",
        sign_in_again="Συνδεθείτε ξανά",
        same_as_english={"Email", "SOS"},
    ),
    "es": Language(
        connectivity="Conectividad",
        online="En línea",
        sign_in_again="Volver a iniciar sesión",
        same_as_english={"No", "SOS"},
    ),
    "es-419": Language(
        connectivity="Conectividad",
        online="En línea",
        sign_in_again="Volver a iniciar sesión",
        same_as_english={"No", "SOS"},
    ),
    "et": Language(
        connectivity="Ühenduvus",
        online="Võrgus",
        sign_in_again="Logi uuesti sisse",
        same_as_english={"SOS"},
    ),
    "eu": Language(
        connectivity="Konektibitatea",
        online="Sarean",
        sign_in_again="Hasi saioa berriro",
        same_as_english={"SOS"},
    ),
    "fi": Language(
        connectivity="Yhteydet",
        online="Online",
        sign_in_again="Kirjaudu uudelleen",
        same_as_english={"Offline", "Online", "SOS"},
    ),
    "fr": Language(
        connectivity="Connectivité",
        online="En ligne",
        sign_in_again="Se reconnecter",
        same_as_english={"Accident", "Altitude", "SOS", "Urgent", "Vibration"},
    ),
    "fy": Language(
        connectivity="Konnektiviteit",
        online="Online",
        sign_in_again="Opnij oanmelde",
        same_as_english={"Accounts", "Alarm", "Offline", "Online", "SOS"},
    ),
    "ga": Language(
        connectivity="Nascacht",
        online="Ar líne",
        sign_in_again="Sínigh isteach arís",
        same_as_english={"SOS"},
    ),
    "gl": Language(
        connectivity="Conectividade",
        online="En liña",
        sign_in_again="Iniciar sesión de novo",
        same_as_english={"Altitude", "SOS"},
    ),
    "he": Language(
        connectivity="קישוריות",
        online="מקוון",
        sign_in_again="התחברות מחדש",
        same_as_english={"SOS"},
    ),
    "hu": Language(
        connectivity="Csatlakozás",
        online="Online",
        sign_in_again="Jelentkezzen be újra",
        same_as_english={"Offline", "Online", "SOS"},
    ),
    "id": Language(
        connectivity="Konektivitas",
        online="Online",
        sign_in_again="Masuk lagi",
        same_as_english={"Alarm", "Email", "Offline", "Online", "SOS", "Tag"},
    ),
    "it": Language(
        connectivity="Connettività",
        online="In linea",
        sign_in_again="Accedi di nuovo",
        same_as_english={"In Home Assistant", "No", "Password", "SOS"},
    ),
    "ja": Language(
        connectivity="接続状態",
        online="オンライン",
        sign_in_again="再度サインイン",
        same_as_english={"SOS"},
    ),
    "ko": Language(
        connectivity="연결",
        online="온라인",
        sign_in_again="다시 로그인",
        same_as_english={"SOS"},
    ),
    "lt": Language(
        connectivity="Ryšys",
        online="Prisijungęs",
        sign_in_again="Prisijunkite iš naujo",
        same_as_english={"SOS"},
    ),
    "mk": Language(
        connectivity="Поврзаност",
        online="Онлајн",
        sign_in_again="Најавете се повторно",
        same_as_english={"SOS"},
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
        same_as_english={
            "Accounts",
            "Alarm",
            "In Home Assistant",
            "Offline",
            "Online",
            "SOS",
            "Tag",
        },
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
        same_as_english={"Altitude", "Email", "Offline", "Online", "SOS"},
    ),
    # Without a file of its own Home Assistant would show English, not pt.
    "pt-BR": Language(
        connectivity="Conectividade",
        online="Online",
        sign_in_again="Entrar novamente",
        same_as_english={"Altitude", "Offline", "Online", "SOS"},
    ),
    "ru": Language(
        connectivity="Связь",
        online="В сети",
        sign_in_again="Повторный вход",
        same_as_english={"SOS"},
    ),
    "sk": Language(
        connectivity="Pripojenie",
        online="Online",
        sign_in_again="Prihlásiť sa znova",
        same_as_english={"Alarm", "Email", "Offline", "Online", "SOS"},
    ),
    "sr": Language(
        connectivity="Повезивање",
        online="На мрежи",
        sign_in_again="Пријавите се поново",
        same_as_english={"SOS"},
    ),
    "sr-Latn": Language(
        connectivity="Povezivost",
        online="Na mreži",
        sign_in_again="Prijavite se ponovo",
        same_as_english={"Alarm", "SOS"},
    ),
    "sv": Language(
        connectivity="Anslutning",
        online="Online",
        sign_in_again="Logga in igen",
        same_as_english={"Offline", "Online", "SOS", "Vibration"},
    ),
    "tr": Language(
        connectivity="Bağlantı",
        online="Çevrimiçi",
        sign_in_again="Yeniden oturum aç",
        same_as_english={"Alarm", "SOS"},
    ),
    "uk": Language(
        connectivity="Зв'язок",
        online="Онлайн",
        sign_in_again="Повторний вхід",
        same_as_english={"SOS"},
    ),
    "vi": Language(
        connectivity="Kết nối",
        online="Trực tuyến",
        sign_in_again="Đăng nhập lại",
        same_as_english={"Email", "SOS"},
    ),
    "zh-Hans": Language(
        connectivity="连通性",
        online="在线",
        sign_in_again="重新登录",
        same_as_english={"SOS"},
    ),
    "zh-Hant": Language(
        connectivity="連線",
        online="線上",
        sign_in_again="重新登入",
        same_as_english={"SOS"},
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
    files = (INTEGRATION / "translations").glob("*.json")
    assert {path.stem for path in files} == {"en", "en-GB", *LANGUAGES}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_nothing_is_left_in_english(hass: HomeAssistant, language: str) -> None:
    """No text of the language is English; those it does not have yet are shown in English."""
    english = await async_texts(hass, "en")
    texts = await async_texts(hass, language)
    assert texts.keys() == english.keys()

    own = flatten(read_json(INTEGRATION / "translations" / f"{language}.json"))
    assert own == {key: text for key, text in texts.items() if key in own}
    same = {text for key, text in own.items() if text == english[key]}
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
    simulator.report(RED, address="Moltkestraße 1", attributes=EVERYTHING)
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
        if key.startswith("entity.")
        and key.endswith(".name")
        and ".state_attributes." not in key
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
