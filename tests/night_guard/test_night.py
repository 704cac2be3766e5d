"""The night guard: it arms, disarms and tells, in a house with two bikes."""

from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.helpers.translation import async_load_integrations
import pytest
from pytest_homeassistant_custom_component.common import MockUser, async_mock_service

from tests.blueprints.house import House, async_ride
from tests.conftest import BLUE, RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE

ANN, BEN = "person.ann", "person.ben"
GUARD = "alarm_control_panel.red_bike_guard"
BLUE_GUARD = "alarm_control_panel.blue_bike_guard"
STREET = "Roonstraße"


@pytest.fixture
async def parked(simulator: Simulator, house: House) -> House:
    """Return the house at noon with two bikes that stand."""
    for bike in (RED, BLUE):
        simulator.report(bike, motion=False)
    await house.async_minutes(1)
    return house


@pytest.fixture
async def night(parked: House) -> House:
    """Return the house at night, with the red bike guarded."""
    await parked.async_night_guard(RED)
    await parked.async_until(22)
    assert parked.state(GUARD) == "armed_away"
    return parked


def be(hass: HomeAssistant, person: str, meters: float) -> None:
    """Let a person be so far from where the bikes are."""
    place = {
        "latitude": DEFAULT_LATITUDE + meters / 111_195,
        "longitude": DEFAULT_LONGITUDE,
    }
    hass.states.async_set(person, "home" if meters < 100 else "not_home", place)


def steal(simulator: Simulator, **more: Any) -> None:
    """Let the red bike be ridden away."""
    gone = {"latitude": DEFAULT_LATITUDE + 0.01, "motion": True, "address": STREET}
    simulator.report(RED, **{**gone, **more})


async def async_press(
    hass: HomeAssistant, user: MockUser, house: House, push: ServiceCall, number: int
) -> None:
    """Press a button of a message on a phone."""
    action = push.data["data"]["actions"][number]["action"]
    context = Context(user_id=user.id)
    event = "mobile_app_notification_action"
    hass.bus.async_fire(event, {"action": action}, context=context)
    await house.async_minutes(1)


async def async_by_hand(
    hass: HomeAssistant, user: MockUser, action: str, entity_id: str = GUARD
) -> None:
    """Arm or disarm as a person does on a dashboard."""
    await hass.services.async_call(
        "alarm_control_panel",
        f"alarm_{action}",
        {"entity_id": entity_id},
        blocking=True,
        context=Context(user_id=user.id),
    )


async def test_at_night(parked: House) -> None:
    """Bikes are guarded from evening to morning, by nothing more than being chosen."""
    await parked.async_night_guard(RED)
    assert parked.state(GUARD) == "disarmed"
    await parked.async_until(22)
    assert parked.state(GUARD) == "armed_away"
    assert parked.state(BLUE_GUARD) == "disarmed"
    await parked.async_until(6)
    assert parked.state(GUARD) == "disarmed"


async def test_no_night(parked: House) -> None:
    """The same time twice is none."""
    inputs = {"night_begins": "22:00:00", "night_ends": "22:00:00"}
    await parked.async_night_guard(RED, **inputs)
    await parked.async_until(22)
    await parked.async_until(23)
    assert parked.state(GUARD) == "disarmed"


async def test_made_at_night(parked: House) -> None:
    """It begins at once; and after a start in an outage with the first answer."""
    await parked.async_until(23)
    await parked.async_night_guard(RED)
    await parked.async_minutes(1)
    assert parked.state(GUARD) == "armed_away"


@pytest.mark.parametrize("is_started_in_outage", [False, True])
async def test_outage(
    simulator: Simulator, parked: House, is_started_in_outage: bool
) -> None:
    """A bike is armed with the first answer, where it is then, and disarmed in an outage.

    2.0 armed it where it was before the outage, and the first answer was a false alarm.
    """
    await parked.async_night_guard(RED)
    simulator.fault("status-503")
    await parked.async_minutes(2)
    if is_started_in_outage:
        await parked.async_restart()
    await parked.async_until(22)
    await parked.async_minutes(1)
    assert parked.state(GUARD) == "disarmed" or is_started_in_outage
    simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.01, motion=False)
    simulator.fault(None)
    await parked.async_minutes(15)
    assert parked.state(GUARD) == "armed_away"
    simulator.fault("status-503")
    await parked.async_until(6)
    assert parked.state(GUARD) == "disarmed"


