"""Our words are Home Assistant's words in each language."""

from functools import cache
from pathlib import Path

from homeassistant import components
import pytest

from .project import INTEGRATION, read_json, under
from .texts import RIGHT_TO_LEFT, flatten

OURS = {path.stem: path for path in under(INTEGRATION / "translations", "*.json")}
LANGUAGES = sorted(OURS.keys() - {"en"})

_ADDRESS = "minecraft_server.config.step.user.data.address"
_EMAIL = "rituals_perfume_genie.config.step.user.data.email"
_PASSWORD = "rituals_perfume_genie.config.step.user.data.password"
# The place of our text, and the component and place of Home Assistant's text.
SAME = {
    "config.step.reauth_confirm.data.password": _PASSWORD,
    "config.step.reconfigure.data.email": _EMAIL,
    "config.step.reconfigure.data.password": _PASSWORD,
    "config.step.reconfigure.data.url": _ADDRESS,
    "config.step.user.data.email": _EMAIL,
    "config.step.user.data.password": _PASSWORD,
    "config.step.user.data.url": _ADDRESS,
    "entity.binary_sensor.online.name": "binary_sensor.entity_component.connectivity.name",
    "entity.sensor.address.name": "ituran.entity.sensor.address.name",
    "entity.sensor.battery_voltage.name": "traccar_server.entity.sensor.battery.name",
    "entity.sensor.last_update.name": "solarlog.entity.sensor.last_update.name",
    "entity.sensor.power_voltage.name": "traccar_server.entity.sensor.power.name",
}
BEGINS = {
    "config.error.cannot_connect": "aseko_pool_live.config.error.cannot_connect",
    "config.error.invalid_auth": "aseko_pool_live.config.error.invalid_auth",
}
CONTAINS = {
    "entity.sensor.total_distance.name": "sensor.entity_component.distance.name"
}
EXCEPTIONS = {
    # We use the word of newer releases.
    ("hu", "config.step.reconfigure.data.url"),
    ("hu", "config.step.user.data.url"),
    ("hu", "entity.sensor.battery_voltage.name"),
    ("ja", "entity.binary_sensor.online.name"),
    ("sr", "config.error.invalid_auth"),
    # Home Assistant's word is the address of a server, not of a place.
    ("ja", "entity.sensor.address.name"),
    # Home Assistant's word is the distance to a thing, not of a ride.
    *(
        (language, "entity.sensor.total_distance.name")
        for language in ("et", "fi", "pl", "sr", "sr-Latn", "sv", "vi")
    ),
}


@cache
def texts_of(path: Path) -> dict[str, str]:
    """Return the texts of a file, or none if it does not exist."""
    return flatten(read_json(path)) if path.exists() else {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_words(language: str) -> None:
    """A text is, begins with or contains Home Assistant's text."""
    ours, folder = texts_of(OURS[language]), Path(components.__path__[0])
    for place, source in (SAME | BEGINS | CONTAINS).items():
        component, _, key = source.partition(".")
        theirs = texts_of(folder / component / "translations" / f"{language}.json")
        if place not in ours or key not in theirs or (language, place) in EXCEPTIONS:
            continue
        text, known = ours[place], theirs[key]
        if place in SAME:
            assert text == known, place
        elif place in BEGINS:
            assert text.lstrip(RIGHT_TO_LEFT).startswith(known), place
        else:
            assert known.casefold() in text.casefold(), place
