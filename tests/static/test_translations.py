"""Texts and icons: they are complete, follow hassfest's rules, and agree between languages."""

from functools import cache
import os
from pathlib import Path
import re
from typing import Any, get_args, get_type_hints
import unicodedata

from homeassistant import components
from homeassistant.generated.languages import LANGUAGES
from homeassistant.helpers import config_validation as cv
import pytest

from custom_components.bike_tracker import event
from custom_components.bike_tracker.config_flow import BikeTrackerConfigFlow
from custom_components.bike_tracker.tracking.guard import Triggered

from .entities import DESCRIPTIONS, KEYS, STATES, described
from .project import INTEGRATION, ROOT, read_json, under
from .texts import END, RIGHT_TO_LEFT, flatten, placeholders_in, texts_in_use

FILES = under(INTEGRATION / "translations", "*.json")
NESTED: dict[str, dict[str, Any]] = {path.stem: read_json(path) for path in FILES}
TEXTS = {language: flatten(texts) for language, texts in NESTED.items()}
ENGLISH = NESTED["en"]
TRANSLATED = sorted(TEXTS.keys() - {"en"})
FOREIGN = sorted(TEXTS.keys() - {"en", "en-GB"})

# Frequent English words that are no words of the other languages.
ENGLISH_WORDS = {"and", "from", "that", "the", "this", "when", "with", "your"}
# Texts that may be the same in another language as in English.
INTERNATIONAL = {
    *("Accident", "Accounts", "Alarm", "alarm", "Altitude", "Color", "Distance"),
    *("Email", "In Home Assistant", "List", "max. {speed}", "Name", "No", "Offline"),
    *("Online", "Password", "Period", "Positions", "Route", "Routes", "SOS", "Tag"),
    *("Tracker", "Urgent", "Vibration", "Week"),
}
# Names and words that may have Latin letters in every script.
LATIN_WORDS = {
    *("assistant", "bike", "com", "example", "home", "http", "https", "tracker"),
    *("csv", "gpx", "html", "id", "iphone", "rides", "sos", "sunday", "theft"),
    *("allowlist", "configuration", "dirs", "external", "yaml"),
}
# Languages that are not written in Latin letters, and the Latin words that Home
# Assistant uses in each.
OTHER_SCRIPTS: dict[str, set[str]] = {
    **{language: set() for language in ("ar", "bg", "he", "ko", "mk", "ru", "sr")},
    **{language: set() for language in ("uk", "zh-Hans", "zh-Hant")},
    "el": {"email", "server", "tablet"},
    "ja": {"e"},
}
# Matches a placeholder or "https://" within characters that isolate its text direction.
SET_APART = re.compile(f"\u2068(?:https?://|\\{{\\w+\\}}){END}")
RIGHT_TO_LEFT_MARK = "\u200f"

FORBIDDEN = re.compile(r"(\w+://|www\.)\w|'\{\w+\}'|\[%key:", re.IGNORECASE)


def words_of(text: str, word: str) -> set[str]:
    """Return the words of a text in lower case, without placeholders. `word` is the pattern of a word."""
    return {it.casefold() for it in re.findall(word, re.sub(r"\{\w+\}", "", text))}


def test_languages() -> None:
    """Home Assistant supports each language of the texts. The README states the right number of languages."""
    assert NESTED.keys() <= LANGUAGES
    assert f"[{len(NESTED)} languages](" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("language", TEXTS)
def test_rules_of_hassfest(language: str) -> None:
    """Texts contain no markup and no address, and do not begin or end with a space."""
    for place, text in TEXTS[language].items():
        assert text == text.strip() != "", place
        assert cv.string_with_no_html(text) == text, place
        assert not FORBIDDEN.search(text), place
        assert all(name.isidentifier() for name in placeholders_in(text)), place


@pytest.mark.parametrize("language", TRANSLATED)
def test_translation(language: str) -> None:
    """The texts of a language are in the same order as in English, with the same placeholders. Some texts of the language may be missing."""
    english, texts = TEXTS["en"], TEXTS[language]
    assert list(texts) == [place for place in english if place in texts]
    for place, text in texts.items():
        assert placeholders_in(text) == placeholders_in(english[place]), place


@pytest.mark.parametrize("language", FOREIGN)
def test_no_english_is_left(language: str) -> None:
    """Each text differs from English, unless it is in `INTERNATIONAL`, and contains none of `ENGLISH_WORDS`.

    In other scripts, only the listed words are in Latin letters.
    """
    latin = LATIN_WORDS | OTHER_SCRIPTS.get(language, set())
    for place, text in TEXTS[language].items():
        assert text != TEXTS["en"][place] or text in INTERNATIONAL, place
        assert not words_of(text, r"\w+") & ENGLISH_WORDS, place
        if language in OTHER_SCRIPTS:
            assert words_of(text, "[A-Za-z]+") <= latin, place


