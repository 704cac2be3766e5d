"""What there is to try with the demo's bikes, as a person asks for it."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, datetime, timedelta

from aiohttp import ClientSession
import pytest

from tests.tools.simulator import (
    ControlError,
    ControlServer,
    Fleet,
    SimDevice,
    Simulator,
    SimulatorControl,
)
from tests.tools.simulator.fleet import CARRIED, MOMENT, STEP
from tests.tools.simulator.streets import HOME, metres
from tests.tools.simulator.tricks import NEW_NAME, OTHER_PASSWORD, Tricks

EMAIL = "demo@example.com"

type Try = Callable[[str], Awaitable[str]]


@pytest.fixture
async def simulator() -> AsyncGenerator[Simulator]:
    """A service with an account."""
    async with Simulator() as simulator:
        simulator.add_account(EMAIL, "demo")
        yield simulator


@pytest.fixture
def trackers() -> int:
    """The number of bikes; a test may ask for another one."""
    return 5


@pytest.fixture
def fleet(simulator: Simulator, trackers: int) -> Fleet:
    """The bikes, which are where they were after a while."""
    fleet = Fleet(simulator, trackers=trackers, seed=1, email=EMAIL)
    fleet.advance(300)
    return fleet


@pytest.fixture
async def control(
    simulator: Simulator, fleet: Fleet, session: ClientSession
) -> AsyncGenerator[SimulatorControl]:
    """Somebody who tries things."""
    tricks = Tricks(simulator, fleet, EMAIL)
    async with ControlServer(simulator, tricks=tricks) as server:
        yield SimulatorControl(session, server.url)


def named(simulator: Simulator, name: str) -> SimDevice:
    """Return the tracker with a name."""
    return next(x for x in simulator.devices.values() if x.name == name)


def far(simulator: Simulator, name: str) -> float:
    """Return how far from home a bike says it is, in metres."""
    position = named(simulator, name).position
    assert position is not None
    return metres(HOME, (position.latitude, position.longitude))


async def test_all_can_be_tried(control: SimulatorControl) -> None:
    """Each says what happened, to which bike, and what to watch."""
    for trick in await control.to_try():
        told = await control.try_(trick["name"])
        assert told == f"{trick['title']}. {trick['watch']}"


async def test_bikes_are_called_by_their_names(
    simulator: Simulator, control: SimulatorControl
) -> None:
    """By those they have now."""
    assert (await control.try_("leaves-home")).startswith("City bike leaves home.")
    simulator.rename(named(simulator, "City bike").unique_id, "Old bike")
    titles = [trick["title"] for trick in await control.to_try()]
    assert "Old bike leaves home" in titles
    assert "Tandem goes offline" in titles


def moves(simulator: Simulator, name: str) -> bool:
    """Return whether a bike says that it moves."""
    position = named(simulator, name).position
    assert position is not None
    return position.attributes["motion"] is True


async def test_leaves_home(
    simulator: Simulator, control: SimulatorControl, fleet: Fleet
) -> None:
    """Also while it rides it stands at home first, for three seconds, and is out of the zone then."""
    for seconds in range(20):
        await control.try_("leaves-home")
        fleet.advance(MOMENT - 1)
        assert far(simulator, "City bike") == 0
        assert not moves(simulator, "City bike")
        fleet.advance(1)
        assert far(simulator, "City bike") > 120
        assert moves(simulator, "City bike")
        fleet.advance(seconds)


async def test_rides(
    simulator: Simulator, control: SimulatorControl, fleet: Fleet
) -> None:
    """At once, and on if it rides already."""
    for _ in range(2):
        await control.try_("rides")
        position = named(simulator, "Gravel bike").position
        assert position is not None
        assert position.speed > 0
        assert position.attributes["motion"] is True
        fleet.advance(10)


async def test_a_ride_that_ends(
    simulator: Simulator, control: SimulatorControl, fleet: Fleet
) -> None:
    """The bike stands where it is, for as long as a ride takes to end and longer."""
    await control.try_("rides")
    fleet.advance(STEP)
    assert moves(simulator, "Gravel bike")
    arrived = far(simulator, "Gravel bike")
    await control.try_("arrives")
    fleet.advance(3600)
    assert not moves(simulator, "Gravel bike")
    assert far(simulator, "Gravel bike") == arrived


async def test_silent_for_a_day(
    simulator: Simulator, control: SimulatorControl, fleet: Fleet
) -> None:
    """And on, until it rides."""
    await control.try_("silent")
    fleet.advance(24 * 3600)
    bike = named(simulator, "Gravel bike")
    day = datetime.now(UTC) - timedelta(days=1)
    assert bike.last_update < day
    await control.try_("rides")
    assert bike.last_update > day


async def test_battery_and_alarms(
    simulator: Simulator, control: SimulatorControl
) -> None:
    """Are in the next report."""
    await control.try_("sos")
    mountain_bike = named(simulator, "Mountain bike")
    assert mountain_bike.position is not None
    assert mountain_bike.position.attributes["alarm"] == "sos"
    await control.try_("battery")
    await control.try_("alarm")
    low, towed = (
        named(simulator, "Long-tail bike").position,
        named(simulator, "Mountain bike").position,
    )
    assert low is not None
    assert low.attributes["batteryLevel"] == 15
    assert towed is not None
    assert towed.attributes["alarm"] == "tow"


async def test_stolen(
    simulator: Simulator, control: SimulatorControl, fleet: Fleet
) -> None:
    """A bike that is parked stays, until somebody rides it away, or carries it."""
    await control.try_("parked")
    bike = named(simulator, "Long-tail bike")

    def moved(seconds: float) -> tuple[float, list[bool]]:
        """Return how far it came by then, and whether it said that it moved."""
        assert bike.position is not None
        start, said = (bike.position.latitude, bike.position.longitude), []
        for _ in range(int(seconds / STEP)):
            fleet.advance(STEP)
            said.append(bike.position.attributes["motion"] is True)
        end = (bike.position.latitude, bike.position.longitude)
        return metres(start, end), said

    assert moved(3600) == (0, [False] * 360)
    await control.try_("cat")
    assert bike.position is not None
    assert bike.position.attributes["alarm"] == "vibration"
    reported = bike.position.id
    await control.try_("carried-off")
    off, said = moved(30)
    assert off == pytest.approx(CARRIED, abs=1)
    assert not any(said)
    assert bike.position.id >= reported + 3
    assert moved(600)[0] == 0
    await control.try_("stolen")
    assert all(moved(STEP)[1])


async def test_offline_until_it_is_back(
    simulator: Simulator, control: SimulatorControl, fleet: Fleet
) -> None:
    """A ride that begins meanwhile changes nothing."""

    def status() -> str:
        listed = simulator.listed("devices", EMAIL)
        return next(str(x["status"]) for x in listed if x["name"] == "Tandem")

    await control.try_("offline")
    fleet.advance(3600)
    assert status() == "offline"
    await control.try_("online")
    assert status() == "online"


async def test_the_service(simulator: Simulator, control: SimulatorControl) -> None:
    """Is down and up again, and takes another password."""
    await control.try_("server-down")
    assert set(simulator.faults.values()) == {"status-503"}
    await control.try_("server-up")
    assert not simulator.faults
    await control.try_("password")
    assert simulator.accounts[EMAIL].password == OTHER_PASSWORD
    await control.try_("password-back")
    assert simulator.accounts[EMAIL].password == "demo"


async def test_bikes_come_and_go(
    simulator: Simulator, control: SimulatorControl
) -> None:
    """A bike gets another name, is gone, is back; and there are new ones."""

    def names() -> set[str]:
        return {device.name for device in simulator.devices_of(EMAIL)}

    await control.try_("renamed")
    assert NEW_NAME in names()
    await control.try_("taken-away")
    assert "Mountain bike" not in names()
    await control.try_("given-back")
    assert "Mountain bike" in names()
    await control.try_("new")
    await control.try_("new")
    assert {"New bike", "New bike 2"} <= names()


@pytest.mark.parametrize("trackers", [1])
async def test_one_bike_does_it_all(control: SimulatorControl) -> None:
    """In a small fleet."""
    assert (await control.try_("offline")).startswith("City bike goes offline.")


@pytest.mark.parametrize("trackers", [0])
async def test_without_bikes(control: SimulatorControl) -> None:
    """There is nothing to try."""
    assert await control.to_try() == []
    with pytest.raises(ControlError, match="nothing to try is called rides"):
        await control.try_("rides")


async def test_what_is_not_there(control: SimulatorControl) -> None:
    """Is said."""
    with pytest.raises(ControlError, match="nothing to try is called fly"):
        await control.try_("fly")
