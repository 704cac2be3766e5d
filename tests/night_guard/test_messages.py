"""Messages about a bike: their recipients, and the effect of their buttons."""

from typing import Any

from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceValidationError,
    Unauthorized,
)
from homeassistant.helpers import entity_registry as er
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_mock_service,
)

from custom_components.bike_tracker.const import DOMAIN

from ..conftest import Bikes

CHAT = "notify.chat"
GUARD = "alarm_control_panel.red_bike_guard"
MAP = "/map?entity_id=device_tracker.red_bike"
SERVICES = {
    **{f"mobile_app_{name}_s_phone": "notify" for name in ("ann", "ben")},
    "send_message": "notify",
    **dict.fromkeys(("create", "dismiss"), "persistent_notification"),
}

type Sent = dict[str, list[ServiceCall]]


@pytest.fixture
def bike(bikes: Bikes, setup: MockConfigEntry) -> str:
    """Set the account up, and return the device ID of the red bike."""
    return bikes.device().id


@pytest.fixture
def sent(hass: HomeAssistant, phones: list[str], bike: str) -> Sent:
    """Replace the actions that show or remove messages by mocks. Return their calls by name."""
    return {name: async_mock_service(hass, it, name) for name, it in SERVICES.items()}


async def async_send(
    hass: HomeAssistant, context: Context | None = None, /, **data: Any
) -> None:
    """Call the action `send_message`. Without a context, no user calls it."""
    call = hass.services.async_call
    await call(DOMAIN, "send_message", data, blocking=True, context=context)


async def test_everywhere(
    hass: HomeAssistant,
    bike: str,
    phones: list[str],
    sent: Sent,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each recipient gets a message once. Without a text, it is removed where possible."""
    to: dict[str, Any] = {"device_id": bike, "others": [CHAT], "tag": "test"}
    to["phones"] = [*phones, "removed"]
    await async_send(hass, message="It is _here_", **to)
    assert "No message to the phone removed: it is gone" in caplog.text
    await async_send(hass, **to)
    await async_send(hass, device_id=bike, message="1", in_home_assistant=False)

    ann, ben, [chat], [shown], [gone, _] = sent.values()
    tag = f"bike_tracker_test_{bike}"
    message = {"tag": tag, "url": MAP, "clickAction": MAP, "actions": []}
    for pushes in (ann, ben):
        assert [push.data for push in pushes] == [
            {"title": "Red bike", "message": "It is _here_", "data": message},
            {"message": "clear_notification", "data": {"tag": tag}},
        ]
    assert chat.data["entity_id"] == CHAT
    assert chat.data["message"] == "It is _here_"
    assert shown.data["notification_id"] == tag
    assert shown.data["message"] == r"It is \_here\_"
    assert gone.data == {"notification_id": tag}


@pytest.mark.parametrize(
    ("how", "level"), [("urgent", "time-sensitive"), ("critical", "critical")]
)
async def test_phone_that_sleeps(
    hass: HomeAssistant, bike: str, phones: list[str], sent: Sent, how: str, level: str
) -> None:
    """An urgent message wakes the phone. A critical message rings in silent mode. Buttons have their labels."""
    er.async_get(hass).async_remove("device_tracker.red_bike")
    buttons = {"arm_button": "Again", "disarm_button": "Enough", "map_button": "Where"}
    to = {"device_id": bike, "phones": phones[1:], "title": "Theft", how: True}
    await async_send(hass, message="Gone", **to, **buttons)
    [push] = sent["mobile_app_ben_s_phone"]
    assert push.data["title"] == "Theft"
    data = push.data["data"]
    assert (data["ttl"], data["priority"]) == (0, "high")
    assert data["push"]["interruption-level"] == level
    sound = {"name": "default", "critical": 1, "volume": 1.0}
    assert data["push"].get("sound") == (sound if how == "critical" else None)
    assert data["tag"] == f"bike_tracker_message_{bike}"
    assert data.get("channel") == ("alarm_stream" if how == "critical" else None)
    assert data["actions"] == [
        {"action": f"bike_tracker_arm_{bike}", "title": "Again"},
        {"action": f"bike_tracker_disarm_{bike}", "title": "Enough"},
        {"action": "URI", "title": "Where", "uri": "/map"},
    ]


async def test_one_that_fails(
    hass: HomeAssistant,
    bike: str,
    phones: list[str],
    sent: Sent,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """If some recipients fail, the log has the errors without secrets, and the other phone gets the message."""

    async def fail(call: ServiceCall) -> None:
        if call.service == "send_message":
            raise OSError("https://token@example.com")
        raise HomeAssistantError("it is off")

    for service in ("mobile_app_ann_s_phone", "send_message"):
        hass.services.async_register("notify", service, fail)
    to = {"phones": [*phones, "gone"], "others": [CHAT]}
    await async_send(hass, device_id=bike, message="1", **to)
    assert len(sent["mobile_app_ben_s_phone"]) == 1
    assert "notify.mobile_app_ann_s_phone failed: it is off" in caplog.text
    assert "notify.send_message failed (OSError)" in caplog.text
    assert "token" not in caplog.text


async def test_refused(
    hass: HomeAssistant, bike: str, phones: list[str], sent: Sent
) -> None:
    """A message is refused if its device is no bike, or if the user has no permission for the bike."""
    for device_id in ("0", phones[0]):
        with pytest.raises(ServiceValidationError, match="None of the targets"):
            await async_send(hass, device_id=device_id, message="1")
    guest = Context(user_id=MockUser(id="guest", groups=[]).add_to_hass(hass).id)
    with pytest.raises(Unauthorized):
        await async_send(hass, guest, device_id=bike, message="1")
    assert sent["create"] == []


async def test_buttons(bikes: Bikes, bike: str, hass_admin_user: MockUser) -> None:
    """The buttons arm and disarm the guard in the name of the tapping user. Other buttons change nothing."""
    context = Context(user_id=hass_admin_user.id)
    for action, state in (
        ("OTHER", "disarmed"),
        (f"bike_tracker_arm_{bike}", "armed_away"),
        ("bike_tracker_disarm_other", "armed_away"),
        (bike, "armed_away"),
        (f"bike_tracker_disarm_{bike}", "disarmed"),
    ):
        event = "mobile_app_notification_action"
        bikes.hass.bus.async_fire(event, {"action": action}, context=context)
        await bikes.hass.async_block_till_done()
        assert bikes.state(GUARD).state == state
    assert bikes.state(GUARD).context.user_id == hass_admin_user.id
