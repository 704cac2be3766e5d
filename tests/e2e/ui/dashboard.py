"""Dashboards that tests look at: cards, and the phone with its last message and the buttons of that."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tests.tools.demo import HomeAssistantClient
from tests.tools.demo.dashboard import phone

_PATH = "my-bikes"


@asynccontextmanager
async def dashboard(client: HomeAssistantClient, config: object) -> AsyncIterator[str]:
    """Have a dashboard for a while; yield its path."""
    created = await client.call(
        "lovelace/dashboards/create",
        url_path=_PATH,
        title="Bikes",
        icon="mdi:bicycle",
    )
    try:
        await client.call("lovelace/config/save", url_path=_PATH, config=config)
        yield f"/{_PATH}"
    finally:
        await client.call("lovelace/dashboards/delete", dashboard_id=created["id"])


def cards(*cards: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dashboard of one page with these cards."""
    view = {"title": "Bikes", "type": "sections", "sections": [{"cards": cards}]}
    return {"views": [view]}


@asynccontextmanager
async def phone_on_dashboard(
    client: HomeAssistantClient, *cards: Mapping[str, object]
) -> AsyncIterator[str]:
    """Have a phone with the app, on a dashboard with other cards; yield its path."""
    result = (await client.start_flow("mobile_app"))["result"]
    sections = [phone(), {"type": "grid", "cards": cards}]
    view = {"title": "Bikes", "type": "sections", "sections": sections}
    try:
        async with dashboard(client, {"views": [view]}) as path:
            yield path
    finally:
        entry_id = result["entry_id"]
        await client.delete(f"/api/config/config_entries/entry/{entry_id}")
