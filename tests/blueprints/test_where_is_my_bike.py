"""Tests of the blueprint: where is my bike?"""

from homeassistant.components.conversation import async_converse
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
import pytest

from tests.conftest import BLUE, RED
from tests.tools.simulator.server import Simulator

from .house import House


async def async_ask(hass: HomeAssistant, text: str) -> str:
    """Return what Home Assistant's own agent says."""
    for component in ("homeassistant", "conversation"):
        assert await async_setup_component(hass, component, {})
    result = await async_converse(hass, text, None, Context(), "en")
    said: str = result.response.speech["plain"]["speech"]
    return said


@pytest.mark.parametrize(
    ("asked", "told"),
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
    told: list[str],
) -> None:
    """The one that is named is told of, or all; letters alone count."""
    simulator.rename(RED, "N4-ride")
    await house.async_minutes(1)
    await house.async_automate("where_is_my_bike", RED, BLUE)
    said = await async_ask(hass, asked)
    assert [name for name in ("Blue", "N4-ride") if f"{name}" in said] == told
    assert said.count("at home") == len(told)


async def test_unknown_name(hass: HomeAssistant, house: House) -> None:
    """It is told that no bike is called so, and which there are."""
    await house.async_automate("where_is_my_bike", RED, BLUE)
    said = await async_ask(hass, "where is the citi bike")
    assert said == "No bike is called citi bike. There are: Blue bike, Red bike."


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
