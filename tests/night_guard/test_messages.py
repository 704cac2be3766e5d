"""Messages about a bike."""

from typing import Any

from homeassistant.components.persistent_notification import (
    DOMAIN as NOTIFICATION_DOMAIN,
)
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceValidationError,
    Unauthorized,
)
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_mock_service,
)

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import RED

CHAT = "notify.chat"
GUARD = "alarm_control_panel.red_bike_guard"
MAP = "/map?entity_id=device_tracker.red_bike"


@pytest.fixture
def bike(hass: HomeAssistant, setup: MockConfigEntry) -> str:
    """Return the device of a bike."""
    device = dr.async_get(hass).async_get_device_by_identifier(
        (DOMAIN, RED), setup.entry_id
    )
    assert device
    return device.id


async def async_send(hass: HomeAssistant, **data: Any) -> None:
    """Send a message."""
    await hass.services.async_call(DOMAIN, "send_message", data, blocking=True)


async def test_everywhere(
    hass: HomeAssistant, bike: str, phones: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Phones get it, others, and Home Assistant, each once; and what takes it away."""
    ann = async_mock_service(hass, "notify", "mobile_app_ann_s_phone")
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    chat = async_mock_service(hass, "notify", "send_message")
    shown = async_mock_service(hass, NOTIFICATION_DOMAIN, "create")
    gone = async_mock_service(hass, NOTIFICATION_DOMAIN, "dismiss")
    to = {"device_id": bike, "others": [CHAT], "tag": "test"}
    to["phones"] = [*phones, "removed"]
    await async_send(hass, message="It is _here_", **to)
    assert "No message to the phone removed: it is gone" in caplog.text
    tag = f"bike_tracker_test_{bike}"
    for [push] in (ann, ben):
        assert push.data == {
            "title": "Red bike",
            "message": "It is _here_",
            "data": {"tag": tag, "url": MAP, "clickAction": MAP, "actions": []},
        }
    [call] = chat
    assert call.data["entity_id"] == CHAT
    assert call.data["message"] == "It is _here_"
    [call] = shown
    assert call.data["notification_id"] == tag
    assert call.data["message"] == r"It is \_here\_"

    await async_send(hass, **to)
    for pushes in (ann, ben):
        assert pushes[1].data == {"message": "clear_notification", "data": {"tag": tag}}
    assert len(chat) == len(shown) == 1
    assert [call.data for call in gone] == [{"notification_id": tag}]

    await async_send(hass, device_id=bike, message="1", in_home_assistant=False)
    assert len(shown) == 1


@pytest.mark.parametrize(
    ("how", "level"), [("urgent", "time-sensitive"), ("critical", "critical")]
)
async def test_phone_that_sleeps(
    hass: HomeAssistant, bike: str, phones: list[str], how: str, level: str
) -> None:
    """It is woken, also where it is muted if that was chosen; buttons say what they do."""
    er.async_get(hass).async_remove("device_tracker.red_bike")
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    buttons = {"arm_button": "Again", "disarm_button": "Enough", "map_button": "Where"}
    to = {"device_id": bike, "phones": phones[1:], "title": "Theft", how: True}
    await async_send(hass, message="Gone", **to, **buttons)
    [push] = ben
    assert push.data["title"] == "Theft"
    data = push.data["data"]
    assert (data["ttl"], data["priority"]) == (0, "high")
    assert data["push"]["interruption-level"] == level
    assert data.get("channel") == ("alarm_stream" if how == "critical" else None)
    assert data["actions"] == [
        {"action": f"bike_tracker_arm_{bike}", "title": "Again"},
        {"action": f"bike_tracker_disarm_{bike}", "title": "Enough"},
        {"action": "URI", "title": "Where", "uri": "/map"},
    ]


async def test_one_that_fails(
    hass: HomeAssistant, bike: str, phones: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The others get the message, and why it failed is logged."""

    async def fail(call: ServiceCall) -> None:
        if call.service == "send_message":
            raise OSError("https://token@example.com")
        raise HomeAssistantError("it is off")

    for service in ("mobile_app_ann_s_phone", "send_message"):
        hass.services.async_register("notify", service, fail)
    ben = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    to = {"phones": [*phones, "gone"], "others": [CHAT]}
    await async_send(hass, device_id=bike, message="1", **to)
    assert len(ben) == 1
    assert "notify.mobile_app_ann_s_phone failed: it is off" in caplog.text
    assert "notify.send_message failed (OSError)" in caplog.text
    assert "token" not in caplog.text


async def test_no_bike(hass: HomeAssistant, bike: str, phones: list[str]) -> None:
    """A message is about a bike."""
    for device_id in ("0", phones[0]):
        with pytest.raises(ServiceValidationError, match="None of the targets"):
            await async_send(hass, device_id=device_id, message="1")


async def test_forbidden_bike(hass: HomeAssistant, bike: str) -> None:
    """Only users who may read a bike send messages about it: its name is in them."""
    user = MockUser(id="guest", groups=[]).add_to_hass(hass)
    shown = async_mock_service(hass, NOTIFICATION_DOMAIN, "create")
    with pytest.raises(Unauthorized):
        await hass.services.async_call(
            DOMAIN,
            "send_message",
            {"device_id": bike, "message": "1"},
            blocking=True,
            context=Context(user_id=user.id),
        )
    assert shown == []


async def test_buttons(
    hass: HomeAssistant, bike: str, hass_admin_user: MockUser
) -> None:
    """They arm and disarm in the name of whoever presses one."""
    context = Context(user_id=hass_admin_user.id)

    async def press(action: str) -> str:
        hass.bus.async_fire(
            "mobile_app_notification_action", {"action": action}, context=context
        )
        await hass.async_block_till_done()
        state = hass.states.get(GUARD)
        assert state
        return state.state

    assert await press("OTHER") == "disarmed"
    assert await press(f"bike_tracker_arm_{bike}") == "armed_away"
    assert await press("bike_tracker_disarm_other") == "armed_away"
    assert await press(bike) == "armed_away"
    assert await press(f"bike_tracker_disarm_{bike}") == "disarmed"
    state = hass.states.get(GUARD)
    assert state
    assert state.context.user_id == hass_admin_user.id


async def test_without_an_account(hass: HomeAssistant) -> None:
    """The action is there as soon as the integration is."""
    assert await async_setup_component(hass, DOMAIN, {})
    assert hass.services.has_service(DOMAIN, "send_message")
