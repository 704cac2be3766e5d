"""The phone on the dashboard: the message that it was sent last, with its buttons."""

from typing import Any

from .client import HomeAssistantClient
from .dashboard import Card, tile_that_runs
from .phone.config_flow import NAME

MESSAGE = "sensor.phone_message"
_CLEAR = "clear_notification"
_ICON = "gesture-tap-button"
_BUTTONS = 2
"""How many buttons of a message do something; one more opens the map."""


async def add_phone_buttons(client: HomeAssistantClient) -> None:
    """Add a script for each button of a message on the phone, and have no message."""
    for number in range(_BUTTONS):
        action = f"{{{{ state_attr('{_button(number)}', 'action') }}}}"
        press = {
            "event": "mobile_app_notification_action",
            "event_data": {"action": action},
        }
        name = f"Button {number + 1} of a message"
        await client.save_script(f"press_{number}", name, _ICON, press)
    await show_message(client, {})


async def show_message(client: HomeAssistantClient, message: dict[str, Any]) -> None:
    """Show what the phone was sent last, with its buttons, until that is taken away."""
    data = message.get("data", {})
    if message.get("message") == _CLEAR:
        shown = (await client.states())[MESSAGE]
        if shown.attributes.get("tag") != data["tag"]:
            return
        message = data = {}
    attributes = {
        **{key: message.get(key, "") for key in ("title", "message")},
        **{key: data.get(key, "") for key in ("tag", "url")},
    }
    await client.set_state(MESSAGE, "on" if message else "off", attributes)
    buttons = [each for each in data.get("actions", ()) if each["action"] != "URI"]
    for number in range(_BUTTONS):
        shown_button = buttons[number] if number < len(buttons) else {}
        attributes = {
            "friendly_name": shown_button.get("title", "Button"),
            "action": shown_button.get("action"),
        }
        state = "on" if shown_button else "off"
        await client.set_state(_button(number), state, attributes)


def phone(heading: str = NAME) -> Card:
    """Return a section with what the phone shows."""
    content = (
        f"{{% set shown = states['{MESSAGE}'].attributes %}}"
        "{% if shown.message %}**{{ shown.title }}**\n\n{{ shown.message }}\n\n"
        "[Show on map]({{ shown.url }})"
        "{% else %}No message yet: guard a bike, and let the thief come.{% endif %}"
    )
    return {
        "type": "grid",
        "cards": [
            {"type": "heading", "heading": heading, "icon": "mdi:cellphone"},
            {"type": "markdown", "content": content},
            *map(_button_card, range(_BUTTONS)),
        ],
    }


def _button_card(number: int) -> Card:
    entity_id = _button(number)
    is_shown = {"condition": "state", "entity": entity_id, "state": "on"}
    return tile_that_runs(f"script.press_{number}", entity_id) | {
        "icon": f"mdi:{_ICON}",
        "visibility": [is_shown],
    }


def _button(number: int) -> str:
    """Return the entity that is a button of the message."""
    return f"sensor.phone_button_{number}"
