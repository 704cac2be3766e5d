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
from pytest_homeassistant_custom_component.common import MockUser, async_mock_service

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


class Post:
    """The red bike, two phones, and the calls of the actions that show or remove messages."""

    def __init__(self, hass: HomeAssistant, bike: str, phones: list[str]) -> None:
        """Replace the actions by mocks that record their calls in `sent`."""
        self.hass, self.bike, self.phones = hass, bike, phones
        self.sent = {
            name: async_mock_service(hass, domain, name)
            for name, domain in SERVICES.items()
        }

    async def async_send(self, context: Context | None = None, /, **data: Any) -> None:
        """Call the action `send_message`, by default for the red bike. Without a context, no user calls it."""
        service, data = (DOMAIN, "send_message"), {"device_id": self.bike, **data}
        call = self.hass.services.async_call
        await call(*service, data, blocking=True, context=context)


@pytest.fixture
def post(ready: Bikes, phones: list[str]) -> Post:
    """Set the account up, and return a recorder of messages about its red bike."""
    return Post(ready.hass, ready.device().id, phones)


async def test_everywhere(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    """Each recipient gets a message once. A call without a text removes it from phones and from Home Assistant."""
    to = {"phones": [*post.phones, "removed"], "others": [CHAT], "tag": "test"}
    await post.async_send(message="It is _here_", **to)
    assert "No message to the phone removed: it is gone" in caplog.text
    await post.async_send(**to)
    await post.async_send(message="1", in_home_assistant=False)

    ann, ben, [chat], [shown], [gone, _] = post.sent.values()
    tag = f"bike_tracker_test_{post.bike}"
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
async def test_phone_that_sleeps(post: Post, how: str, level: str) -> None:
    """An urgent message wakes the phone. A critical message rings on a muted phone. Buttons have the given labels."""
    er.async_get(post.hass).async_remove("device_tracker.red_bike")
    buttons = {"arm_button": "Again", "disarm_button": "Enough", "map_button": "Where"}
    to = {"phones": post.phones[1:], "title": "Theft", how: True}
    await post.async_send(message="Gone", **to, **buttons)
    [push] = post.sent["mobile_app_ben_s_phone"]
    assert push.data["title"] == "Theft"
    data, is_critical = push.data["data"], how == "critical"
    assert data["priority"] == "high"
    assert data["push"]["interruption-level"] == level
    sound = {"name": "default", "critical": 1, "volume": 1.0}
    assert data["push"].get("sound") == (sound if is_critical else None)
    assert data["tag"] == f"bike_tracker_message_{post.bike}"
    assert data.get("channel") == ("alarm_stream" if is_critical else None)
    assert data["actions"] == [
        {"action": f"bike_tracker_arm_{post.bike}", "title": "Again"},
        {"action": f"bike_tracker_disarm_{post.bike}", "title": "Enough"},
        {"action": "URI", "title": "Where", "uri": "/map"},
    ]


async def test_long_text(post: Post) -> None:
    """Phones and chats get the first part of a long text, because they refuse long ones. Home Assistant shows all of it.

    A chat that shows no titles, such as Discord, gets the title as the first line.
    """
    text, chats = "Cargo bike " * 1_000, [CHAT, "notify.discord"]
    for chat, features in zip(chats, (1, 0), strict=True):
        post.hass.states.async_set(chat, "on", {"supported_features": features})
    await post.async_send(message=text, phones=post.phones, others=chats)
    [ann], [ben], said, [shown], _ = post.sent.values()
    start = f"{text[:1_000]}…"
    told = [push.data["message"] for push in (ann, ben, *said)]
    assert told == [start, start, start, f"Red bike\n{start}"]
    assert shown.data["message"] == text


async def test_one_that_fails(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    """If a phone and a chat fail, the errors are logged without a secret address, and Ben's phone gets the message.

    The chat is read as Markdown, which cannot have one `_`: it gets the text without it.
    """
    chat = list[str]()

    async def fail(call: ServiceCall) -> None:
        if call.service != "send_message":
            raise HomeAssistantError("it is off")
        chat.append(f"{call.data['title']}: {call.data['message']}")
        if "_" in chat[-1]:
            raise OSError("https://token@example.com")

    for service in ("mobile_app_ann_s_phone", "send_message"):
        post.hass.services.async_register("notify", service, fail)
    to = {"phones": post.phones, "others": [CHAT]}
    await post.async_send(message="Gone" * 1_000, title="Bike_1", **to)
    assert chat == [f"{title}: {'Gone' * 250}…" for title in ("Bike_1", "Bike-1")]
    assert len(post.sent["mobile_app_ben_s_phone"]) == 1
    assert "notify.mobile_app_ann_s_phone failed: it is off" in caplog.text
    assert "notify.send_message failed (OSError)" in caplog.text
    assert "token" not in caplog.text


async def test_refused(post: Post) -> None:
    """A message is refused if its device is no bike, or if the user has no permission for the bike."""
    for device_id in ("0", post.phones[0]):
        with pytest.raises(ServiceValidationError, match="None of the targets"):
            await post.async_send(device_id=device_id, message="1")
    guest = MockUser(id="guest", groups=[]).add_to_hass(post.hass)
    with pytest.raises(Unauthorized):
        await post.async_send(Context(user_id=guest.id), message="1")
    assert post.sent["create"] == []


@pytest.mark.parametrize("others", ["notify.gone", "light.lamp"])
async def test_no_recipient(post: Post, others: str) -> None:
    """An error is raised if a message reaches nobody, although recipients were given."""
    for entity_id in (CHAT, "group.chats", "light.lamp"):
        post.hass.states.async_set(entity_id, "on")
    to = {"phones": ["removed", post.bike], "others": others}
    there: dict[str, Any] = {"in_home_assistant": False}
    with pytest.raises(ServiceValidationError, match="Choose the phone again"):
        await post.async_send(message="1", **to, **there)
    await post.async_send(message="1", **to)
    for chat in (CHAT, "group.chats"):
        await post.async_send(message="1", **to | {"others": [chat, others]}, **there)
    await post.async_send(message="1", **to | {"phones": post.phones}, **there)
    await post.async_send(message="1", **there)
    await post.async_send(**to, **there)


async def test_buttons(ready: Bikes, hass_admin_user: MockUser) -> None:
    """The buttons arm and disarm the guard as the user who tapped. Actions of other buttons change nothing."""
    bike, context = ready.device().id, Context(user_id=hass_admin_user.id)
    for action, state in (
        ("OTHER", "disarmed"),
        (f"bike_tracker_arm_{bike}", "armed_away"),
        ("bike_tracker_disarm_other", "armed_away"),
        (bike, "armed_away"),
        (f"bike_tracker_disarm_{bike}", "disarmed"),
    ):
        event = "mobile_app_notification_action"
        ready.hass.bus.async_fire(event, {"action": action}, context=context)
        await ready.hass.async_block_till_done()
        assert ready.state(GUARD).state == state
    assert ready.state(GUARD).context.user_id == hass_admin_user.id