@pytest.mark.parametrize("language", ["ar", "he"])
def test_right_to_left(language: str) -> None:
    """In right-to-left languages, isolating characters surround `https://` and all placeholders except `battery`.

    Errors in forms begin with `RIGHT_TO_LEFT` and end with `END`.
    """
    for place, text in TEXTS[language].items():
        rest = SET_APART.sub("", text)
        assert placeholders_in(rest) <= {"battery"}, place
        assert "://" not in rest, place
        # Phones use the direction of the first letter for the whole message, so a text
        # that begins with a name needs a mark before it.
        if SET_APART.match(text.lstrip(RIGHT_TO_LEFT_MARK)):
            assert text.startswith(RIGHT_TO_LEFT_MARK), place
        if place.startswith("config.error."):
            assert text.startswith(RIGHT_TO_LEFT), place
            assert text.endswith(END), place


def test_flow() -> None:
    """Exactly the existing forms have texts, each field has a description, and the code uses each error."""
    config, steps = ENGLISH["config"], ENGLISH["config"]["step"]
    night = ENGLISH["config_subentries"]["night_guard"]
    assert night["abort"].items() <= config["abort"].items()
    for texts in steps.values():
        assert texts["data"].keys() == texts["data_description"].keys()
    methods = {it for it in vars(BikeTrackerConfigFlow) if it.startswith("async_step_")}
    assert methods - {"async_step_reauth"} == {f"async_step_{step}" for step in steps}
    paths = ("config_flow.py", "api/address.py", "api/__init__.py", "api/errors.py")
    code = "".join((INTEGRATION / path).read_text() for path in paths)
    assert all(f'"{error}"' in code for error in config["error"])
    filled = {"abort.already_configured": "account", "error.cannot_connect": "error"}
    for place, text in flatten(config).items():
        assert placeholders_in(text) <= {filled.get(place, "email")}, place


@pytest.mark.parametrize("kind", ["triggers", "conditions", "services"])
def test_triggers_conditions_and_actions(kind: str) -> None:
    """Each trigger, condition, action and field has a text. Each trigger, condition and action has an icon."""
    assert ICONS[kind].keys() == described(kind).keys()
    fields = {name: set(it.get("fields", {})) for name, it in described(kind).items()}
    texts = {name: set(it.get("fields", {})) for name, it in ENGLISH[kind].items()}
    assert texts == fields


def test_choices() -> None:
    """Each option in the fields of triggers, conditions and actions has a name, and each name belongs to an option."""
    selects = [
        field["selector"]["select"]
        for kind in ("triggers", "conditions", "services")
        for it in described(kind).values()
        for field in it["fields"].values()
        if "select" in field["selector"]
    ]
    sentences = ("night_guard", "occurrence", "report", "where")
    named = {
        key: {*texts["options"]}
        for key, texts in ENGLISH["selector"].items()
        if key not in sentences
    }
    assert named == {it["translation_key"]: {*it["options"]} for it in selects}


@pytest.mark.parametrize("language", TEXTS)
def test_alarms(language: str) -> None:
    """An alarm has the same name in selections and in events."""
    events = "entity.event.alarm.state_attributes.event_type.state."
    texts = TEXTS[language]
    for alarm in NESTED["en"]["selector"]["alarm"]["options"]:
        option = texts.get(f"selector.alarm.options.{alarm}")
        assert option == texts.get(f"{events}{alarm}"), alarm


def test_entities() -> None:
    """Each entity has a name: its own, that of its device class, or that of its device. No text is unused."""
    for platform, descriptions in DESCRIPTIONS.items():
        texts = ENGLISH["entity"].get(platform, {})
        nameless = {it.key for it in descriptions if it.device_class or it.name is None}
        keys = {it.key for it in descriptions} - nameless
        assert keys <= texts.keys() <= KEYS[platform]
        states = STATES.get(platform, set())
        assert all(it.get("state", {}).keys() <= states for it in texts.values())
    for description in event.DESCRIPTIONS:
        texts = ENGLISH["entity"]["event"][description.key]
        named = texts["state_attributes"]["event_type"]["state"]
        assert description.event_types
        assert named.keys() == {*description.event_types}
    panels = ENGLISH["entity"]["alarm_control_panel"]
    moves, again, alarm, moved = (
        [*panels[key]["state_attributes"]["cause"]["state"]]
        for key in ("guard", "guard_again", "guard_alarm", "guard_moved")
    )
    assert moved == moves
    assert sorted(moved + alarm) == again
    assert again == sorted(get_args(get_type_hints(Triggered)["cause"]))


def test_failures() -> None:
    """The code uses each text of an error or repair issue, and fills in all its placeholders."""
    unused = {(it, key) for it in ("exceptions", "issues") for key in ENGLISH[it]}
    for section, key, placeholders in texts_in_use():
        for text in ENGLISH[section][key].values():
            assert placeholders_in(text) <= placeholders, key
        unused.discard((section, key))
    assert not unused


def test_sentences_of_triggers() -> None:
    """Each trigger has a sentence for its variable `description`, except `alarm_raised`, which uses the alarm's name."""
    sentences = ENGLISH["selector"]["occurrence"]["options"]
    kinds = {key.removesuffix("_since") for key in sentences}
    assert kinds == described("triggers").keys() - {"alarm_raised"}


