"""What there is to try: scripts in Home Assistant, and a page of buttons for them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import ClientError

from tests.tools.simulator import ControlError

from . import rider
from .client import CommandError, HomeAssistantClient, RequestError
from .dashboard import Card, button, renew_dashboard
from .home_assistant import HomeAssistantProcess
from .phone import MESSAGE
from .phone.config_flow import NAME as PHONE
from .question import ask_button
from .simulator import SimulatorProcess

EVENT = "bike_tracker_demo"
"""What a script fires; `try` is what to do."""

_MESSAGES = "sensor.phone_message"
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
        await client.post(
            f"/api/config/script/config/{_key(trick)}",
            {
                "alias": trick["title"],
                "icon": trick["icon"],
                "sequence": [{"event": EVENT, "event_data": {"try": trick["name"]}}],
            },
        )


def page(tricks: list[Trick]) -> Card:
    """Return a page of a dashboard with a button for each script, and what to watch."""
    return {
        "title": "Try it",
        "path": "try",
        "type": "sections",
        "max_columns": 4,
        "sections": [_phone(), *map(_section, tricks), ask_button()],
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
                    is_listening.set()
                    await _serve(client, simulator, events, tasks)
        except* ClientError, CommandError, ControlError, RequestError:
            # It is being restarted, or cannot do that any more.
            pass
        await asyncio.sleep(_SECONDS_BETWEEN_TRIES)


async def _serve(
    client: HomeAssistantClient,
    simulator: SimulatorProcess,
    events: AsyncIterator[dict[str, Any]],
    tasks: asyncio.TaskGroup,
) -> None:
    renewing: asyncio.Task[None] | None = None
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
        elif renewing is None or renewing.done():
            renewing = tasks.create_task(_renew(client, simulator))


async def _renew(client: HomeAssistantClient, simulator: SimulatorProcess) -> None:
    """Renew the dashboard once what comes together is there."""
    await asyncio.sleep(_SECONDS_UNTIL_ALL_IS_THERE)
    await renew_dashboard(client, page(await to_try(simulator)))


async def show_message(client: HomeAssistantClient, message: dict[str, Any]) -> None:
    """Show what the phone was sent last; a message that is taken away shows nothing."""
    text = message.get("message", "")
    shown = "" if text == "clear_notification" else text
    attributes = {"title": message.get("title", ""), "message": shown}
    state = {"state": "on" if shown else "off", "attributes": attributes}
    await client.post(f"/api/states/{_MESSAGES}", state)


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


def _phone() -> Card:
    """Return a section with what the phone shows."""
    content = (
        f"{{% set shown = states['{_MESSAGES}'].attributes %}}"
        "{% if shown.message %}**{{ shown.title }}**\n\n{{ shown.message }}"
        "{% else %}No message. Make an automation of one of the blueprints, and choose "
        f"{PHONE} under *Send to → Phones*.{{% endif %}}"
    )
    return {
        "type": "grid",
        "cards": [
            {"type": "heading", "heading": PHONE, "icon": "mdi:cellphone"},
            {"type": "markdown", "content": content},
        ],
    }


def _section(trick: Trick) -> Card:
    entity_id = f"script.{_key(trick)}"
    done = _DONE.format(entity_id=entity_id)
    return button(entity_id, trick["title"], done + trick["watch"])


def _key(trick: Trick) -> str:
    name: str = trick["name"]
    return f"try_{name.replace('-', '_')}"
