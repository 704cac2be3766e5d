"""Dashboards that tests look at."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tests.tools.demo import HomeAssistantClient

DASHBOARD = "/my-bikes"
"""The path of the one that a test has."""


@asynccontextmanager
async def dashboard(client: HomeAssistantClient, config: object) -> AsyncIterator[str]:
    """Have a dashboard for a while; yield its path."""
    url_path = DASHBOARD.removeprefix("/")
    created = await client.call(
        "lovelace/dashboards/create",
        url_path=url_path,
        title="Bikes",
        icon="mdi:bicycle",
    )
    try:
        await client.call("lovelace/config/save", url_path=url_path, config=config)
        yield DASHBOARD
    finally:
        await client.call("lovelace/dashboards/delete", dashboard_id=created["id"])


def cards(*cards: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dashboard of one page with these cards."""
    view = {"title": "Bikes", "type": "sections", "sections": [{"cards": cards}]}
    return {"views": [view]}
