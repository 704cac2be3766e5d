"""Tests of the blueprint: bike moved."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
import pytest

from tests.conftest import BLUE, RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .conftest import WORK_LATITUDE
from .house import House

HOME = DEFAULT_LATITUDE
AWAY = HOME + 0.01
MOVED = ["Red bike is being moved"]
ANN = "person.ann"
BEN = "person.ben"


@pytest.fixture
async def watched(house: House) -> House:
    """Return the house with the red bike watched, with no more than is required."""
    await house.async_automate("bike_moved", RED)
    await house.async_minutes(10)
    return house


@pytest.fixture
async def shared(hass: HomeAssistant, house: House) -> House:
    """Return the house with the red bike watched, which Ann and Ben may ride."""
    for person in (ANN, BEN):
        be(hass, person, "home", "zone.home")
    await house.async_automate("bike_moved", RED, riders=[ANN, BEN])
    await house.async_minutes(10)
    return house


def be(hass: HomeAssistant, person: str, state: str, *zones: str) -> None:
    """Let a person be somewhere."""
    hass.states.async_set(person, state, {"in_zones": list(zones)})


async def ride(
    simulator: Simulator, house: House, *reports: tuple[float, bool]
) -> None:
    """Have the red bike report these latitudes and movements, one a minute."""
    for latitude, motion in reports:
        simulator.report(RED, latitude=latitude, motion=motion)
        await house.async_minutes(1)


async def test_leaves_its_zone(simulator: Simulator, watched: House) -> None:
    """It tells once that a bike left its zone, however long the ride."""
    await ride(simulator, watched, (AWAY, False))
    assert watched.notifications == [
        {
            "title": "Red bike is being moved",
            "message": "Red bike left test home.",
            "notification_id": f"bike_tracker_moved_{watched.device(RED)}",
        }
    ]
    await ride(simulator, watched, *[(AWAY + n / 100, False) for n in range(1, 30)])
    assert watched.told == MOVED


async def test_reports_movement(simulator: Simulator, watched: House) -> None:
    """It tells once that a bike is moving."""
    await ride(simulator, watched, *[(HOME, True)] * 10)
    assert watched.told == MOVED
    assert watched.notifications[0]["message"] == "Red bike is moving."


@pytest.mark.parametrize(
    "reports",
    [
        [(AWAY, True)],
        [(HOME, True), (AWAY, True)],
        [(HOME, True), (HOME, True), (HOME, True), (AWAY, True)],
        [(HOME, True), (HOME, False), (AWAY, False)],
        [(AWAY, False), (AWAY, True)],
        [(AWAY, False), (AWAY, False), (AWAY, True)],
        [(AWAY, True), (AWAY, False), (AWAY, True), (AWAY, False), (AWAY, True)],
        [(HOME, True), (HOME, False), (HOME, False), (HOME, True)],
        [(AWAY, False), (HOME, False), (AWAY, False), (HOME, False), (AWAY, False)],
        [(AWAY, True), (HOME, False), (AWAY, True)],
    ],
)
async def test_once_per_ride(
    simulator: Simulator, watched: House, reports: list[tuple[float, bool]]
) -> None:
    """It tells once of a ride, whatever belongs to it."""
    await ride(simulator, watched, *reports)
    await watched.async_minutes(10)
    assert watched.told == MOVED


async def test_next_ride(simulator: Simulator, watched: House) -> None:
    """It tells of a ride that begins when the one before is over."""
    await ride(simulator, watched, (AWAY, True), (AWAY, False))
    await watched.async_minutes(10)
    await ride(simulator, watched, (AWAY + 0.01, True), (HOME, False))
    assert watched.told == 2 * MOVED
    await watched.async_minutes(10)
    await ride(simulator, watched, (AWAY, False))
    assert watched.told == 3 * MOVED


async def test_movement_that_never_ended(simulator: Simulator, watched: House) -> None:
    """It tells that a bike left its zone though movement was all it ever reported."""
    await ride(simulator, watched, (HOME, True))
    await watched.async_minutes(30)
    await ride(simulator, watched, (AWAY, True))
    assert watched.told == 2 * MOVED


async def test_begins_elsewhere(simulator: Simulator, watched: House) -> None:
    """It tells of a ride from where the bike is not usually, into another zone."""
    await ride(simulator, watched, (AWAY, False))
    await watched.async_minutes(30)
    await ride(simulator, watched, (WORK_LATITUDE, True))
    assert watched.told == 2 * MOVED


async def test_last_word(simulator: Simulator, watched: House) -> None:
    """It says nothing of a movement that is not news after an outage or a restart."""
    await ride(simulator, watched, (HOME, True))
    await watched.async_minutes(10)
    simulator.fault("status-500")
    await watched.async_minutes(10)
    simulator.fault(None)
    await watched.async_minutes(20)
    await watched.async_restart()
    await watched.async_minutes(10)
    assert watched.told == MOVED


async def test_comes_home(simulator: Simulator, watched: House) -> None:
    """It says nothing of a bike that comes into its zone."""
    await ride(simulator, watched, (AWAY, False))
    await watched.async_minutes(30)
    await ride(simulator, watched, (HOME, False))
    assert watched.told == MOVED


async def test_in_its_zone(simulator: Simulator, watched: House) -> None:
    """It says nothing of a parked bike whose position is not quite the same."""
    await ride(simulator, watched, *[(HOME + n / 1e5, False) for n in range(20)])
    assert watched.told == []


async def test_only_chosen_trackers(simulator: Simulator, watched: House) -> None:
    """It says nothing of a bike that was not chosen."""
    simulator.report(BLUE, latitude=AWAY, motion=True)
    await watched.async_minutes(5)
    assert watched.told == []


@pytest.mark.parametrize("motion", [False, True])
@pytest.mark.parametrize("apart", [0, 1, 2, 7])
async def test_several_bikes(
    simulator: Simulator, house: House, apart: int, motion: bool
) -> None:
    """It tells of each bike once, together or one after the other."""
    await house.async_automate("bike_moved", RED, BLUE)
    await house.async_minutes(10)
    simulator.report(RED, latitude=AWAY, motion=motion)
    await house.async_minutes(apart)
    simulator.report(BLUE, latitude=AWAY, motion=motion)
    await house.async_minutes(10)
    assert sorted(house.told) == ["Blue bike is being moved", "Red bike is being moved"]


@pytest.mark.parametrize("apart", [0, 1, 2, 7])
async def test_several_bikes_in_their_zone(
    simulator: Simulator, house: House, apart: int
) -> None:
    """It tells of each bike that moves once."""
    await house.async_automate("bike_moved", RED, BLUE)
    await house.async_minutes(10)
    simulator.report(RED, motion=True)
    await house.async_minutes(apart)
    simulator.report(BLUE, motion=True)
    await house.async_minutes(10)
    assert sorted(house.told) == ["Blue bike is being moved", "Red bike is being moved"]


async def test_ride_beside_another(simulator: Simulator, house: House) -> None:
    """It tells of a ride that begins in the poll in which another one goes on."""
    await house.async_automate("bike_moved", RED, BLUE)
    await house.async_minutes(10)
    await ride(simulator, house, (HOME, True), (HOME, False))
    simulator.report(BLUE, motion=True)
    await ride(simulator, house, (HOME, True))
    assert house.told.count("Blue bike is being moved") == 1


async def test_nobody_is_away(simulator: Simulator, shared: House) -> None:
    """It tells when all riders are at home, after it waited for one to leave."""
    await ride(simulator, shared, (HOME, True), *[(AWAY, True)] * 4)
    assert shared.told == []
    await ride(simulator, shared, *[(AWAY, True)] * 10)
    assert shared.told == MOVED
    assert shared.notifications[0]["message"] == (
        "Red bike is moving. Nobody who may ride it is away."
    )


async def test_rider_is_away(
    hass: HomeAssistant, simulator: Simulator, shared: House
) -> None:
    """It says nothing of a ride while one who may ride the bike is away."""
    be(hass, BEN, "not_home")
    await ride(simulator, shared, (HOME, True), *[(AWAY, True)] * 10)
    assert shared.told == []


async def test_rider_leaves_later(
    hass: HomeAssistant, simulator: Simulator, shared: House
) -> None:
    """It says nothing when a phone notices a little later that its rider left."""
    await ride(simulator, shared, (HOME, True), (AWAY, True), (AWAY, True))
    be(hass, ANN, "not_home")
    await ride(simulator, shared, *[(AWAY, True)] * 10)
    assert shared.told == []


async def test_rider_comes_home(
    hass: HomeAssistant, simulator: Simulator, shared: House
) -> None:
    """It says nothing when a rider is at home a little before the ride is over."""
    be(hass, ANN, "not_home")
    await ride(simulator, shared, (HOME, True), *[(AWAY, True)] * 10)
    be(hass, ANN, "home", "zone.home")
    await ride(
        simulator,
        shared,
        (AWAY, False),
        (AWAY, True),
        (HOME, True),
        (HOME, False),
        (HOME, True),
        (HOME, False),
    )
    await shared.async_minutes(10)
    assert shared.told == []


async def test_leaves_after_rider_came_home(
    hass: HomeAssistant, simulator: Simulator, shared: House
) -> None:
    """It tells of a bike that leaves when the rider, who was away, is at home."""
    be(hass, BEN, "not_home")
    await ride(simulator, shared, (HOME, True))
    be(hass, BEN, "home", "zone.home")
    await ride(simulator, shared, *[(AWAY, True)] * 7)
    assert shared.told == MOVED


async def test_without_waiting(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """It tells at once when nobody shall be waited for."""
    be(hass, ANN, "home", "zone.home")
    await house.async_automate("bike_moved", RED, riders=[ANN], patience=0)
    await house.async_minutes(10)
    await ride(simulator, house, (AWAY, True))
    assert house.told == MOVED


@pytest.mark.parametrize("state", ["unknown", "unavailable"])
async def test_nobody_knows_where_riders_are(
    hass: HomeAssistant, simulator: Simulator, shared: House, state: str
) -> None:
    """It does not take a rider whose place is unknown for one who is away."""
    be(hass, ANN, state)
    hass.states.async_remove(BEN)
    await ride(simulator, shared, *[(AWAY, True)] * 10)
    assert shared.told == MOVED


@pytest.mark.parametrize(
    ("state", "zones", "told"),
    [
        ("Work", ["zone.work"], MOVED),
        ("Desk", ["zone.desk", "zone.work"], MOVED),
        ("home", ["zone.home"], MOVED),
        ("Garage", ["zone.garage", "zone.home"], MOVED),
        ("Café", ["zone.cafe"], []),
        ("not_home", [], []),
    ],
)
async def test_another_zone(
    hass: HomeAssistant,
    simulator: Simulator,
    house: House,
    state: str,
    zones: list[str],
    told: list[str],
) -> None:
    """It takes a rider at home or in the bike's zone for one who is not away."""
    be(hass, ANN, state, *zones)
    simulator.report(RED, latitude=WORK_LATITUDE)
    await house.async_minutes(2)
    await house.async_automate("bike_moved", RED, riders=[ANN], zone="zone.work")
    await house.async_minutes(10)
    await ride(simulator, house, *[(AWAY, False)] * 7)
    assert house.told == told