async def test_everyone_away(hass: HomeAssistant, parked: House) -> None:
    """Bikes are guarded while nobody is near, by day too."""
    be(hass, ANN, 0)
    be(hass, BEN, 1000)
    await parked.async_night_guard(RED, riders=[ANN, BEN])
    for meters, state in ((150, "disarmed"), (250, "armed_away"), (0, "disarmed")):
        be(hass, ANN, meters)
        await parked.async_minutes(1)
        assert parked.state(GUARD) == state
    for person in (ANN, BEN):
        hass.states.async_set(person, "unknown")
    await parked.async_minutes(1)
    assert parked.state(GUARD) == "armed_away"


async def test_ridden_at_night(
    hass: HomeAssistant, simulator: Simulator, parked: House, hass_admin_user: MockUser
) -> None:
    """A bike that is ridden is guarded once it has stood, though disarmed by hand before."""
    await parked.async_night_guard(RED, night_begins="12:05:00")
    await async_by_hand(hass, hass_admin_user, "disarm")
    for part in range(6):
        latitude = DEFAULT_LATITUDE + 0.003 * part
        simulator.report(RED, latitude=latitude, motion=True)
        await parked.async_minutes(1)
    assert parked.state(GUARD) == "disarmed"
    for _ in range(8):
        simulator.report(RED, motion=False)
        await parked.async_minutes(1)
    assert parked.state(GUARD) == "armed_away"
    assert parked.fired == []


@pytest.mark.parametrize(
    ("happens", "title", "message"),
    [
        (
            {},
            "Red bike is being moved",
            "1.1 km from where it stood, Roonstraße, 22:00",
        ),
        (
            {"latitude": DEFAULT_LATITUDE + 0.003, "address": None},
            "Red bike is being moved",
            "330 m from where it stood, 22:00",
        ),
        (
            {"latitude": DEFAULT_LATITUDE, "address": None},
            "Red bike is being moved",
            "The bike moves, test home, 22:00",
        ),
        (
            {
                "motion": False,
                "latitude": DEFAULT_LATITUDE,
                "attributes": {"alarm": "shock"},
            },
            "Red bike: Vibration",
            "Alarm, Roonstraße, 22:00",
        ),
    ],
)
async def test_says_it_all(
    simulator: Simulator,
    night: House,
    happens: dict[str, Any],
    title: str,
    message: str,
) -> None:
    """What happened, why, where and when."""
    steal(simulator, **happens)
    await night.async_minutes(2)
    [notification] = night.notifications
    assert notification["title"] == title
    assert notification["message"] == message


async def test_from_right_to_left(
    hass: HomeAssistant, simulator: Simulator, night: House
) -> None:
    """Each part of the message keeps its own direction where the whole is read from the right."""
    hass.config.language = "he"
    await async_load_integrations(hass, {"bike_tracker"})
    steal(simulator)
    await night.async_minutes(2)
    [said] = night.fired
    assert said.startswith("\u200f\u2068\u200f\u20681.1 km\u2069 ")
    assert said.endswith(f"\u2069, \u2068{STREET}\u2069, \u206822:00\u2069")


async def test_it_s_me(
    hass: HomeAssistant,
    simulator: Simulator,
    night: House,
    phones: list[str],
    hass_admin_user: MockUser,
) -> None:
    """The bike is not guarded until it has stood, or the next night begins."""
    be(hass, ANN, 0)
    ann = async_mock_service(hass, "notify", "mobile_app_ann_s_phone")
    await night.async_night_guard(RED, phones=phones, riders=[ANN])
    simulator.report(RED, attributes={"alarm": "shock"})
    await night.async_minutes(1)
    await async_press(hass, hass_admin_user, night, ann[-1], 0)
    assert night.state(GUARD) == "disarmed"
    state = hass.states.get(GUARD)
    assert state
    assert state.attributes["changed_by"] is None
    be(hass, ANN, 500)
    await async_ride(simulator, night, by=0.02)
    assert night.state(GUARD) == "armed_away"
    assert len(night.fired) == 1


