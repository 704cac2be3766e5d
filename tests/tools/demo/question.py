"""A question to Assist, which a blueprint answers."""

from .client import HomeAssistantClient
from .dashboard import Card, button

_AUTOMATION = "where_is_my_bike"
_SCRIPT = "ask_where"
_QUESTION = "where is the city bike"


async def add_question(client: HomeAssistantClient) -> None:
    """Have an automation of the blueprint, and a script that asks it."""
    devices = await client.devices()
    await client.save_automation(
        _AUTOMATION,
        {
            "alias": "Where is my bike?",
            "use_blueprint": {
                "path": f"bike_tracker/{_AUTOMATION}.yaml",
                "input": {
                    "bikes": {"device_id": [bike["id"] for bike in devices.values()]}
                },
            },
        },
    )
    await add_script(client)


async def add_script(client: HomeAssistantClient) -> None:
    """Have a script that asks and shows the answer."""
    await client.post(
        f"/api/config/script/config/{_SCRIPT}",
        {
            "alias": f"Ask: {_QUESTION}?",
            "icon": "mdi:chat-question",
            "sequence": [
                {
                    "action": "conversation.process",
                    "data": {"text": _QUESTION},
                    "response_variable": "answer",
                },
                {
                    "action": "persistent_notification.create",
                    "data": {
                        "title": _QUESTION.capitalize() + "?",
                        "message": "{{ answer.response.speech.plain.speech }}",
                    },
                },
            ],
        },
    )


def ask_button() -> Card:
    """Return a section with a button that asks."""
    watch = (
        "The answer is a notification. Ask other questions under **Settings → Tools → "
        "Actions**, with the action `conversation.process`."
    )
    return button(f"script.{_SCRIPT}", f"Ask: {_QUESTION}?", watch)