async def test_outage_and_restart(simulator: Simulator, watched: House) -> None:
    """It says nothing because of an outage or a restart."""
    simulator.fault("status-500")
    await watched.async_minutes(10)
    simulator.fault(None)
    await watched.async_minutes(20)
    await watched.async_restart()
    await watched.async_minutes(10)
    assert watched.told == []


async def test_outage_and_restart_elsewhere(
    simulator: Simulator, watched: House
) -> None:
    """It says nothing of a bike that moved before an outage or a restart."""
    await ride(simulator, watched, (AWAY, True))
    simulator.fault("status-500")
    await watched.async_minutes(10)
    simulator.fault(None)
    await watched.async_minutes(20)
    await watched.async_restart()
    await watched.async_minutes(10)
    assert watched.told == MOVED


async def test_left_during_outage(simulator: Simulator, watched: House) -> None:
    """It tells that a bike left while the server could not be reached."""
    simulator.fault("status-500")
    await watched.async_minutes(5)
    simulator.report(RED, latitude=AWAY, motion=True)
    await watched.async_minutes(5)
    simulator.fault(None)
    await watched.async_minutes(20)
    assert watched.told == MOVED
    assert watched.notifications[0]["message"] == "Red bike left test home."


async def test_left_while_down(simulator: Simulator, watched: House) -> None:
    """It tells that a bike left while Home Assistant was down."""
    simulator.report(RED, latitude=AWAY, motion=True)
    await watched.async_restart(down=3600)
    await watched.async_minutes(10)
    assert watched.told == MOVED


