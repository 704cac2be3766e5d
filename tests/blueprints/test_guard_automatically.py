"""Tests of the blueprint: guard automatically."""

from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
import pytest

from tests.conftest import BLUE, RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE

from .house import House

GUARD = "alarm_control_panel.red_bike_guard"
ANN, BEN = "person.ann", "person.ben"
FAR, NEAR = 0.01, 0.001
"""Degrees: a kilometre, and a hundred metres."""


class Street:
    """A street in which bikes stand and people go."""

    def __init__(self, hass: HomeAssistant, simulator: Simulator, house: House) -> None:
        """Begin at noon, with bikes that stand."""
        self.house = house
        self._hass = hass
        self._simulator = simulator

    @property
    def guard(self) -> str:
        """Return what the guard of the red bike is."""
        return self.house.state(GUARD)

    async def async_go(self, person: str, degrees: float) -> None:
        """Let somebody be that far away from the bikes."""
        where = {"latitude": DEFAULT_LATITUDE + degrees, "longitude": DEFAULT_LONGITUDE}
        self._hass.states.async_set(person, "not_home", where)
        await self.house.async_minutes(1)

    async def async_ride(self, *, moving: bool) -> None:
        """Let the red bike begin to move, or stop."""
        self._simulator.report(RED, motion=moving)
        await self.house.async_minutes(1)

    async def async_interrupt(self) -> None:
        """Let the service be down for a while, and Home Assistant restart."""
        self._simulator.fault("status-503")
        await self.house.async_minutes(3)
        self._simulator.fault(None)
        await self.house.async_minutes(10)
        await self.house.async_restart()
        await self.house.async_minutes(3)

    async def async_until(self, hour: int) -> None:
        """Let time pass until five minutes after an hour."""
        await self.house.async_until(hour)
        await self.house.async_minutes(5)


@pytest.fixture
async def street(hass: HomeAssistant, simulator: Simulator, house: House) -> Street:
    """Return the street, in which nobody was seen yet."""
    street = Street(hass, simulator, house)
    for bike in (RED, BLUE):
        simulator.report(bike, motion=False)
    await house.async_minutes(7)
    return street


async def async_automate(street: Street, *riders: str, **more: Any) -> None:
    """Make an automation of the blueprint, for both bikes."""
    await street.house.async_automate(
        "guard_automatically", RED, BLUE, riders=list(riders), **more
    )


async def test_at_night(street: Street) -> None:
    """It is armed in the evening and disarmed in the morning, each day."""
    await async_automate(street)
    for _ in range(2):
        await street.async_until(21)
        assert street.guard == "disarmed"
        await street.async_until(22)
        assert street.guard == "armed_away"
        assert street.house.state("alarm_control_panel.blue_bike_guard") == "armed_away"
        await street.async_until(5)
        assert street.guard == "armed_away"
        await street.async_until(6)
        assert street.guard == "disarmed"


async def test_disarmed_by_hand(street: Street) -> None:
    """It stays so until the next evening."""
    await async_automate(street)
    await street.async_until(22)
    await street.house.async_guard("red_bike", "disarm")
    await street.async_until(23)
    assert street.guard == "disarmed"
    await street.async_until(22)
    assert street.guard == "armed_away"


async def test_comes_home_late(street: Street) -> None:
    """A bike that moves in the evening is guarded once it has stood for a while."""
    await async_automate(street)
    await street.async_until(21)
    await street.async_ride(moving=True)
    await street.async_until(22)
    assert street.guard == "disarmed"
    await street.async_ride(moving=False)
    assert street.guard == "disarmed"
    await street.house.async_minutes(6)
    assert street.guard == "armed_away"


async def test_triggered_at_night(street: Street) -> None:
    """That is not hidden in the morning."""
    await async_automate(street)
    await street.async_until(22)
    await street.async_ride(moving=True)
    assert street.guard == "triggered"
    await street.async_until(6)
    assert street.guard == "triggered"


async def test_while_everyone_is_away(street: Street) -> None:
    """It is armed when the last one leaves it, and disarmed when the first one comes."""
    for person in (ANN, BEN):
        await street.async_go(person, 0)
    await async_automate(street, ANN, BEN)
    await street.async_go(ANN, FAR)
    assert street.guard == "disarmed"
    await street.async_go(BEN, NEAR)
    assert street.guard == "disarmed"
    await street.async_go(BEN, FAR)
    assert street.guard == "armed_away"
    await street.async_go(ANN, NEAR)
    assert street.guard == "disarmed"
    await street.async_go(ANN, FAR)
    assert street.guard == "armed_away"
    await street.async_until(22)
    await street.async_go(ANN, NEAR)
    assert street.guard == "armed_away"
    await street.async_until(6)
    assert street.guard == "disarmed"


