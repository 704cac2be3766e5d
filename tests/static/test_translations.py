"""The texts: complete, as hassfest wants them, and the same in every language."""

from pathlib import Path
import re
from typing import Any, get_args, get_type_hints
import unicodedata

from homeassistant.components import homeassistant as core
from homeassistant.generated.languages import LANGUAGES
from homeassistant.helpers import config_validation as cv
import pytest

from custom_components.bike_tracker import event
from custom_components.bike_tracker.config_flow import BikeTrackerConfigFlow
from custom_components.bike_tracker.tracking.guard import Triggered

from .automations import described
from .entities import DESCRIPTIONS, KEYS, STATES
from .project import INTEGRATION, ROOT, read_json, under
from .texts import (
    END,
    RIGHT_TO_LEFT,
    flatten,
    placeholders_in,
    strings_in,
    texts_in_use,
)

FILES = under(INTEGRATION / "translations", "*.json")
ENGLISH: dict[str, Any] = read_json(INTEGRATION / "translations" / "en.json")
CORE_TEXTS = Path(core.__path__[0], "translations", "en.json")
TRANSLATED = [path for path in FILES if path.stem != "en"]
FOREIGN = [path for path in TRANSLATED if path.stem != "en-GB"]


LANGUAGES_PROMISED = """
ar bg ca cs da de el en en-GB es es-419 et eu fi fr fy ga gl he hu id it ja ko lt mk nb nl pl pt pt-BR ru sk sr sr-Latn sv tr uk
vi zh-Hans zh-Hant
"""
PROMISED = {*LANGUAGES_PROMISED.split()}

# Of these no other language has one, in whatever sense.
ENGLISH_WORDS = {"and", "from", "that", "the", "this", "when", "with", "your"}
# Names, and what is typed as it stands, are not translated.
LATIN_WORDS = {"assistant", "bike", "com", "example", "home", "http", "https"}
LATIN_WORDS |= {
    "csv",
    "gpx",
    "html",
    "id",
    "rides",
    "sos",
    "sunday",
    "theft",
    "tracker",
}
LATIN_WORDS |= {"allowlist", "configuration", "dirs", "external", "yaml"}
# The languages of another script, and what they write in Latin letters besides.
OTHER_SCRIPTS: dict[str, set[str]] = {
    "ar": set(),
    "bg": set(),
    # Home Assistant says "Email", "Διεύθυνση server" and "Eメール".
    "el": {"email", "server", "tablet"},
    "he": set(),
    "ja": {"e"},
    "ko": set(),
    "mk": set(),
    "ru": set(),
    "sr": set(),
    "uk": set(),
    "zh-Hans": set(),
    "zh-Hant": set(),
}

# In these texts run from right to left; names and what is typed are set apart in them.
FROM_RIGHT = ("ar", "he")
SET_APART = re.compile(f"\u2068(?:https?://|\\{{\\w+\\}}){END}")
NUMBERS = {"battery"}
RIGHT_TO_LEFT_MARK = "\u200f"

# The config flow as other people's scripts know it.
ACCOUNT = {"url", "email", "password"}
STEPS = {"user": ACCOUNT, "reauth_confirm": {"password"}, "reconfigure": ACCOUNT}
ERRORS = {
    "cannot_connect",
    "connection_refused",
    "insecure_url",
    "invalid_auth",
    "invalid_certificate",
    "invalid_email",
    "invalid_response",
    "invalid_url",
    "redirected",
    "timeout",
    "unknown",
    "unknown_host",
}
ABORTS = {"already_configured", "wrong_account"}
# These Home Assistant ends its flows with; newer releases bring texts for them.
COMMON_ABORTS = {"reauth_successful", "reconfigure_successful"}

KEY = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
ADDRESS = re.compile(r"(\w+://|www\.)\w", re.IGNORECASE)
FILLED = re.compile(r"\{\w+\}")
WORD = re.compile(r"\w+")
LATIN = re.compile(r"[A-Za-z]+")
QUOTED_PLACEHOLDER = re.compile(r"'\{\w+\}'")


def words_of(text: str, word: re.Pattern[str]) -> set[str]:
    """Return the words of a text, without what is to be filled in."""
    return {found.casefold() for found in word.findall(FILLED.sub("", text))}


def texts_under(path: Path, place: str) -> dict[str, str]:
    """Return the texts of a language that stand under a place."""
    return {
        here.removeprefix(place): text
        for here, text in flatten(read_json(path)).items()
        if here.startswith(place)
    }


def lists_to_choose_from() -> list[dict[str, Any]]:
    """Return the selection lists of triggers, conditions and actions."""
    return [
        field["selector"]["select"]
        for kind in ("triggers", "conditions", "services")
        for what in described(kind).values()
        for field in what["fields"].values()
        if "select" in field["selector"]
    ]


