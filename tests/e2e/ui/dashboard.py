"""Dashboards for tests: cards, and a phone with its newest message and the buttons of that message."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tests.tools.demo import HomeAssistantClient, HomeAssistantProcess
from tests.tools.demo.dashboard import phone

PATH = "/my-bikes"


async def add_dashboard(client: HomeAssistantClient, config: object) -> str:
    """Add a dashboard, and return its ID."""
    path = PATH.strip("/")
    created = await client.call(
        "lovelace/dashboards/create", url_path=path, title="Bikes", icon="mdi:bicycle"
    )
    await client.call("lovelace/config/save", url_path=path, config=config)
    return str(created["id"])


@asynccontextmanager
async def dashboard(
    home_assistant: HomeAssistantProcess, config: object
) -> AsyncIterator[None]:
    """Add a dashboard, and remove it at the end. Home Assistant may be restarted before the end."""
    added = await add_dashboard(home_assistant.client, config)
    try:
        yield
    finally:
        client = home_assistant.client
        await client.call("lovelace/dashboards/delete", dashboard_id=added)


def cards(*cards: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration of a dashboard with a single page of these cards."""
    view = {"title": "Bikes", "type": "sections", "sections": [{"cards": cards}]}
    return {"views": [view]}


@asynccontextmanager
async def phone_on_dashboard(
    home_assistant: HomeAssistantProcess, *cards: Mapping[str, object]
) -> AsyncIterator[None]:
    """Add a phone, and a dashboard that shows it beside these cards. Remove both at the end."""
    client = home_assistant.client
    result = (await client.start_flow("mobile_app"))["result"]
    sections = [phone(), {"type": "grid", "cards": cards}]
    view = {"title": "Bikes", "type": "sections", "sections": sections}
    try:
        async with dashboard(home_assistant, {"views": [view]}):
            yield
    finally:
        entry_id = result["entry_id"]
        await client.delete(f"/api/config/config_entries/entry/{entry_id}")