async def test_comes_to_the_very_place(street: Street) -> None:
    """Who is where the bike is, to the metre, is not away from it."""
    await street.async_go(ANN, 0)
    await async_automate(street, ANN)
    await street.async_go(ANN, FAR)
    assert street.guard == "armed_away"
    await street.async_go(ANN, 0)
    assert street.guard == "disarmed"


async def test_disarmed_while_everyone_is_away(street: Street) -> None:
    """It stays so while nobody comes or goes, and however they move elsewhere."""
    await street.async_go(ANN, 0)
    await async_automate(street, ANN)
    await street.async_go(ANN, FAR)
    await street.house.async_guard("red_bike", "disarm")
    await street.async_go(ANN, 2 * FAR)
    assert street.guard == "disarmed"
    await street.async_go(ANN, 0)
    await street.async_go(ANN, FAR)
    assert street.guard == "armed_away"


async def test_rides_away(street: Street) -> None:
    """A bike that is ridden is not guarded, though its rider's phone is behind."""
    await street.async_go(ANN, 0)
    await async_automate(street, ANN)
    await street.async_ride(moving=True)
    await street.async_go(ANN, FAR)
    assert street.guard == "disarmed"
    await street.async_ride(moving=False)
    await street.async_go(ANN, 0)
    await street.async_go(ANN, FAR)
    assert street.guard == "disarmed"
    await street.house.async_minutes(6)
    assert street.guard == "armed_away"


async def test_places_that_are_not_known(hass: HomeAssistant, street: Street) -> None:
    """Somebody of whom nothing is known is nowhere near."""
    await street.async_go(BEN, 0)
    await async_automate(street, ANN, BEN)
    hass.states.async_set(ANN, "unknown")
    hass.states.async_set(ANN, "unavailable")
    await street.house.async_minutes(1)
    assert street.guard == "disarmed"
    await street.async_go(BEN, FAR)
    assert street.guard == "armed_away"
    await street.async_go(ANN, 0)
    assert street.guard == "armed_away"


async def test_how_far(street: Street) -> None:
    """A person chooses what is away."""
    await street.async_go(ANN, 0)
    await async_automate(street, ANN, distance=50)
    await street.async_go(ANN, NEAR)
    assert street.guard == "armed_away"


async def test_restart(
    street: Street, simulator: Simulator, freezer: FrozenDateTimeFactory
) -> None:
    """It goes on as before."""
    await async_automate(street)
    await street.async_until(22)
    await street.house.async_restart()
    simulator.report(RED, motion=False)
    await street.house.async_minutes(2)
    assert street.guard == "armed_away"
    await street.async_until(6)
    assert street.guard == "disarmed"


@pytest.mark.parametrize("down", ["server", "restart", "restart, server"])
async def test_down_when_the_night_began(
    street: Street, simulator: Simulator, down: str
) -> None:
    """It is armed as soon as both are there, once: a person may disarm it then."""
    await async_automate(street)
    await street.async_until(6)
    await street.async_until(21)
    if "server" in down:
        simulator.fault("status-503")
        await street.house.async_minutes(1)
        assert street.guard == "unavailable"
    if down == "restart":
        await street.house.async_restart(down=2 * 3600)
    else:
        await street.async_until(22)
    if down == "restart, server":
        await street.house.async_restart()
        await street.house.async_minutes(3)
    simulator.fault(None)
    await street.house.async_minutes(10)
    assert street.guard == "armed_away"

    await street.house.async_guard("red_bike", "disarm")
    await street.async_interrupt()
    assert street.guard == "disarmed"
    assert street.house.state("alarm_control_panel.blue_bike_guard") == "armed_away"
    await street.async_until(6)
    assert street.house.state("alarm_control_panel.blue_bike_guard") == "disarmed"


async def test_by_hand_at_night(street: Street) -> None:
    """What a person does at night stays, whatever is down meanwhile."""
    await async_automate(street)
    await street.async_until(21)
    await street.house.async_guard("red_bike")
    await street.async_until(22)
    await street.house.async_guard("red_bike", "disarm")
    await street.async_interrupt()
    assert street.guard == "disarmed"
    await street.house.async_guard("red_bike")
    await street.async_interrupt()
    assert street.guard == "armed_away"


