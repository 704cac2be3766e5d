"""The tools for assistants, and the rides that they return."""

from datetime import timedelta
import json
import logging
import sys
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM
import httpx
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator
import voluptuous as vol

from ..books import row, store
from ..conftest import Bikes, async_setup
from ..riding import async_ride
from ..tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE
from .conftest import (
    BLUE_BIKE,
    RED_BIKE,
    RIDES,
    WHERE,
    Ask,
    async_api,
    async_tools,
    expose,
)


@pytest.mark.usefixtures("ready")
async def test_exposed_alone(hass: HomeAssistant, ask: Ask) -> None:
    """The tools never name a bike that is not exposed. If no bike is exposed, no tool exists."""
    assert await async_tools(hass) == {}

    expose(hass, RED_BIKE)
    tools = await async_tools(hass)
    assert tools.keys() == {WHERE, RIDES}
    assert [bike["name"] for bike in await ask()] == ["Red bike"]
    for tool in tools:
        error = await ask(tool, name="Blue bike", is_wrong=True)
        assert "No bike has this name" in error
        assert "Red bike" in error
        assert "Blue bike" not in error

    expose(hass, BLUE_BIKE)
    assert [bike["name"] for bike in await ask()] == ["Red bike", "Blue bike"]

    # An assistant keeps the tools from the start of its conversation. They must not
    # name a bike that is no longer exposed.
    before = await async_api(hass)
    expose(hass, RED_BIKE, BLUE_BIKE, exposed=False)
    result = await before.async_call_tool(llm.ToolInput(WHERE, {}))
    assert result.error
    assert "bike_tracker__where" not in (await async_api(hass)).api_prompt


@pytest.mark.usefixtures("ask", "exposed")
async def test_tools_only_read(hass: HomeAssistant) -> None:
    """The tools are marked as read-only, and each describes its parameters. The prompt prevents a wrong "I have armed it"."""
    tools = await async_tools(hass)
    for tool in tools.values():
        assert tool.annotations == llm.ToolAnnotations(
            read_only=True, destructive=False, idempotent=True, open_world=False
        )
        assert tool.title and tool.description
        assert all(field.description for field in tool.parameters.schema)
    prompt = (await async_api(hass)).api_prompt
    assert WHERE in prompt
    assert "No bike_tracker tool can arm or disarm a guard." in prompt


@pytest.mark.usefixtures("exposed")
async def test_names(hass: HomeAssistant, ask: Ask) -> None:
    """A bike is found by the user's name for it and by its aliases. Case and outer spaces are ignored."""
    er.async_get(hass).async_update_entity(
        RED_BIKE, name="Flitzer", aliases=[er.COMPUTED_NAME, "Old Betty"]
    )
    for name in ("Flitzer", " flitzer ", "OLD BETTY"):
        [bike] = await ask(name=name)
        assert bike["name"] == "Flitzer"
    await ask(name="Red bike", is_wrong=True)


async def test_units_of_the_house(exposed: Bikes, ask: Ask) -> None:
    """In a house with imperial units, speeds are in miles per hour."""
    exposed.hass.config.units = US_CUSTOMARY_SYSTEM
    await async_ride(exposed)
    [answer] = await ask(RIDES)
    assert answer["rides"][0]["maximum_speed"] == "10 mph"


async def test_days(exposed: Bikes, ask: Ask) -> None:
    """With `days` 1, rides of today are returned. A number above 31 is read as 31, and a number below 1 is refused."""
    await async_ride(exposed)
    # Summer time ended within these 31 days, so two offsets from UTC appear.
    for days, since in (
        *((1, "2026-11-20T00:00:00+01:00"), ("3", "2026-11-18T00:00:00+01:00")),
        *((31, "2026-10-21T00:00:00+02:00"), (9_999, "2026-10-21T00:00:00+02:00")),
    ):
        [answer] = await ask(RIDES, days=days)
        assert answer["since"] == since
    for days in (0, -1, "many"):
        with pytest.raises(vol.Invalid):
            await ask(RIDES, days=days)

    await exposed.poll(2 * 86_400)
    [answer] = await ask(RIDES, days=2)
    assert (answer["count"], answer["rides"]) == (0, [])
    assert answer["total_distance"] == "0.0 km"
    [answer] = await ask(RIDES)
    assert answer["count"] == 1


async def test_places(hass: HomeAssistant, entry: MockConfigEntry, ask: Ask) -> None:
    """A place is described by its zone. Without a zone, it is described by its address, or else by its coordinates."""
    work = {"latitude": DEFAULT_LATITUDE, "longitude": DEFAULT_LONGITUDE}
    away = {"latitude": 48.123456, "longitude": 7.8}
    places = [(None, None), (work, away), (away | {"address": "Salzstraße 2"}, None)]
    rides = [
        row(timedelta(hours=hours), duration=300, distance=1.5, start=start, end=end)
        for hours, (start, end) in zip((3, 2, 1), places, strict=True)
    ]
    store(hass, entry, rides)
    await async_setup(hass, entry)
    expose(hass, RED_BIKE)

    [bike] = await ask(RIDES)
    assert [(ride.get("start"), ride.get("end")) for ride in bike["rides"]] == [
        (None, None),
        ("Work", "48.1235, 7.8"),
        ("Salzstraße 2", None),
    ]
    assert (bike["total_distance"], bike["total_duration"]) == ("4.5 km", "15 min")


async def test_client_of_the_mcp_server(
    exposed: Bikes, hass_client: ClientSessionGenerator, hass_access_token: str
) -> None:
    """Clients of the Model Context Protocol can list and call the tools."""
    mcp = pytest.importorskip("mcp", reason="Home Assistant before 2026.10")
    http = pytest.importorskip("mcp.client.streamable_http")
    data: dict[str, Any] = {"llm_hass_api": [llm.LLM_API_ASSIST], "require_admin": True}
    server = MockConfigEntry(
        domain="mcp_server", data={**data, "all_llm_apis": False}, minor_version=3
    )
    server.add_to_hass(exposed.hass)
    assert await exposed.hass.config_entries.async_setup(server.entry_id)
    url = str((await hass_client()).make_url("/api/mcp"))
    headers = {"Authorization": f"Bearer {hass_access_token}"}
    await async_ride(exposed)

    async with (
        httpx.AsyncClient(headers=headers) as session,
        http.streamable_http_client(url, http_client=session) as (read, write, _),
        mcp.ClientSession(read, write) as client,
    ):
        await client.initialize()
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        rides = await client.call_tool(RIDES, {"days": 40})

    assert tools[RIDES].inputSchema["properties"].keys() == {"name", "days"}
    assert "required" not in tools[RIDES].inputSchema
    [bike] = json.loads(rides.content[0].text)["bikes"]
    assert bike["count"] == 1


@pytest.mark.usefixtures("exposed")
async def test_older_home_assistant(
    hass: HomeAssistant,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Older releases of Home Assistant have no tools. Nothing is logged."""
    for name in ("ToolAnnotations", "ToolResult"):
        monkeypatch.delattr(llm, name, raising=False)
    sys.modules.pop("custom_components.bike_tracker.llm", None)
    caplog.clear()
    assert await async_tools(hass) == {}
    assert not [line for line in caplog.records if line.levelno > logging.DEBUG]
