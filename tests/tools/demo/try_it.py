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
from .question import ask_button
from .simulator import SimulatorProcess

EVENT = "bike_tracker_demo"
"""What a script fires; `try` is what to do."""

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
                async with client.listen(EVENT, *_REGISTRIES) as events:
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
        if event["event_type"] == EVENT:
            name = event["data"]["try"]
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


def _section(trick: Trick) -> Card:
    entity_id = f"script.{_key(trick)}"
    done = _DONE.format(entity_id=entity_id)
    return button(entity_id, trick["title"], done + trick["watch"])


def _key(trick: Trick) -> str:
    name: str = trick["name"]
    return f"try_{name.replace('-', '_')}"