def test_texts_are_in_all_languages() -> None:
    """Every promised language is there, and texts are nowhere else."""
    assert {path.stem for path in FILES} == PROMISED
    assert not (INTEGRATION / "strings.json").exists()
    assert f"[{len(PROMISED)} languages](" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_language_is_one_home_assistant_has(path: Path) -> None:
    """A person can choose the language."""
    assert path.stem in LANGUAGES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_texts_are_as_hassfest_wants_them(path: Path) -> None:
    """Keys are slugs; texts hold no markup, no address and no space at an end."""
    for place, text in flatten(read_json(path)).items():
        assert text, place
        assert text == text.strip(), place
        assert all(KEY.fullmatch(key) for key in place.split(".")), place
        assert cv.string_with_no_html(text) == text, place
        assert not ADDRESS.search(text), place
        assert not QUOTED_PLACEHOLDER.search(text), place
        assert "[%key:" not in text, place
        assert all(name.isidentifier() for name in placeholders_in(text)), place


@pytest.mark.parametrize("path", TRANSLATED, ids=lambda path: path.stem)
def test_language_has_the_texts_of_english(path: Path) -> None:
    """Texts come in the order of English and are filled with the same; some may be missing."""
    english, texts = flatten(ENGLISH), flatten(read_json(path))
    assert list(texts) == [place for place in english if place in texts]
    for place, text in texts.items():
        assert placeholders_in(text) == placeholders_in(english[place]), place


@pytest.mark.parametrize("path", FOREIGN, ids=lambda path: path.stem)
def test_sentences_are_translated(path: Path) -> None:
    """What is a sentence in English is not the same sentence elsewhere."""
    english = flatten(ENGLISH)
    texts = flatten(read_json(path))
    same = [key for key, text in texts.items() if text == english.get(key)]
    assert not [key for key in same if english[key].endswith(".")]


@pytest.mark.parametrize("path", FOREIGN, ids=lambda path: path.stem)
def test_no_english_is_left_within_a_text(path: Path) -> None:
    """No part of a text was forgotten."""
    for place, text in flatten(read_json(path)).items():
        assert not words_of(text, WORD) & ENGLISH_WORDS, place


@pytest.mark.parametrize("language", OTHER_SCRIPTS)
def test_other_scripts_hold_names_alone_in_latin_letters(language: str) -> None:
    """What is written in Latin letters is a name, or typed as it stands."""
    allowed = LATIN_WORDS | OTHER_SCRIPTS[language]
    texts = read_json(INTEGRATION / "translations" / f"{language}.json")
    for place, text in flatten(texts).items():
        assert words_of(text, LATIN) <= allowed, place


@pytest.mark.parametrize("language", FROM_RIGHT)
def test_what_runs_from_left_to_right_is_set_apart(language: str) -> None:
    """Names, addresses and ways read right within a text that runs the other way."""
    texts = read_json(INTEGRATION / "translations" / f"{language}.json")
    for place, text in flatten(texts).items():
        rest = SET_APART.sub("", text)
        assert placeholders_in(rest) <= NUMBERS, place
        assert "://" not in rest, place
        # A telephone takes the direction of a message from its first letter.
        if SET_APART.match(text.lstrip(RIGHT_TO_LEFT_MARK)):
            assert text.startswith(RIGHT_TO_LEFT_MARK), place


@pytest.mark.parametrize("language", FROM_RIGHT)
def test_errors_run_from_right_to_left(language: str) -> None:
    """Home Assistant's frontend shows an error from left to right in every language."""
    errors = read_json(INTEGRATION / "translations" / f"{language}.json")["config"][
        "error"
    ]
    for key, text in errors.items():
        assert text.startswith(RIGHT_TO_LEFT), key
        assert text.endswith(END), key


@pytest.mark.parametrize(("step", "fields"), STEPS.items(), ids=STEPS)
def test_step_explains_each_field(step: str, fields: set[str]) -> None:
    """Each form and each of its fields has a name and an explanation."""
    texts = ENGLISH["config"]["step"][step]
    assert texts["data"].keys() == fields
    assert texts["data_description"].keys() == fields


def test_steps_are_those_of_the_flow() -> None:
    """There are no texts of forms that the flow does not show."""
    assert ENGLISH["config"]["step"].keys() == STEPS.keys()
    shown = {f"async_step_{step}" for step in STEPS}
    assert shown == {
        name
        for name in vars(BikeTrackerConfigFlow)
        if name.startswith("async_step_") and name != "async_step_reauth"
    }


def test_errors_are_those_of_the_flow() -> None:
    """Each error a form can show has a text."""
    assert ENGLISH["config"]["error"].keys() == ERRORS
    paths = ("config_flow.py", "api/address.py", "api/client.py", "api/errors.py")
    assert set().union(*map(strings_in, paths)) >= ERRORS


