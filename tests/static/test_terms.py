"""Our words are the words Home Assistant uses in that language."""

from functools import cache
from pathlib import Path

from homeassistant import components
import pytest

from .project import INTEGRATION, read_json, under
from .texts import RIGHT_TO_LEFT, flatten

LANGUAGES = sorted(
    path.stem
    for path in under(INTEGRATION / "translations", "*.json")
    if path.stem != "en"
)

# Where a word of ours stands, and where Home Assistant has it: a component and the place in its texts.
SAME = {
    "config.step.reauth_confirm.data.password": "rituals_perfume_genie.config.step.user.data.password",
    "config.step.reconfigure.data.email": "rituals_perfume_genie.config.step.user.data.email",
    "config.step.reconfigure.data.password": "rituals_perfume_genie.config.step.user.data.password",
    "config.step.reconfigure.data.url": "minecraft_server.config.step.user.data.address",
    "config.step.user.data.email": "rituals_perfume_genie.config.step.user.data.email",
    "config.step.user.data.password": "rituals_perfume_genie.config.step.user.data.password",
    "config.step.user.data.url": "minecraft_server.config.step.user.data.address",
    "entity.binary_sensor.online.name": "binary_sensor.entity_component.connectivity.name",
    "entity.sensor.address.name": "ituran.entity.sensor.address.name",
    "entity.sensor.battery_voltage.name": "traccar_server.entity.sensor.battery.name",
    "entity.sensor.last_update.name": "solarlog.entity.sensor.last_update.name",
    "entity.sensor.power_voltage.name": "traccar_server.entity.sensor.power.name",
}
# These begin with what Home Assistant says, and go on with what helps.
BEGINS = {
    "config.error.cannot_connect": "aseko_pool_live.config.error.cannot_connect",
    "config.error.invalid_auth": "aseko_pool_live.config.error.invalid_auth",
}
# These hold the word.
HOLDS = {"entity.sensor.total_distance.name": "sensor.entity_component.distance.name"}

# Newer releases of Home Assistant say it otherwise than older ones; ours is the newer word.
NEWER = {
    ("hu", "config.step.reconfigure.data.url"),
    ("hu", "config.step.user.data.url"),
    ("hu", "entity.sensor.battery_voltage.name"),
    ("ja", "entity.binary_sensor.online.name"),
    ("sr", "config.error.invalid_auth"),
}
# Home Assistant's word is for how far away something is, ours for how far a bike went.
OF_A_WAY = {
    (language, "entity.sensor.total_distance.name")
    for language in ("et", "fi", "pl", "sr", "sr-Latn", "sv", "vi")
}
# Home Assistant's word is for the address of a server, ours for where a bike stands.
OF_A_PLACE = {("ja", "entity.sensor.address.name")}
OTHERWISE = NEWER | OF_A_WAY | OF_A_PLACE


@cache
def texts_of(path: Path) -> dict[str, str]:
    """Return the texts of a file, or none if there is no such file."""
    return flatten(read_json(path)) if path.exists() else {}


def words(language: str, places: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return our word and Home Assistant's, by the place of ours, where both have one."""
    ours = texts_of(INTEGRATION / "translations" / f"{language}.json")
    folder = Path(components.__path__[0])
    found = {}
    for place, source in places.items():
        component, _, their_place = source.partition(".")
        theirs = texts_of(folder / component / "translations" / f"{language}.json")
        if (
            place in ours
            and their_place in theirs
            and (language, place) not in OTHERWISE
        ):
            found[place] = ours[place], theirs[their_place]
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_are_the_same(language: str) -> None:
    """What Home Assistant has a word for is called by it."""
    differ = {x: pair for x, pair in words(language, SAME).items() if len({*pair}) > 1}
    assert not differ


@pytest.mark.parametrize("language", LANGUAGES)
def test_failures_begin_with_what_home_assistant_says(language: str) -> None:
    """A failure that people know from elsewhere is recognised at once."""
    for place, (ours, theirs) in words(language, BEGINS).items():
        assert ours.lstrip(RIGHT_TO_LEFT).startswith(theirs), place


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_hold_the_word(language: str) -> None:
    """A name that is made of a word is made of Home Assistant's."""
    for place, (ours, theirs) in words(language, HOLDS).items():
        assert theirs.casefold() in ours.casefold(), place
