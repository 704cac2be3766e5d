"""A phone that people look at: what it was sent, and the buttons of that, on a dashboard."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from tests.tools.demo import HomeAssistantClient
from tests.tools.demo.message import add_phone_buttons, phone, show_message
from tests.tools.demo.phone import MESSAGE

from .dashboard import dashboard


@asynccontextmanager
async def phone_on_dashboard(
    client: HomeAssistantClient, *cards: Mapping[str, object]
) -> AsyncIterator[str]:
    """Have a phone with the app, on a dashboard with other cards; yield its path."""
    result = (await client.start_flow("mobile_app"))["result"]
    await add_phone_buttons(client)
    sections = [phone(), {"type": "grid", "cards": cards}]
    view = {"title": "Bikes", "type": "sections", "sections": sections}
    showing = asyncio.create_task(_show(client))
    try:
        async with dashboard(client, {"views": [view]}) as path:
            yield path
    finally:
        showing.cancel()
        entry_id = result["entry_id"]
        await client.delete(f"/api/config/config_entries/entry/{entry_id}")


async def _show(client: HomeAssistantClient) -> None:
    async with client.listen(MESSAGE) as messages:
        async for message in messages:
            await show_message(client, message["data"])