@pytest.mark.parametrize("language", TEXTS)
def test_names_in_the_editor(language: str) -> None:
    """All names of triggers differ, and all names of conditions. Each fits on a phone: at most 36 letters."""
    for kind in ("triggers", "conditions"):
        names = [it["name"] for it in NESTED[language][kind].values()]
        for name in names:
            # East Asian characters are twice as wide.
            wide = sum(unicodedata.east_asian_width(letter) in "FW" for letter in name)
            assert len(name) + wide <= 36
        assert len(set(names)) == len(names)


FIELDS = {
    "email": "rituals_perfume_genie.config.step.user.data.email",
    "password": "rituals_perfume_genie.config.step.user.data.password",
    "url": "minecraft_server.config.step.user.data.address",
}
# By the key of our text: the key of Home Assistant's text that our text must equal.
SAME = {
    **{f"config.step.reauth_confirm.data.{it}": key for it, key in FIELDS.items()},
    **{f"config.step.reconfigure.data.{it}": key for it, key in FIELDS.items()},
    **{f"config.step.user.data.{it}": key for it, key in FIELDS.items()},
    "entity.binary_sensor.online.name": "binary_sensor.entity_component.connectivity.name",
    "entity.sensor.address.name": "ituran.entity.sensor.address.name",
    "entity.sensor.battery_voltage.name": "traccar_server.entity.sensor.battery.name",
    "entity.sensor.last_update.name": "solarlog.entity.sensor.last_update.name",
    "entity.sensor.power_voltage.name": "traccar_server.entity.sensor.power.name",
}
# By the key of our text: the key of Home Assistant's text that our text must contain.
CONTAINS = {
    "config.error.cannot_connect": "aseko_pool_live.config.error.cannot_connect",
    "config.error.invalid_auth": "aseko_pool_live.config.error.invalid_auth",
    "entity.sensor.total_distance.name": "sensor.entity_component.distance.name",
}
EXCEPTIONS = {
    # Our text has the term of newer releases of Home Assistant.
    "config.step.reconfigure.data.url": {"hu"},
    "config.step.user.data.url": {"hu"},
    "entity.sensor.battery_voltage.name": {"hu"},
    "entity.binary_sensor.online.name": {"ja"},
    "config.error.invalid_auth": {"sr"},
    # Home Assistant's term means the address of a server, not of a place.
    "entity.sensor.address.name": {"ja"},
    # Home Assistant's term means the distance to a thing, not that of a ride.
    "entity.sensor.total_distance.name": {
        *("et", "fi", "pl", "sr", "sr-Latn", "sv", "vi")
    },
}


@cache
def texts_of(path: Path) -> dict[str, str]:
    """Return a file's texts by their path in it. If the file does not exist, return an empty dictionary."""
    return flatten(read_json(path)) if path.exists() else {}


@pytest.mark.parametrize("language", TRANSLATED)
def test_words(language: str) -> None:
    """Texts in `SAME` are the same as Home Assistant's, and texts in `CONTAINS` contain them, except `EXCEPTIONS`."""
    folder, sources = Path(components.__path__[0]), SAME | CONTAINS
    exempt = {place for place in EXCEPTIONS if language in EXCEPTIONS[place]}
    for place in sources.keys() & TEXTS[language].keys() - exempt:
        component, _, key = sources[place].partition(".")
        theirs = texts_of(folder / component / "translations" / f"{language}.json")
        ours = TEXTS[language][place]
        known = theirs.get(key, ours)
        is_part = place in CONTAINS and known.casefold() in ours.casefold()
        assert is_part or known == ours, place


FRONTEND = "lib/python*/site-packages/hass_frontend/static/mdi/iconList.json"
ICONS: dict[str, Any] = read_json(INTEGRATION / "icons.json")


def test_icons_exist() -> None:
    """Each icon exists in Home Assistant's frontend, which only the environment of the demo contains."""
    lists = list((ROOT / ".venv" / "demo").glob(FRONTEND))
    if not lists and "LINT" not in os.environ:
        pytest.skip("No frontend to look icons up in: scripts/lint installs it")
    existing = {f"mdi:{icon['name']}" for file in lists for icon in read_json(file)}
    named = re.findall(r"mdi:[^\"]+", (INTEGRATION / "icons.json").read_text())
    assert not {*named} - existing


@pytest.mark.parametrize("platform", DESCRIPTIONS)
def test_icons_of_entities(platform: str) -> None:
    """Each entity has an icon: its own or that of its device class. Each icon belongs to an entity and state that exist."""
    icons, descriptions = ICONS["entity"].get(platform, {}), DESCRIPTIONS[platform]
    without_class = {it.key for it in descriptions if it.device_class is None}
    assert without_class <= icons.keys() <= KEYS[platform]
    states = STATES.get(platform, set())
    assert all(icon.get("state", {}).keys() <= states for icon in icons.values())