async def test_disarmed_by_hand(
    night: House, hass: HomeAssistant, hass_admin_user: MockUser
) -> None:
    """It stays so until the next night begins, also after a restart."""
    await async_by_hand(hass, hass_admin_user, "disarm")
    await night.async_restart()
    await night.async_minutes(2)
    assert night.state(GUARD) == "disarmed"
    await night.async_until(22)
    assert night.state(GUARD) == "armed_away"
    await night.async_until(6)
    assert night.state(GUARD) == "disarmed"


async def test_armed_by_hand(
    hass: HomeAssistant, parked: House, hass_admin_user: MockUser
) -> None:
    """It stays so while somebody is near."""
    be(hass, ANN, 0)
    await parked.async_night_guard(RED, riders=[ANN])
    await async_by_hand(hass, hass_admin_user, "arm_away")
    be(hass, ANN, 10)
    await parked.async_minutes(2)
    assert parked.state(GUARD) == "armed_away"
    await parked.async_until(6)
    assert parked.state(GUARD) == "disarmed"


async def test_guarded_again_at_3(
    hass: HomeAssistant,
    simulator: Simulator,
    night: House,
    phones: list[str],
    hass_admin_user: MockUser,
) -> None:
    """*Guard again* in a message is no arming by hand: the guard ends with the night."""
    ann = async_mock_service(hass, "notify", "mobile_app_ann_s_phone")
    await night.async_night_guard(RED, phones=phones)
    await night.async_until(3)
    simulator.report(RED, attributes={"alarm": "shock"})
    await night.async_minutes(1)
    [again] = [
        number
        for number, it in enumerate(ann[-1].data["data"]["actions"])
        if it["title"] == "Guard again"
    ]
    await async_press(hass, hass_admin_user, night, ann[-1], again)
    assert night.state(GUARD) == "armed_away"
    await night.async_until(6)
    assert night.state(GUARD) == "disarmed"


async def test_no_guard_at_night(
    hass: HomeAssistant, parked: House, hass_admin_user: MockUser
) -> None:
    """What was disarmed by hand stays so until the time at which a night would begin."""
    be(hass, ANN, 0)
    night_ends = "22:00:00"
    await parked.async_night_guard(RED, riders=[ANN], night_ends=night_ends)
    await async_by_hand(hass, hass_admin_user, "disarm")
    await parked.async_until(22)
    be(hass, ANN, 500)
    await parked.async_minutes(2)
    assert parked.state(GUARD) == "armed_away"


async def test_each_night_begins_anew(simulator: Simulator, night: House) -> None:
    """What is triggered stays so until the next night, and is armed anew then."""
    steal(simulator)
    await night.async_minutes(1)
    simulator.report(RED, motion=False)
    await night.async_minutes(40)
    await night.async_until(6)
    await night.async_restart()
    await night.async_until(21)
    assert night.state(GUARD) == "triggered"
    await night.async_until(22)
    assert night.state(GUARD) == "armed_away"


async def async_flee(simulator: Simulator, house: House, minutes: range) -> None:
    """Ride away for some minutes, a kilometer in each."""
    for minute in minutes:
        steal(simulator, latitude=DEFAULT_LATITUDE + 0.01 * minute)
        await house.async_minutes(1)


@pytest.mark.parametrize(("follow", "count"), [(True, 4), (False, 1)])
async def test_follow_it(
    simulator: Simulator, night: House, follow: bool, count: int
) -> None:
    """Every ten minutes where it is now is told, while that changes, until it is disarmed."""
    await night.async_night_guard(RED, follow=follow)
    await async_flee(simulator, night, range(1, 26))
    for _ in range(30):
        simulator.report(RED, motion=False)
        await night.async_minutes(1)
    assert len(night.fired) == count
    assert all(
        said.startswith("Red bike is at Roonstraße, ") for said in night.fired[1:]
    )
    tags = {each["notification_id"] for each in night.notifications}
    assert tags == {f"bike_tracker_guard_{night.device(RED)}"}
    await night.async_guard("red_bike", "disarm")
    await night.async_minutes(30)
    assert len(night.fired) == count
    assert len(night.gone) == 1


