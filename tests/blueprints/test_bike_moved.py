"""Tests of the blueprint: bike moved."""

from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from tests.conftest import BLUE, RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .house import House, async_ride

ANN, BEN = "person.ann", "person.ben"
MOVED = ["Red bike started a ride"]


async def test_once_per_ride(
    hass: HomeAssistant, simulator: Simulator, house: House, phones: list[str]
) -> None:
    """Without riders it tells of each ride at once, and of no other bike."""
    ann = async_mock_service(hass, "notify", "mobile_app_ann_s_phone")
    await house.async_automate("bike_moved", RED, phones=phones, critical=True)
    await house.async_minutes(2)
    simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.003, motion=True)
    await house.async_minutes(1)
    assert house.titles == MOVED
    assert house.fired[0].startswith("Red bike is 0.3 km north of home, position from")
    await async_ride(simulator, house, by=0.01)
    await async_ride(simulator, house, by=0.01, tracker=BLUE)
    await async_ride(simulator, house, by=0.02)
    assert house.titles == 2 * MOVED
    assert ann[0].data["data"]["channel"] == "alarm_stream"


@pytest.mark.parametrize(
    ("before", "after", "fired"),
    [
        ("home", "home", MOVED),
        ("home", "not_home", []),
        ("not_home", "not_home", []),
        ("unknown", "unknown", MOVED),
    ],
)
async def test_riders(
    hass: HomeAssistant,
    simulator: Simulator,
    house: House,
    before: str,
    after: str,
    fired: list[str],
) -> None:
    """It says nothing while one of them is away, also if that is noticed later."""
    hass.states.async_set(ANN, "home")
    hass.states.async_set(BEN, before)
    await house.async_automate("bike_moved", RED, riders=[ANN, BEN])
    await house.async_minutes(2)
    simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.003, motion=True)
    await house.async_minutes(2)
    assert house.fired == []
    hass.states.async_set(BEN, after)
    await house.async_minutes(10)
    assert house.titles == fired
