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


ANSWERS = """
Where are my bikes? -> Blue bike is at home; N4-ride is at home
where is the bike -> Blue bike is at home; N4-ride is at home
Where is the n4 ride? -> N4-ride is at home
where is n4ride -> N4-ride is at home
where is the BLUE BIKE -> Blue bike is at home
find my bike -> Blue bike is at home; N4-ride is at home
where's my bike -> Blue bike is at home; N4-ride is at home
where's the blue bike -> Blue bike is at home
find the blue bike -> Blue bike is at home
is the blue bike at home -> Blue bike is at home
is my bike guarded? -> Blue bike: Not guarded.; N4-ride: Not guarded.
is the blue bike guarded -> Blue bike: Not guarded.
guard my bike -> Blue bike: Guarded.; N4-ride: Guarded.
guard the blue bike -> Blue bike: Guarded.
guard the green bike -> No bike is named green bike. Your bikes: Blue bike, N4-ride.
where is the citi bike -> No bike is named citi bike. Your bikes: Blue bike, N4-ride.
"""


@pytest.mark.parametrize(
    ("asked", "answer"),
    [line.split(" -> ") for line in ANSWERS.strip().splitlines()],
)
async def test_answers(
    hass: HomeAssistant, simulator: Simulator, house: House, asked: str, answer: str
) -> None:
    """The bike that is named is told of, or guarded, or all; letters alone count."""
    for bike in (RED, BLUE):
        simulator.report(bike, motion=False)
    simulator.rename(RED, "N4-ride")
    await house.async_minutes(1)
    await house.async_automate("where_is_my_bike", RED, BLUE)
    said = await async_ask(hass, asked)
    assert [part for part in answer.split("; ") if part not in said] == []
    named = [name for name in ("Blue bike", "N4-ride") if name in said]
    assert named == [name for name in ("Blue bike", "N4-ride") if name in answer]


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


LANGUAGES = """
Czech | cs | Kde je moje kolo? | kde jsou naše kola | kde je moje {}
Danish | da | Hvor er cyklen? | hvor er vores cykler | hvor er {}
English | en | Where is my bike? | where are our bikes | where is {}
Dutch | nl | Waar is mijn fiets? | waar zijn de fietsen | waar is de {}
French | fr | Où est mon vélo ? | où sont nos vélos | où est {}
German | de | Wo ist mein Fahrrad? | wo sind unsere fahrräder | wo ist {}
Italian | it | Dove si trova la bici? | dove si trovano le mie bici | dove si trova la mia {}
Polish | pl | Gdzie jest mój rower? | gdzie są rowery | gdzie jest {}
Portuguese | pt | Onde está a minha bicicleta? | onde estão as bicicletas | onde está a {}
Spanish | es | ¿Dónde está mi bici? | dónde están las bicis | dónde está {}
Swedish | sv | Var är min cykel? | var är våra cyklar | var är {}
"""


@pytest.mark.parametrize(
    ("name", "language", "one", "all_bikes", "by_name"),
    [line.split(" | ") for line in LANGUAGES.strip().splitlines()],
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
    for question in (one, all_bikes, by_name.format("Blue Bike")):
        said = await async_ask(hass, question, language)
        assert "Blue bike" in said, question
        assert ("Red bike" in said) is ("Blue Bike" not in question), question


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
