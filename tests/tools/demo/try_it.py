"""What there is to try: scripts in Home Assistant, and a page of buttons for them."""

import asyncio
from collections.abc import AsyncIterator

from aiohttp import ClientError

from .client import CommandError, Event, HomeAssistantClient
from .dashboard import Card, bikes_page, button, fill_dashboard, page
from .home_assistant import HomeAssistantProcess
from .message import MESSAGE as SHOWN, show_message
from .phone import MESSAGE
from .service import SimulatedService
from .story import story
from .town import PHONE, move_rider
from .tricks import Trick

EVENT = "bike_tracker_demo"
"""What a script fires; `try` is what to do."""
RIDER = {
    "nobody_home": Trick(
        "nobody_home",
        "home-off-outline",
        "Nobody is home",
        "Demo, who rides the bikes, is 11 km away. A night guard with Demo as its rider guards the bikes, and the blueprint Bike moved sends no message about them.",
    ),
    "at_home": Trick(
        "at_home",
        "home-account",
        "Somebody is home again",
        "Demo is at home: bikes that were guarded while everyone was away are no longer.",
    ),
}
"""What the one rider does."""

_REGISTRIES = ("device_registry_updated", "entity_registry_updated")
_SECONDS_BETWEEN_TRIES = 1.0
_SECONDS_UNTIL_ALL_IS_THERE = 2.0
_ASSIST = "where_is_my_bike"
_QUESTION = "where is the city bike"
_ANSWER = (
    "The answer is a notification. Ask other questions under **Settings → Tools → "
    "Actions**, with the action `conversation.process`."
)

_DONE = """\
{{% set at = state_attr('{entity_id}', 'last_triggered') %}}\
{{{{ '**Done at ' ~ as_local(at).strftime('%H:%M:%S') ~ '.** ' if at }}}}"""
"""What says that a button was pressed."""


async def add_scripts(client: HomeAssistantClient, service: SimulatedService) -> None:
    """Add a script for each thing to try."""
    for trick in [*service.tricks.list(), *RIDER.values()]:
        event = {"event": EVENT, "event_data": {"try": trick.name}}
        await client.save_script(f"try_{trick.name}", trick.title, trick.icon, event)
    await _add_question(client)


async def _add_question(client: HomeAssistantClient) -> None:
    """Have an automation of the blueprint for questions, and a script that asks one."""
    bikes = [bike["id"] for bike in (await client.devices()).values()]
    blueprint = {
        "path": f"bike_tracker/{_ASSIST}.yaml",
        "input": {"bikes": {"device_id": bikes}},
    }
    automation = {"alias": "Where is my bike?", "use_blueprint": blueprint}
    await client.save_automation(_ASSIST, automation)
    ask = {
        "action": "conversation.process",
        "data": {"text": _QUESTION},
        "response_variable": "answer",
    }
    tell = {
        "action": "persistent_notification.create",
        "data": {
            "title": f"{_QUESTION.capitalize()}?",
            "message": "{{ answer.response.speech.plain.speech }}",
        },
    }
    await client.save_script("ask", f"Ask: {_QUESTION}?", "chat-question", ask, tell)


async def fill(client: HomeAssistantClient, service: SimulatedService) -> None:
    """Put on the dashboard the first page, with the story, and the page of tricks."""
    await fill_dashboard(
        client,
        bikes_page(*await story(client, service)),
        page(
            "Try it",
            "try",
            4,
            *map(_section, [*service.tricks.list(), *RIDER.values()]),
            button("script.ask", f"Ask: {_QUESTION}?", _ANSWER),
        ),
    )


async def serve(
    home_assistant: HomeAssistantProcess,
    service: SimulatedService,
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
                    renewing = tasks.create_task(_renew(client, service, is_new))
                    await _show_phones(client)
                    is_listening.set()
                    await _serve(client, service, events, is_new)
                    renewing.cancel()
        except* ClientError, CommandError:
            # It is being restarted, or cannot do that any more.
            pass
        await asyncio.sleep(_SECONDS_BETWEEN_TRIES)


async def _serve(
    client: HomeAssistantClient,
    service: SimulatedService,
    events: AsyncIterator[Event],
    is_new: asyncio.Event,
) -> None:
    async for event in events:
        data = event["data"]
        if event["event_type"] == MESSAGE:
            await show_message(client, data)
        elif event["event_type"] == "state_changed":
            await _park_guarded(client, service, data)
        elif event["event_type"] != EVENT:
            is_new.set()
        elif data["try"] in RIDER:
            await move_rider(client, is_home=data["try"] == "at_home")
        else:
            service.tricks.do(data["try"])


async def _renew(
    client: HomeAssistantClient, service: SimulatedService, is_new: asyncio.Event
) -> None:
    """Renew the dashboard each time once what comes together is there."""
    while await is_new.wait():
        await asyncio.sleep(_SECONDS_UNTIL_ALL_IS_THERE)
        is_new.clear()
        await fill(client, service)


async def _show_phones(client: HomeAssistantClient) -> None:
    """Show the phones again after a restart, which forgets what no integration has."""
    states = await client.states()
    if SHOWN not in states:
        await show_message(client, {})
    if PHONE not in states:
        await move_rider(client, is_home=True)


async def _park_guarded(
    client: HomeAssistantClient, service: SimulatedService, change: Event
) -> None:
    """Have a bike that is guarded stay where it is until a button is pressed."""
    state = (change["new_state"] or {}).get("state")
    if state != "armed_away" or "alarm_control_panel." not in change["entity_id"]:
        return
    for entity in await client.entities():
        unique_id = entity["unique_id"].removesuffix("_guard")
        if (
            entity["entity_id"] == change["entity_id"]
            and unique_id in service.fleet.unique_ids
        ):
            service.fleet.park(unique_id)


def _section(trick: Trick) -> Card:
    entity_id = f"script.try_{trick.name}"
    done = _DONE.format(entity_id=entity_id)
    return button(entity_id, trick.title, done + trick.watch)
