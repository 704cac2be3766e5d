"""Whole nights as a phone tells them, in three languages.

`pytest --snapshot-update` writes the messages to `__snapshots__`, for people to read.
"""

from collections.abc import Iterator
from typing import Any

from homeassistant.components.persistent_notification import (
    DOMAIN as NOTIFICATION_DOMAIN,
)
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.helpers.translation import async_load_integrations
import pytest
from pytest_homeassistant_custom_component.common import MockUser, async_mock_service
from syrupy.assertion import SnapshotAssertion

from tests.blueprints.house import House
from tests.conftest import RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE

GUARD = "alarm_control_panel.red_bike_guard"
# A name, an address or a time in a text that runs from right to left.
_ISOLATES = str.maketrans("", "", "\u200f\u2068\u2069")


class Night:
    """A house at night, a thief, and the phone of somebody who sleeps."""

    def __init__(self, hass: HomeAssistant, simulator: Simulator, house: House) -> None:
        """Have a phone with the app."""
        self.hass, self.simulator, self.house = hass, simulator, house
        self.pushes = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
        async_mock_service(hass, NOTIFICATION_DOMAIN, "create")
        self.latitude = DEFAULT_LATITUDE
        self._read = 0

    @property
    def guard(self) -> str:
        """Return the state of the guard."""
        return self.house.state(GUARD)

    def report(self, *, is_there: bool = True, **more: Any) -> None:
        """Let the tracker report from where the bike is."""
        place = {"latitude": self.latitude, "address": "Roonstraße 12", "accuracy": 5}
        if is_there and self.latitude == DEFAULT_LATITUDE:
            place["address"] = "Am Bach 3"
        self.simulator.report(RED, **{"motion": False, **place, **more})

    async def async_poll(self) -> None:
        """Ask the service now, as it is asked with live updates."""
        [entry] = self.hass.config_entries.async_entries("bike_tracker")
        await entry.runtime_data.coordinator.async_refresh()
        await self.house.async_seconds(1)

    async def async_stand(self, minutes: int) -> None:
        """Let the bike stand, with a report each minute."""
        for _ in range(minutes):
            self.report()
            await self.house.async_minutes(1)

    async def async_ride(self, minutes: int) -> None:
        """Let somebody ride on, 500 meters a minute."""
        for _ in range(minutes):
            self.latitude += 0.0045
            self.report(motion=True, speed=16.0)
            await self.house.async_minutes(1)

    async def async_press(self, user: MockUser, number: int) -> None:
        """Press a button of the last message that has some."""
        pushes = [it for it in self.pushes if it.data.get("data", {}).get("actions")]
        action = pushes[-1].data["data"]["actions"][number]["action"]
        self.hass.bus.async_fire(
            "mobile_app_notification_action",
            {"action": action},
            context=Context(user_id=user.id),
        )
        await self.house.async_minutes(1)

    def told(self) -> list[str]:
        """Return the messages since the last time, as they can be read."""
        new, self._read = self.pushes[self._read :], len(self.pushes)
        return [line for push in new for line in _lines(push)]


def _lines(push: ServiceCall) -> Iterator[str]:
    if push.data["message"] == "clear_notification":
        yield "(the message is removed)"
        return
    data = push.data["data"]
    level = data.get("push", {}).get("interruption-level", "quiet")
    yield f"{push.data['title']} [{level}]".translate(_ISOLATES)
    for line in push.data["message"].splitlines():
        yield f"  {line}".translate(_ISOLATES)
    if data["actions"]:
        yield "  " + "".join(f"({it['title']}) " for it in data["actions"]).strip()


@pytest.fixture
async def night(
    hass: HomeAssistant, simulator: Simulator, house: House, phones: list[str]
) -> Night:
    """Return a house at noon with a night guard for the red bike and Ben's phone."""
    night = Night(hass, simulator, house)
    night.report()
    await house.async_minutes(1)
    await house.async_night_guard(RED, phones=phones[1:])
    return night


@pytest.fixture(params=["en", "de", "he"])
async def language(
    hass: HomeAssistant, night: Night, request: pytest.FixtureRequest
) -> str:
    """Have the house speak this language from now on."""
    hass.config.language = request.param
    await async_load_integrations(hass, {"bike_tracker"})
    return str(request.param)


@pytest.mark.usefixtures("language")
async def test_theft(
    night: Night, hass_admin_user: MockUser, snapshot: SnapshotAssertion
) -> None:
    """A cat, *Guard again*, a theft after a vibration, *Guard again* under way, *It's me*."""
    house, told = night.house, dict[str, list[str]]()
    await house.async_until(22)
    assert night.guard == "armed_away"
    told["22:00 night begins"] = night.told()

    night.report(attributes={"alarm": "vibration"})
    await house.async_minutes(1)
    told["22:01 a cat"] = night.told()
    await night.async_press(hass_admin_user, 1)
    assert night.guard == "armed_away"
    told["22:02 Guard again, while the bike stands"] = night.told()

    await night.async_stand(3)
    night.report(attributes={"alarm": "vibration"})
    await night.async_poll()
    await house.async_seconds(10)
    night.latitude += 0.0009
    night.report(motion=True, speed=16.0)
    await night.async_poll()
    told["22:06 a vibration, and a theft ten seconds later"] = night.told()
    await night.async_ride(1)
    await night.async_press(hass_admin_user, 1)
    assert night.guard == "triggered"
    told["22:08 Guard again, while the thief rides"] = night.told()
    await night.async_ride(12)
    told["22:20 the thief rides on"] = night.told()
    await night.async_stand(10)
    assert night.guard == "armed_away"
    told["22:30 the bike stands"] = night.told()
    await night.async_press(hass_admin_user, 0)
    assert night.guard == "disarmed"
    told["22:31 It's me"] = night.told()

    await night.async_stand(1)
    await house.async_until(6)
    await house.async_until(22)
    assert night.guard == "armed_away"
    told["22:00 the next night"] = night.told()
    assert told == snapshot


