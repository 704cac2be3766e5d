"""What a program gets that speaks the Model Context Protocol."""

import json

from homeassistant.helpers import llm
import httpx
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from ..conftest import Bikes
from ..test_rides import async_ride
from .asking import RIDES, WHERE, needs_tools

mcp = pytest.importorskip("mcp", reason="Home Assistant before 2026.10")
http = pytest.importorskip("mcp.client.streamable_http")

pytestmark = needs_tools


@pytest.mark.usefixtures("exposed")
async def test_client_of_the_mcp_server(
    bikes: Bikes, hass_client: ClientSessionGenerator, hass_access_token: str
) -> None:
    """A program that speaks the Model Context Protocol gets what an assistant gets."""
    data = {"llm_hass_api": [llm.LLM_API_ASSIST], "require_admin": True}
    server = MockConfigEntry(
        domain="mcp_server", data={**data, "all_llm_apis": False}, minor_version=3
    )
    server.add_to_hass(bikes.hass)
    assert await bikes.hass.config_entries.async_setup(server.entry_id)
    url = str((await hass_client()).make_url("/api/mcp"))
    headers = {"Authorization": f"Bearer {hass_access_token}"}
    await async_ride(bikes.simulator, bikes.poll)

    async with (
        httpx.AsyncClient(headers=headers) as session,
        http.streamable_http_client(url, http_client=session) as (read, write, _),
        mcp.ClientSession(read, write) as client,
    ):
        await client.initialize()
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        where = await client.call_tool(WHERE, {"name": "Red bike"})
        rides = await client.call_tool(RIDES, {"days": 40})
        unknown = await client.call_tool(WHERE, {"name": "Green bike"})

    assert tools[WHERE].annotations.readOnlyHint
    assert tools[RIDES].inputSchema["properties"].keys() == {"name", "days"}
    assert "required" not in tools[RIDES].inputSchema
    [bike] = json.loads(where.content[0].text)["bikes"]
    assert bike["name"] == "Red bike"
    [bike] = json.loads(rides.content[0].text)["bikes"]
    assert bike["count"] == 1
    assert unknown.isError
    assert "Bikes: Red bike" in unknown.content[0].text
