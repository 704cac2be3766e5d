"""What there is to try: scripts in Home Assistant, and a page of buttons for them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import ClientError

from . import rider
from .client import CommandError, HomeAssistantClient, RequestError
from .dashboard import Card, bikes_page, button, renew_dashboard
from .home_assistant import HomeAssistantProcess
from .phone import MESSAGE
from .phone.config_flow import NAME as PHONE
from .question import ask_button
from .service.control import ControlError
from .simulator import SimulatorProcess
from .story import story

EVENT = "bike_tracker_demo"
"""What a script fires; `try` is what to do."""

_MESSAGE = "sensor.phone_message"
_CLEAR = "clear_notification"
_BUTTONS = 2
"""How many buttons of a message do something; one more opens the map."""
_REGISTRIES = ("device_registry_updated", "entity_registry_updated")
_SECONDS_BETWEEN_TRIES = 1.0
_SECONDS_UNTIL_ALL_IS_THERE = 2.0

_DONE = """\
{{% set at = state_attr('{entity_id}', 'last_triggered') %}}\
{{{{ '**Done at ' ~ as_local(at).strftime('%H:%M:%S') ~ '.** ' if at }}}}"""
"""What says that a button was pressed."""

type Trick = dict[str, Any]


async def to_try(simulator: SimulatorProcess) -> list[Trick]:
    """Return what there is to try with what the service offers."""
    tricks = await simulator.control.to_try()
    if simulator.documented_only:
        return [trick for trick in tricks if not trick["needs_positions"]]
    return [*tricks, *rider.TO_TRY]


async def add_scripts(client: HomeAssistantClient, tricks: list[Trick]) -> None:
    """Add a script for each thing to try."""
    for trick in tricks:
        event = {"event": EVENT, "event_data": {"try": trick["name"]}}
        await _add_script(client, _key(trick), trick["title"], event, trick["icon"])


async def add_phone_buttons(client: HomeAssistantClient) -> None:
    """Add a script for each button of a message on the phone, and have no message."""
    for number in range(_BUTTONS):
        action = f"{{{{ state_attr('{_button(number)}', 'action') }}}}"
        event = {
            "event": "mobile_app_notification_action",
            "event_data": {"action": action},
        }
        name = f"Button {number + 1} of a message"
        await _add_script(client, f"press_{number}", name, event)
    await show_message(client, {})


async def _add_script(
    client: HomeAssistantClient,
    key: str,
    name: str,
    event: dict[str, Any],
    icon: str = "mdi:gesture-tap-button",
) -> None:
    script = {"alias": name, "icon": icon, "sequence": [event]}
    await client.post(f"/api/config/script/config/{key}", script)


async def pages(client: HomeAssistantClient, simulator: SimulatorProcess) -> list[Card]:
    """Return the first page, with the story, and the page of tricks."""
    first = bikes_page(*await story(client, phone()))
    return [first, page(await to_try(simulator))]


def page(tricks: list[Trick]) -> Card:
    """Return a page of a dashboard with a button for each script, and what to watch."""
    return {
        "title": "Try it",
        "path": "try",
        "type": "sections",
        "max_columns": 4,
        "sections": [*map(_section, tricks), ask_button()],
    }


async def serve(
    home_assistant: HomeAssistantProcess,
    simulator: SimulatorProcess,
    is_listening: asyncio.Event,
) -> None:
    """Do what the buttons ask for, and show on the dashboard what is new, also after a restart; runs until cancelled."""
    while True:
        try:
            await home_assistant.client.sign_in()
            async with asyncio.TaskGroup() as tasks:
                client = home_assistant.client
                async with client.listen(
                    *(EVENT, MESSAGE, "state_changed"), *_REGISTRIES
                ) as events:
                    is_new = asyncio.Event()
                    renewing = tasks.create_task(_renew(client, simulator, is_new))
                    await _show_phones(client)
                    is_listening.set()
                    await _serve(client, simulator, events, is_new)
                    renewing.cancel()
        except* ClientError, CommandError, ControlError, RequestError:
            # It is being restarted, or cannot do that any more.
            pass
        await asyncio.sleep(_SECONDS_BETWEEN_TRIES)


async def _serve(
    client: HomeAssistantClient,
    simulator: SimulatorProcess,
    events: AsyncIterator[dict[str, Any]],
    is_new: asyncio.Event,
) -> None:
    async for event in events:
        data = event["data"]
        if event["event_type"] == MESSAGE:
            await show_message(client, data)
        elif event["event_type"] == "state_changed":
            await _park_guarded(client, simulator, data)
        elif event["event_type"] == EVENT:
            name = data["try"]
            if name in rider.PLACES:
                await rider.go(client, name)
            else:
                await simulator.control.try_(name)
        else:
            is_new.set()


async def _renew(
    client: HomeAssistantClient, simulator: SimulatorProcess, is_new: asyncio.Event
) -> None:
    """Renew the dashboard each time once what comes together is there."""
    while await is_new.wait():
        await asyncio.sleep(_SECONDS_UNTIL_ALL_IS_THERE)
        is_new.clear()
        await renew_dashboard(client, *await pages(client, simulator))


async def _show_phones(client: HomeAssistantClient) -> None:
    """Show the phones again after a restart, which forgets what no integration has."""
    states = await client.states()
    if _MESSAGE not in states:
        await show_message(client, {})
    if rider.PHONE not in states:
        await rider.go(client, rider.AT_HOME)


async def show_message(client: HomeAssistantClient, message: dict[str, Any]) -> None:
    """Show what the phone was sent last, with its buttons, until that is taken away."""
    data = message.get("data", {})
    if message.get("message") == _CLEAR:
        shown = (await client.states())[_MESSAGE]
        if shown.attributes.get("tag") != data["tag"]:
            return
        message = data = {}
    attributes = {
        **{key: message.get(key, "") for key in ("title", "message")},
        **{key: data.get(key, "") for key in ("tag", "url")},
    }
    await _set(client, _MESSAGE, attributes, is_on=bool(message))
    buttons = [each for each in data.get("actions", ()) if each["action"] != "URI"]
    for number in range(_BUTTONS):
        shown = buttons[number] if number < len(buttons) else {}
        attributes = {
            "friendly_name": shown.get("title", "Button"),
            "action": shown.get("action"),
        }
        await _set(client, _button(number), attributes, is_on=bool(shown))


async def _set(
    client: HomeAssistantClient,
    entity_id: str,
    attributes: dict[str, Any],
    *,
    is_on: bool,
) -> None:
    state = {"state": "on" if is_on else "off", "attributes": attributes}
    await client.post(f"/api/states/{entity_id}", state)


async def _park_guarded(
    client: HomeAssistantClient, simulator: SimulatorProcess, change: dict[str, Any]
) -> None:
    """Have a bike that is guarded stay where it is until a button is pressed."""
    state = (change["new_state"] or {}).get("state")
    if state != "armed_away" or "alarm_control_panel." not in change["entity_id"]:
        return
    for entity in await client.entities():
        if entity["entity_id"] == change["entity_id"]:
            await simulator.control.park(entity["unique_id"].removesuffix("_guard"))


def phone() -> Card:
    """Return a section with what the phone shows."""
    content = (
        f"{{% set shown = states['{_MESSAGE}'].attributes %}}"
        "{% if shown.message %}**{{ shown.title }}**\n\n{{ shown.message }}\n\n"
        "[Show on map]({{ shown.url }})"
        "{% else %}No message yet: guard a bike, and let the thief come.{% endif %}"
    )
    return {
        "type": "grid",
        "cards": [
            {"type": "heading", "heading": PHONE, "icon": "mdi:cellphone"},
            {"type": "markdown", "content": content},
            *map(_button_card, range(_BUTTONS)),
        ],
    }


def _button_card(number: int) -> Card:
    entity_id = _button(number)
    press = {
        "action": "perform-action",
        "perform_action": "script.turn_on",
        "target": {"entity_id": f"script.press_{number}"},
    }
    return {
        "type": "tile",
        "entity": entity_id,
        "icon": "mdi:gesture-tap-button",
        "hide_state": True,
        "tap_action": press,
        "icon_tap_action": press,
        "visibility": [{"condition": "state", "entity": entity_id, "state": "on"}],
    }


def _button(number: int) -> str:
    """Return the entity that is a button of the message."""
    return f"sensor.phone_button_{number}"


def _section(trick: Trick) -> Card:
    entity_id = f"script.{_key(trick)}"
    done = _DONE.format(entity_id=entity_id)
    return button(entity_id, trick["title"], done + trick["watch"])


def _key(trick: Trick) -> str:
    name: str = trick["name"]
    return f"try_{name.replace('-', '_')}"