@pytest.mark.usefixtures("language")
async def test_outage(night: Night, snapshot: SnapshotAssertion) -> None:
    """An outage at night, Home Assistant's restart in it, and its end; a silent tracker."""
    house, told = night.house, dict[str, list[str]]()
    await house.async_until(22)
    await night.async_stand(15)
    night.simulator.fault("status-503")
    await house.async_minutes(14)
    assert night.told() == []
    await house.async_minutes(6)
    told["22:30 nothing was heard for 15 minutes"] = night.told()
    night.simulator.fault(None)
    await house.async_minutes(6)
    told["22:40 contact"] = night.told()
    await house.async_minutes(70)
    told["23:40 the tracker is silent"] = night.told()
    night.simulator.set_status(RED, "offline")
    await house.async_minutes(20)
    told["00:00 and offline"] = night.told()
    assert told == snapshot


async def test_outage_at_start(night: Night) -> None:
    """After a restart in an outage the phone is told once, and of its end."""
    house = night.house
    await house.async_until(22)
    await night.async_stand(2)
    night.simulator.fault("status-503")
    await house.async_minutes(5)
    await house.async_restart()
    await house.async_minutes(7)
    assert night.told() == []
    await house.async_minutes(20)
    title, text = night.told()
    assert title.startswith("No contact with the tracking service")
    assert (
        text
        == "  Red bike: guarded, but without contact since 22:02. A theft would go unnoticed."
    )
    night.simulator.fault(None)
    await house.async_minutes(10)
    assert night.guard == "armed_away"
    title, text = night.told()
    assert title.startswith("Contact with the tracking service again")
    assert text == "  Red bike: guarded as before."


@pytest.mark.usefixtures("language")
async def test_home_late(night: Night, snapshot: SnapshotAssertion) -> None:
    """Home at 22:10 with a guard that was triggered at dusk: armed once it stands."""
    house, told = night.house, dict[str, list[str]]()
    await house.async_until(21)
    await house.async_guard("red_bike")
    await house.async_minutes(50)
    await night.async_ride(5)
    told["21:55 off by bike, still guarded"] = night.told()
    await night.async_ride(5)
    assert night.guard == "triggered"
    told["22:00 night begins"] = night.told()
    for _ in range(10):
        night.latitude -= 0.009
        await night.async_ride(1)
    night.latitude = DEFAULT_LATITUDE
    told["22:10 home"] = night.told()
    await night.async_stand(10)
    assert night.guard == "armed_away"
    told["22:20 the bike stands"] = night.told()
    assert told == snapshot


@pytest.mark.parametrize("is_answered", [True, False])
async def test_breakfast(
    night: Night, hass_admin_user: MockUser, is_answered: bool
) -> None:
    """A cat, whether somebody tapped *Guard again* or not, rings no alarm at breakfast."""
    house = night.house
    await house.async_until(22)
    night.report(attributes={"alarm": "vibration"})
    await house.async_minutes(1)
    if is_answered:
        await night.async_press(hass_admin_user, 1)
    title, *_ = night.told()
    assert title == "Red bike: Vibration [critical]"
    await house.async_until(6)
    assert night.guard == "disarmed"
    await night.async_ride(10)
    await night.async_stand(8)
    # The message of the night is still there.
    assert night.told() == []


async def test_guard_again_in_the_morning(
    night: Night, hass_admin_user: MockUser
) -> None:
    """A thief who arrives after the night: the bike is guarded there, as was asked."""
    house = night.house
    await house.async_until(22)
    await house.async_until(5)
    await house.async_minutes(55)
    await night.async_ride(2)
    await night.async_press(hass_admin_user, 1)
    await night.async_ride(5)
    assert night.guard == "triggered"
    await night.async_stand(10)
    assert night.guard == "armed_away"
    assert night.told()[-3] == "Red bike has stopped [critical]"
    night.latitude += 0.009
    await night.async_ride(1)
    assert night.guard == "triggered"


async def test_thief_pulls_the_plug(night: Night) -> None:
    """A tracker that falls silent under way has not stopped: the title says since when."""
    house = night.house
    await house.async_until(22)
    await night.async_ride(3)
    night.simulator.set_status(RED, "offline")
    await house.async_minutes(40)
    title, text, _ = night.told()[-3:]
    assert title == "Red bike has been offline since 22:02 [critical]"
    assert text.startswith("  Red bike is at Roonstraße 12, 1.5 km north of home")
