"""Tests of the blueprint: where is my bike?"""

import re

from homeassistant.components.conversation import async_converse
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
import pytest

from tests.conftest import BLUE, EMAIL, RED
from tests.static.project import ROOT
from tests.tools.simulator.server import Simulator

from .house import House


async def async_ask(hass: HomeAssistant, text: str, language: str = "en") -> str:
    """Return what Home Assistant's own agent says."""
    for component in ("homeassistant", "conversation"):
        assert await async_setup_component(hass, component, {})
    result = await async_converse(hass, text, None, Context(), language)
    said: str = result.response.speech["plain"]["speech"]
    return said


@pytest.mark.parametrize(
    ("asked", "fired"),
    [
        ("Where are my bikes?", ["Blue", "N4-ride"]),
        ("where is the bike", ["Blue", "N4-ride"]),
        ("Where is the n4 ride?", ["N4-ride"]),
        ("where is n4ride", ["N4-ride"]),
        ("where is the BLUE BIKE", ["Blue"]),
    ],
)
async def test_by_name(
    hass: HomeAssistant,
    simulator: Simulator,
    house: House,
    asked: str,
    fired: list[str],
) -> None:
    """The one that is named is told of, or all; letters alone count."""
    simulator.rename(RED, "N4-ride")
    await house.async_minutes(1)
    await house.async_automate("where_is_my_bike", RED, BLUE)
    said = await async_ask(hass, asked)
    assert [name for name in ("Blue", "N4-ride") if f"{name}" in said] == fired
    assert said.count("at home") == len(fired)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("is my bike guarded?", "Blue bike: Not guarded. Red bike: Not guarded."),
        ("is the red bike guarded", "Red bike: Not guarded."),
        ("guard my bike", "Blue bike: Guarded. Red bike: Guarded."),
        ("guard the red bike", "Red bike: Guarded."),
        ("find my bike", "at home"),
        ("where's my bike", "at home"),
        ("where's the red bike", "Red bike is at home"),
        ("find the red bike", "Red bike is at home"),
        ("is the red bike at home", "Red bike is at home"),
        ("guard the green bike", "No bike"),
    ],
)
async def test_guard(
    hass: HomeAssistant, simulator: Simulator, house: House, asked: str, answer: str
) -> None:
    """Bikes are guarded by a sentence, and the answer says whether they are."""
    for bike in (RED, BLUE):
        simulator.report(bike, motion=False)
    await house.async_minutes(1)
    await house.async_automate("where_is_my_bike", RED, BLUE)
    assert answer in await async_ask(hass, asked)


async def test_five_bikes(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """Of many bikes the answer says only where each is."""
    more = [f"{number}" for number in range(3)]
    for number in more:
        simulator.add_device(number, name=f"Bike {number}", email=EMAIL)
    await house.async_minutes(2)
    await house.async_automate("where_is_my_bike", RED, BLUE, *more)
    names = ["Bike 0", "Bike 1", "Bike 2", "Blue bike", "Red bike"]
    for asked, answer in (
        ("where's my bike", "{} is at home."),
        ("find my bike", "{} is at home."),
        ("is my bike guarded", "{}: Not guarded."),
        ("guard my bike", "{}: Guarded."),
        ("are my bikes guarded", "{}: Guarded."),
    ):
        answers = " ".join(answer.format(name) for name in names)
        assert await async_ask(hass, asked) == answers


@pytest.mark.parametrize(
    ("name", "language", "one", "all_bikes", "by_name"),
    [
        ("Czech", "cs", "Kde je moje kolo?", "kde jsou naše kola", "kde je moje {}"),
        ("Danish", "da", "Hvor er cyklen?", "hvor er vores cykler", "hvor er {}"),
        ("Dutch", "nl", "Waar is mijn fiets?", "waar zijn de fietsen", "waar is de {}"),
        ("French", "fr", "Où est mon vélo ?", "où sont nos vélos", "où est {}"),
        (
            "German",
            "de",
            "Wo ist mein Fahrrad?",
            "wo sind unsere fahrräder",
            "wo ist {}",
        ),
        (
            "Italian",
            "it",
            "Dove si trova la bici?",
            "dove si trovano le mie bici",
            "dove si trova la mia {}",
        ),
        ("Polish", "pl", "Gdzie jest mój rower?", "gdzie są rowery", "gdzie jest {}"),
        (
            "Portuguese",
            "pt",
            "Onde está a minha bicicleta?",
            "onde estão as bicicletas",
            "onde está a {}",
        ),
        (
            "Spanish",
            "es",
            "¿Dónde está mi bici?",
            "dónde están las bicis",
            "dónde está {}",
        ),
        ("Swedish", "sv", "Var är min cykel?", "var är våra cyklar", "var är {}"),
    ],
)
async def test_languages(
    hass: HomeAssistant,
    house: House,
    name: str,
    language: str,
    one: str,
    all_bikes: str,
    by_name: str,
) -> None:
    """The questions that the documents have are understood."""
    text = (ROOT / "docs" / "automations.md").read_text()
    [line] = re.findall(rf"^- {name}: (.+)$", text, re.MULTILINE)
    sentences = re.findall("`(.+?)`", line)
    await house.async_automate("where_is_my_bike", RED, BLUE, sentences=sentences)
    for question in (one, all_bikes):
        said = await async_ask(hass, question, language)
        assert "Blue bike" in said, question
        assert "Red bike" in said, question
    said = await async_ask(hass, by_name.format("Blue Bike"), language)
    assert "Blue bike" in said
    assert "Red bike" not in said


async def test_unknown_name(hass: HomeAssistant, house: House) -> None:
    """It is told that no bike is called so, and which there are."""
    await house.async_automate("where_is_my_bike", RED, BLUE)
    said = await async_ask(hass, "where is the citi bike")
    assert said == "No bike is named citi bike. Your bikes: Blue bike, Red bike."


async def test_in_outage(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """What was known last is told, and that the service does not answer."""
    await house.async_automate("where_is_my_bike", RED)
    simulator.fault("status-503")
    await house.async_minutes(2)
    assert "does not answer" in await async_ask(hass, "where is my bike")


async def test_no_bike(hass: HomeAssistant, house: House) -> None:
    """Where no bike was chosen, it is told that."""
    await house.async_automate("where_is_my_bike", nothing="Choose one")
    assert await async_ask(hass, "where is my bike") == "Choose one"