async def test_follow_it_by_its_own_minutes(simulator: Simulator, night: House) -> None:
    """The end of another guarded bike's ride tells no place of a moved one (defect 51)."""
    await night.async_night_guard(RED, BLUE)
    await async_flee(simulator, night, range(1, 5))
    count = len(night.fired)
    for minute in range(5, 15):
        latitude = DEFAULT_LATITUDE + 0.004 * (min(minute, 7) - 4)
        simulator.report(BLUE, latitude=latitude, motion=minute < 8)
        await async_flee(simulator, night, range(minute, minute + 1))
    told = night.fired[count:]
    assert len([it for it in told if it.startswith("Red bike is ")]) == 1
    assert len([it for it in told if it.startswith("Blue bike is ")]) == 1


async def test_moved_where_it_stands(simulator: Simulator, night: House) -> None:
    """Of a bike that was only shaken there is no more to tell than why."""
    for motion in (True, *([False] * 30)):
        simulator.report(RED, motion=motion)
        await night.async_minutes(1)
    assert night.fired == ["The bike moves, test home, 22:00"]


async def test_follow_it_after_a_restart(
    hass: HomeAssistant, simulator: Simulator, night: House, phones: list[str]
) -> None:
    """It is followed on, and the message goes from all phones once the guard is disarmed."""
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    await night.async_night_guard(RED, phones=phones)
    await async_flee(simulator, night, range(1, 2))
    await night.async_restart()
    await night.async_minutes(11)
    assert len(ben) == 1
    await async_flee(simulator, night, range(3, 16))
    said = [push.data["message"] for push in ben]
    assert said[0].startswith("1.1 km from where it stood")
    assert said[1].startswith("Red bike is at Roonstraße, ")
    await night.async_guard("red_bike", "disarm")
    await night.async_minutes(15)
    assert [push.data["message"] for push in ben] == [*said, "clear_notification"]


async def test_follow_it_through_a_reload(
    hass: HomeAssistant,
    simulator: Simulator,
    night: House,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """While its account is reloaded nothing is told, and nothing fails or is taken away."""
    await async_flee(simulator, night, range(1, 3))
    [entry] = hass.config_entries.async_entries("bike_tracker")
    await hass.config_entries.async_unload(entry.entry_id)
    await night.async_minutes(10)
    await hass.config_entries.async_setup(entry.entry_id)
    assert len(night.fired) == 1
    await async_flee(simulator, night, range(3, 12))
    assert len(night.fired) == 2
    assert night.gone == []
    assert "Error" not in caplog.text


async def async_set_back(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, hours: float
) -> None:
    """Set the clock back; here timers go by it, but polls go on all the same."""
    freezer.tick(-3600 * hours)
    [entry] = hass.config_entries.async_entries("bike_tracker")
    await entry.runtime_data.coordinator.async_refresh()


async def test_clock_set_back(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    simulator: Simulator,
    parked: House,
    hass_admin_user: MockUser,
) -> None:
    """A clock that was half a day ahead costs no night, and a moved bike is followed on."""
    freezer.tick(12 * 3600)
    await parked.async_minutes(1)
    await parked.async_night_guard(RED)
    await parked.async_minutes(1)
    await async_by_hand(hass, hass_admin_user, "disarm")
    await async_set_back(hass, freezer, 12)
    await parked.async_until(22)
    assert parked.state(GUARD) == "armed_away"
    await async_flee(simulator, parked, range(1, 3))
    await async_set_back(hass, freezer, 3)
    count = len(parked.fired)
    await async_flee(simulator, parked, range(3, 16))
    assert len(parked.fired) > count