async def test_by_hand_during_the_day(street: Street) -> None:
    """It stays armed while somebody is there, and another one comes."""
    for person in (ANN, BEN):
        await street.async_go(person, 0)
    await async_automate(street, ANN, BEN)
    await street.async_until(6)
    await street.house.async_guard("red_bike")
    await street.async_interrupt()
    assert street.guard == "armed_away"
    await street.async_go(ANN, FAR)
    await street.async_go(ANN, 0)
    assert street.guard == "armed_away"


async def test_stays_triggered(street: Street) -> None:
    """Also over an outage and a restart."""
    await async_automate(street)
    await street.async_until(22)
    await street.async_ride(moving=True)
    await street.async_ride(moving=False)
    await street.async_interrupt()
    assert street.guard == "triggered"
    await street.async_until(6)
    assert street.guard == "triggered"


@pytest.mark.parametrize("down", ["server", "restart"])
async def test_down_when_everyone_left(
    street: Street, simulator: Simulator, down: str
) -> None:
    """It is armed as soon as both are there."""
    await street.async_go(ANN, 0)
    await async_automate(street, ANN)
    await street.async_until(6)
    if down == "server":
        simulator.fault("status-503")
        await street.house.async_minutes(2)
        await street.async_go(ANN, FAR)
        assert street.guard == "unavailable"
        simulator.fault(None)
    else:
        await street.house.async_stop()
        await street.async_go(ANN, FAR)
        await street.house.async_start()
    await street.house.async_minutes(10)
    assert street.guard == "armed_away"


async def test_disarmed_while_away_over_an_outage(
    street: Street, simulator: Simulator
) -> None:
    """It stays so while nobody comes or goes."""
    await street.async_go(ANN, 0)
    await async_automate(street, ANN)
    await street.house.async_minutes(6)
    await street.async_go(ANN, FAR)
    await street.house.async_guard("red_bike", "disarm")
    simulator.fault("status-503")
    await street.house.async_minutes(3)
    simulator.fault(None)
    await street.house.async_minutes(10)
    assert street.guard == "disarmed"


@pytest.mark.parametrize("down", ["server", "restart"])
async def test_down_when_the_night_ended(
    street: Street, simulator: Simulator, down: str
) -> None:
    """It is disarmed as soon as both are there."""
    await async_automate(street)
    await street.async_until(22)
    await street.async_until(5)
    if down == "server":
        simulator.fault("status-503")
        await street.async_until(6)
        assert street.guard == "unavailable"
        simulator.fault(None)
    else:
        await street.house.async_restart(down=2 * 3600)
    await street.house.async_minutes(10)
    assert street.guard == "disarmed"


async def test_stands_again_during_an_outage(
    street: Street, simulator: Simulator
) -> None:
    """A bike that came home at night while the service was down is guarded after that."""
    await async_automate(street)
    await street.async_until(21)
    await street.async_ride(moving=True)
    await street.async_until(22)
    simulator.fault("status-503")
    await street.house.async_minutes(2)
    simulator.report(RED, motion=False)
    await street.house.async_minutes(9)
    simulator.fault(None)
    await street.house.async_minutes(12)
    assert street.guard == "armed_away"


async def test_people_on_their_ways(hass: HomeAssistant, street: Street) -> None:
    """It does not run each time that somebody moves."""
    await street.async_go(ANN, 0)
    await async_automate(street, ANN)
    await street.async_go(ANN, FAR)
    before = hass.states.get("automation.bikes")
    for degrees in (2 * FAR, 3 * FAR, 2 * FAR):
        await street.async_go(ANN, degrees)
    assert hass.states.get("automation.bikes") == before


@pytest.mark.parametrize(("hour", "degrees"), [(23, 0), (15, FAR)])
async def test_made_meanwhile(street: Street, hour: int, degrees: float) -> None:
    """It is armed at once, and not again when something else is saved."""
    await street.async_until(hour)
    await street.async_go(ANN, degrees)
    await async_automate(street, ANN)
    assert street.guard == "armed_away"
    await street.house.async_guard("red_bike", "disarm")
    await async_automate(street, ANN, BEN)
    assert street.guard == "disarmed"


async def test_made_while_somebody_is_there(street: Street) -> None:
    """Nothing happens by day before they leave."""
    await street.async_go(ANN, 0)
    await async_automate(street, ANN)
    assert street.guard == "disarmed"
