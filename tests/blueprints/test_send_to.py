"""Tests of whom the blueprints tell, and of what they tell without positions."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

from homeassistant.components.conversation import async_converse
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_mock_service,
)

from tests.conftest import BLUE, EMAIL, PASSWORD, RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .house import House

CHAT = "notify.chat"
MAP = "/map?entity_id=device_tracker.red_bike"


@pytest.fixture
def phones(hass: HomeAssistant) -> list[str]:
    """Return the devices of two phones with the app; one of them has another name by now."""
    entry = MockConfigEntry(domain="mobile_app")
    entry.add_to_hass(hass)
    devices = dr.async_get(hass)
    ids = [
        devices.async_get_or_create(
            config_entry_id=entry.entry_id,
            identifiers={("mobile_app", name)},
            name=name,
        ).id
        for name in ("Ann's phone", "Ben's phone")
    ]
    devices.async_update_device(ids[0], name_by_user="The old phone")
    return ids


def offline(simulator: Simulator) -> None:
    """Let the red bike go offline."""
    simulator.set_status(RED, "offline")


def silent(simulator: Simulator) -> None:
    """Let the red bike be heard of no more."""
    simulator.set_last_update(RED, dt_util.utcnow() - timedelta(days=2))


def moved(simulator: Simulator) -> None:
    """Let the red bike leave."""
    simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.01)


def low(simulator: Simulator) -> None:
    """Let the battery of the red bike fall."""
    simulator.report(RED, battery_level=5)


EACH = pytest.mark.parametrize(
    ("blueprint", "happen", "title"),
    [
        ("tracker_offline", offline, "Red bike is offline"),
        ("silent_tracker", silent, "Red bike is silent"),
        ("bike_moved", moved, "Red bike is being moved"),
        ("battery_low", low, "Battery of Red bike is low"),
    ],
)


async def let_happen(
    happen: Callable[[Simulator], None], simulator: Simulator, house: House
) -> None:
    """Let time pass before it happens, and until it is told."""
    simulator.touch([RED])
    await house.async_minutes(6)
    happen(simulator)
    await house.async_minutes(40)


@EACH
async def test_tells_phones_and_others(
    hass: HomeAssistant,
    simulator: Simulator,
    house: House,
    phones: list[str],
    blueprint: str,
    happen: Callable[[Simulator], None],
    title: str,
) -> None:
    """Whoever was chosen gets it, on a phone a tap on it opens the map; and Home Assistant shows it."""
    ann = async_mock_service(hass, "notify", "mobile_app_ann_s_phone")
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    chat = async_mock_service(hass, "notify", "send_message")
    await house.async_automate(blueprint, RED, phones=phones, others=[CHAT, "notify.b"])
    await let_happen(happen, simulator, house)

    assert house.told == [title]
    message = house.notifications[0]["message"]
    text = {"title": title, "message": message}
    for call in (*ann, *ben):
        assert {**call.data, "data": {}} == {**text, "data": {}}
        data = call.data["data"]
        assert data["tag"] == house.notifications[0]["notification_id"]
        assert (data["url"], data["clickAction"]) == (MAP, MAP)
        assert ("ttl" in data) is (blueprint == "bike_moved")
    assert len(ann) == len(ben) == 1
    assert [call.data for call in chat] == [
        {**text, "entity_id": [CHAT]},
        {**text, "entity_id": ["notify.b"]},
    ]


@EACH
@pytest.mark.parametrize(
    "name",
    [
        "Bob's_bike #2",
        "**[click](http://evil.example)** ![](http://evil.example/x.png)",
        "<a href='http://evil.example'>1. www.evil.example</a> &lt; a@evil.example \\ `x`",
        "# ~~Bike~~ | > - + = {{ 1 + 1 }}",
    ],
)
async def test_names_are_no_markdown(
    hass: HomeAssistant,
    simulator: Simulator,
    house: House,
    phones: list[str],
    blueprint: str,
    happen: Callable[[Simulator], None],
    title: str,
    name: str,
) -> None:
    """A name is shown as it is, on phones too; what it would link to is not."""
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    simulator.rename(RED, name)
    await house.async_automate(blueprint, RED, phones=phones[1:])
    await let_happen(happen, simulator, house)

    title = title.replace("Red bike", name)
    [notification], [call] = house.notifications, ben
    assert (notification["title"], call.data["title"]) == (title, title)
    assert name in notification["message"]
    assert notification["message"] == call.data["message"]


@EACH
async def test_nobody_to_tell(
    simulator: Simulator,
    house: House,
    caplog: pytest.LogCaptureFixture,
    blueprint: str,
    happen: Callable[[Simulator], None],
    title: str,
) -> None:
    """Where nothing takes messages, Home Assistant shows it, and nothing fails."""
    await house.async_automate(blueprint, RED)
    await let_happen(happen, simulator, house)

    assert house.told == [title]
    assert "Error" not in caplog.text


@EACH
async def test_one_that_fails(
    hass: HomeAssistant,
    simulator: Simulator,
    house: House,
    phones: list[str],
    blueprint: str,
    happen: Callable[[Simulator], None],
    title: str,
) -> None:
    """One that gets no message does not keep it from the next."""
    failed: list[ServiceCall] = []

    async def fail(call: ServiceCall) -> None:
        failed.append(call)
        raise HomeAssistantError("it is off")

    hass.services.async_register("notify", "send_message", fail)
    hass.services.async_register("notify", "mobile_app_ann_s_phone", fail)
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    await house.async_automate(
        blueprint, RED, phones=phones, others=[CHAT, "notify.second"]
    )
    await let_happen(happen, simulator, house)

    assert len(failed) == 3
    assert [call.data["title"] for call in ben] == [title]


@pytest.mark.parametrize("critical", [False, True])
@pytest.mark.parametrize(
    ("blueprint", "title", "buttons"),
    [
        ("alarm", "Red bike: Towed", []),
        ("bike_moved", "Red bike is being moved", []),
        ("guarded_bike_moves", "Alarm of Red bike", ["Disarm"]),
    ],
)
async def test_reaches_a_sleeping_phone(
    hass: HomeAssistant,
    simulator: Simulator,
    house: House,
    phones: list[str],
    blueprint: str,
    title: str,
    buttons: list[str],
    critical: bool,
) -> None:
    """A theft is told at once, if so chosen also where it is silent, and one tap shows where."""
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    simulator.report(RED, motion=False)
    await house.async_minutes(6)
    await house.async_guard("red_bike")
    await house.async_automate(blueprint, RED, phones=phones[1:], critical=critical)
    simulator.report(
        RED,
        latitude=DEFAULT_LATITUDE + 0.01,
        motion=True,
        attributes={"alarm": "tow"},
    )
    await house.async_minutes(2)

    [call] = ben
    assert call.data["title"] == title
    data = call.data["data"]
    assert data["tag"] == house.notifications[0]["notification_id"]
    assert (data["ttl"], data["priority"]) == (0, "high")
    assert (data["url"], data["clickAction"]) == (MAP, MAP)
    *others, show = data["actions"]
    assert show == {"action": "URI", "title": "Show on map", "uri": MAP}
    assert [button["title"] for button in others] == buttons
    level = "critical" if critical else "time-sensitive"
    assert data["push"]["interruption-level"] == level
    assert ("sound" in data["push"]) is critical
    assert data.get("channel") == ("alarm_stream" if critical else None)


async def test_back_online(
    hass: HomeAssistant, simulator: Simulator, house: House, phones: list[str]
) -> None:
    """That a tracker is back goes to the same."""
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    await house.async_automate("tracker_offline", RED, phones=phones[1:], minutes=5)
    await let_happen(offline, simulator, house)
    simulator.set_status(RED, "online")
    await house.async_minutes(2)

    assert [call.data["title"] for call in ben] == house.told
    assert house.told[1:] == ["Red bike is back online"]


@pytest.fixture
async def documented(
    request: pytest.FixtureRequest,
) -> AsyncIterator[Simulator]:
    """Return a service that has the documented call alone."""
    async with Simulator(kind="documented") as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        simulator.add_device(RED, name="Red bike", email=EMAIL)
        yield simulator


class TestDocumentedOnly:
    """What the documented interface tells is enough for offline and silent."""

    @pytest.fixture
    def simulator(self, documented: Simulator) -> Simulator:
        """Return the service without positions."""
        return documented

    @EACH
    async def test_told(
        self,
        simulator: Simulator,
        house: House,
        caplog: pytest.LogCaptureFixture,
        blueprint: str,
        happen: Callable[[Simulator], None],
        title: str,
    ) -> None:
        """Those that need a position say nothing, and do not fail."""
        await house.async_automate(blueprint, RED)
        await let_happen(happen, simulator, house)
        await house.async_restart()
        await house.async_minutes(10)

        needs_position = blueprint in {"bike_moved", "battery_low"}
        assert house.told == ([] if needs_position else [title])
        assert "Error" not in caplog.text


class TestAreasAndLabels:
    """Trackers are chosen by their area or label too, whatever else is there."""

    @pytest.fixture
    async def place(self, hass: HomeAssistant, house: House) -> dict[str, list[str]]:
        """Return an area and a label for the bikes, in which there is a phone too."""
        area = ar.async_get(hass).async_create("Shed")
        label = lr.async_get(hass).async_create("Bikes")
        entry = MockConfigEntry(domain="mobile_app")
        entry.add_to_hass(hass)
        registry = dr.async_get(hass)
        phone = registry.async_get_or_create(
            config_entry_id=entry.entry_id, identifiers={("mobile_app", "1")}
        )
        for kind in ("sensor", "device_tracker", "alarm_control_panel"):
            er.async_get(hass).async_get_or_create(
                kind,
                "mobile_app",
                "1",
                device_id=phone.id,
                original_device_class="battery",
            )
        red, blue = house.device(RED), house.device(BLUE)
        registry.async_update_device(red, area_id=area.id)
        registry.async_update_device(blue, labels={label.label_id})
        registry.async_update_device(phone.id, area_id=area.id, labels={label.label_id})
        return {"areas": [area.id], "labels": [label.label_id]}

    @EACH
    async def test_told(
        self,
        hass: HomeAssistant,
        simulator: Simulator,
        house: House,
        place: dict[str, list[str]],
        blueprint: str,
        happen: Callable[[Simulator], None],
        title: str,
    ) -> None:
        """What happens to bikes there is told, and not what happens to others."""
        await house.async_automate(blueprint, areas=place["areas"])
        await let_happen(happen, simulator, house)
        assert house.told == [title]

    @pytest.mark.parametrize(
        ("blueprint", "happen", "title"),
        [
            ("silent_tracker", silent, "Red bike is silent"),
            ("battery_low", low, "Battery of Red bike is low"),
        ],
    )
    @pytest.mark.parametrize("by", ["areas", "labels"])
    async def test_was_so_before(
        self,
        hass: HomeAssistant,
        simulator: Simulator,
        house: House,
        place: dict[str, list[str]],
        blueprint: str,
        happen: Callable[[Simulator], None],
        title: str,
        by: str,
    ) -> None:
        """What is so already when the automation is made is told as well."""
        await let_happen(happen, simulator, house)
        await house.async_automate(blueprint, **{by: place[by]})
        assert house.told == ([title] if by == "areas" else [])

    async def test_others_there(
        self, hass: HomeAssistant, house: House, place: dict[str, list[str]]
    ) -> None:
        """A phone that leaves, and whose battery is low, is no bike."""
        battery = {"device_class": "battery", "unit_of_measurement": "%"}
        at_home = {"in_zones": ["zone.home"]}
        for blueprint in ("bike_moved", "battery_low"):
            await house.async_automate(blueprint, **place)
            hass.states.async_set("sensor.mobile_app_1", "50", battery)
            hass.states.async_set("device_tracker.mobile_app_1", "home", at_home)
            await house.async_minutes(6)
            hass.states.async_set("sensor.mobile_app_1", "5", battery)
            hass.states.async_set(
                "device_tracker.mobile_app_1", "not_home", {"in_zones": []}
            )
            await house.async_minutes(10)
        assert house.told == []

    async def test_guarded(
        self, hass: HomeAssistant, house: House, place: dict[str, list[str]]
    ) -> None:
        """Bikes are guarded, and disarmed from a message, an alarm panel of others is not."""
        panel = "alarm_control_panel.mobile_app_1"
        hass.states.async_set(panel, "disarmed")
        await house.async_automate("guard_automatically", **place)
        await house.async_until(22)
        for bike in ("red", "blue"):
            assert house.state(f"alarm_control_panel.{bike}_bike_guard") == "armed_away"
        assert house.state(panel) == "disarmed"

        await house.async_automate("guarded_bike_moves", **place)
        action = f"bike_tracker_disarm_{house.device(BLUE)}"
        hass.bus.async_fire("mobile_app_notification_action", {"action": action})
        await house.async_minutes(1)
        assert house.state("alarm_control_panel.blue_bike_guard") == "disarmed"
        assert house.state("alarm_control_panel.red_bike_guard") == "armed_away"

    async def test_nothing_chosen(
        self, hass: HomeAssistant, house: House, caplog: pytest.LogCaptureFixture
    ) -> None:
        """An automation that watches nothing says so."""
        with pytest.raises(AssertionError):
            await house.async_automate("tracker_offline")
        assert "the target is empty" in caplog.text


@pytest.mark.parametrize("by", ["areas", "labels"])
class TestOneEntity:
    """An entity in an area, or with a label, stands for its tracker, as in targets."""

    @pytest.fixture
    def chosen(self, hass: HomeAssistant, house: House, by: str) -> dict[str, Any]:
        """Return what names an entity of the red bike, of which the device is elsewhere."""
        area = ar.async_get(hass).async_create("Shed")
        label = lr.async_get(hass).async_create("Bikes")
        er.async_get(hass).async_update_entity(
            "binary_sensor.red_bike_connectivity",
            area_id=area.id,
            labels={label.label_id},
        )
        return {by: [area.id if by == "areas" else label.label_id]}

    async def test_guarded_bike_moves(
        self, simulator: Simulator, house: House, chosen: dict[str, Any]
    ) -> None:
        """Of a theft is told."""
        await house.async_automate("guarded_bike_moves", **chosen)
        await house.async_guard("red_bike")
        simulator.report(RED, latitude=DEFAULT_LATITUDE + 0.01, motion=True)
        await house.async_minutes(1)
        assert house.told == ["Red bike is being moved"]

    async def test_guard_automatically(
        self, house: House, chosen: dict[str, Any]
    ) -> None:
        """That bike alone is guarded."""
        await house.async_automate("guard_automatically", **chosen)
        await house.async_until(22)
        assert house.state("alarm_control_panel.red_bike_guard") == "armed_away"
        assert house.state("alarm_control_panel.blue_bike_guard") == "disarmed"

    async def test_silent_tracker(
        self, simulator: Simulator, house: House, chosen: dict[str, Any]
    ) -> None:
        """What is so already when the automation is made is told as well."""
        silent(simulator)
        await house.async_minutes(1)
        await house.async_automate("silent_tracker", **chosen)
        await house.async_minutes(1)
        assert house.told == ["Red bike is silent"]

    async def test_where_is_my_bike(
        self, hass: HomeAssistant, house: House, chosen: dict[str, Any]
    ) -> None:
        """Where that bike is, is told."""
        for component in ("homeassistant", "conversation"):
            assert await async_setup_component(hass, component, {})
        await house.async_automate("where_is_my_bike", **chosen, answer="{{ name }}")
        said = await async_converse(hass, "where is my bike", None, Context(), "en")
        assert said.response.speech["plain"]["speech"] == "Red bike"