def test_aborts_are_those_of_the_flow() -> None:
    """Each end of the flow has a text, here or in Home Assistant."""
    own = ENGLISH["config"]["abort"].keys()
    common = read_json(CORE_TEXTS)["config"]["abort"].keys()
    assert own >= ABORTS
    assert own <= ABORTS | COMMON_ABORTS
    assert own | common >= COMMON_ABORTS


def test_forms_are_filled_with_what_the_flow_knows() -> None:
    """A form names the account, and why it cannot be reached; nothing else is filled in."""
    filled = {"abort.already_configured": "account", "error.cannot_connect": "error"}
    for place, text in flatten(ENGLISH["config"]).items():
        assert placeholders_in(text) <= {filled.get(place, "email")}, place


def test_entities_have_a_name() -> None:
    """Each entity is named here, by its device class or as its device."""
    for platform, descriptions in DESCRIPTIONS.items():
        named = ENGLISH["entity"].get(platform, {})
        for description in descriptions:
            if description.device_class is None and description.name is not None:
                assert description.key in named, description.key


@pytest.mark.parametrize("kind", ["triggers", "conditions", "services"])
def test_triggers_conditions_and_actions_are_explained(kind: str) -> None:
    """Each has a text, and each of its fields a name."""
    what = described(kind)
    assert ENGLISH[kind].keys() == what.keys()
    for name, texts in ENGLISH[kind].items():
        assert texts.get("fields", {}).keys() == what[name].get("fields", {}).keys()


def test_choices_are_named() -> None:
    """Each option of a selection list has a name, and nothing else has."""
    choices = {
        select["translation_key"]: select["options"]
        for select in lists_to_choose_from()
    }
    named = {
        key: texts["options"].keys()
        for key, texts in ENGLISH["selector"].items()
        if key not in ("night_guard", "occurrence", "report", "where")
    }
    assert named == {key: {*options} for key, options in choices.items()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_alarm_has_one_name(path: Path) -> None:
    """It is called the same where it is chosen and where it is fired."""
    chosen = texts_under(path, "selector.alarm.options.")
    fired = texts_under(path, "entity.event.alarm.state_attributes.event_type.state.")
    assert chosen == fired


def test_names_are_of_entities_that_exist() -> None:
    """There are no texts of entities that do not exist, or of their states."""
    for platform, entities in ENGLISH["entity"].items():
        assert entities.keys() <= KEYS[platform]
        for texts in entities.values():
            assert texts.get("state", {}).keys() <= STATES[platform]


def test_types_of_events_have_a_name() -> None:
    """Each type of each event is named, and no other."""
    for description in event.DESCRIPTIONS:
        assert description.event_types
        texts = ENGLISH["entity"]["event"][description.key]
        named = texts["state_attributes"]["event_type"]["state"]
        assert named.keys() == set(description.event_types)


def test_causes_have_a_name() -> None:
    """Each of what may trigger a guard has one."""
    named = [
        cause
        for texts in ENGLISH["entity"]["alarm_control_panel"].values()
        for cause in texts["state_attributes"]["cause"]["state"]
    ]
    assert sorted(named) == sorted(get_args(get_type_hints(Triggered)["cause"]))


@pytest.mark.parametrize("section", ["exceptions", "issues"])
def test_texts_are_those_the_code_uses(section: str) -> None:
    """Each text of a failure is used, and filled with no more than the code has."""
    uses = {use for use in texts_in_use() if use.section == section}
    assert {use.key for use in uses} == ENGLISH[section].keys()
    for use in uses:
        for text in ENGLISH[section][use.key].values():
            assert placeholders_in(text) <= use.placeholders, use.key


def test_each_trigger_has_a_sentence() -> None:
    """What triggers say has a text, unless its kind is all there is to say."""
    sentences = ENGLISH["selector"]["occurrence"]["options"].keys()
    kinds = {key.removesuffix("_since") for key in sentences}
    assert kinds == described("triggers").keys() - {"alarm_raised"}


def test_system_health_names_what_it_shows() -> None:
    """Each line on the system health page has a name."""
    assert strings_in("system_health.py") >= ENGLISH["system_health"]["info"].keys()


# Telephones cut what is wider; East Asian letters are twice as wide as others.
SEEN_WHOLE = 36


def width_of(text: str) -> int:
    """Return how wide a text is, in Latin letters."""
    return sum(1 + (unicodedata.east_asian_width(letter) in "FW") for letter in text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_names_in_the_editor_are_short(path: Path) -> None:
    """On a telephone the names of triggers and conditions are seen whole."""
    texts = read_json(path)
    for kind in ("triggers", "conditions"):
        names = [what["name"] for what in texts[kind].values()]
        assert not [name for name in names if width_of(name) > SEEN_WHOLE]
        assert len(set(names)) == len(names)
