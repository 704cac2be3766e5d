"""Whole nights as a phone tells them, in three languages.

`pytest --snapshot-update` writes the messages to `__snapshots__`, for people to read.
"""

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_load_integrations
import pytest
from syrupy.assertion import SnapshotAssertion

from .night import Night, nights

NIGHTS = """
A cat, *Guard again*, a theft after a vibration, *Guard again* under way, *It's me*.
until 22 = armed
report alarm=vibration, tap arm = armed
stand 3, now alarm=vibration, seconds 10, now meters=100 motion=yes speed=16, ride 1
tap arm = triggered
ride 12, stand 10 = armed
tap disarm = disarmed
stand 1, until 6, until 22 = armed

An outage, and its end; a tracker that is silent, and then offline.
until 22, stand 15, fail, wait 20, work, wait 76, offline red, wait 20

Home at 22:10 with a guard that was triggered at dusk: armed once it stands.
until 21, automate, wait 50, ride 10 = triggered
ride 8, report motion=yes speed=16, stand 10 = armed
"""


@pytest.mark.parametrize(("script", "told"), nights(NIGHTS))
@pytest.mark.parametrize("language", ["en", "de", "he"])
async def test_in_words(
    hass: HomeAssistant,
    night: Night,
    snapshot: SnapshotAssertion,
    language: str,
    script: str,
    told: list[str],
) -> None:
    """Each message, and the buttons that are below some."""
    hass.config.language = language
    await async_load_integrations(hass, {"bike_tracker"})
    await night.async_tell(f"night red, {script}")
    data = [push.data.get("data", {}) for push in night.pushes]
    buttons = {it["title"]: None for each in data for it in each.get("actions", ())}
    assert {"told": night.told, "buttons": [*buttons]} == snapshot


async def test_from_right_to_left(hass: HomeAssistant, night: Night) -> None:
    """Each part of the message keeps its own direction where the whole is read from the right."""
    hass.config.language = "he"
    await async_load_integrations(hass, {"bike_tracker"})
    await night.async_tell("night red, until 22, report meters=1112 motion=yes")
    said = night.pushes[0].data["message"]
    assert said.startswith("\u200f\u2068\u200f\u20681.1 km\u2069 ")
    assert said.endswith("\u2069, \u2068Roonstraße 12\u2069, \u206822:00\u2069")