async def test_without_positions(simulator: Simulator, watched: House) -> None:
    """It says nothing of a bike when the service hands out no positions any more."""
    simulator.fault("status-404", path="positions")
    simulator.report(RED, latitude=AWAY, motion=True)
    await watched.async_minutes(10)
    assert watched.told == []


async def test_removed_tracker(
    hass: HomeAssistant, simulator: Simulator, house: House
) -> None:
    """It still watches the others when a tracker was removed."""
    await house.async_automate("bike_moved", RED, BLUE)
    simulator.delete_device(RED)
    dr.async_get(hass).async_remove_device(house.device(RED))
    await house.async_minutes(5)
    simulator.report(BLUE, motion=True)
    await house.async_minutes(20)
    simulator.report(BLUE, latitude=AWAY, motion=False)
    await house.async_minutes(1)
    assert house.told == 2 * ["Blue bike is being moved"]


async def test_without_connectivity(
    hass: HomeAssistant, simulator: Simulator, watched: House
) -> None:
    """It tells of a bike of which somebody switched off that entity."""
    er.async_get(hass).async_update_entity(
        "binary_sensor.red_bike_connectivity",
        disabled_by=er.RegistryEntryDisabler.USER,
    )
    await watched.async_minutes(1)
    await ride(simulator, watched, (HOME, True), (HOME, True))
    assert watched.told == MOVED
