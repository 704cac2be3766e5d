"""Fixtures of the tests of answers: assistants, their tools, and bikes at known places."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
import json
from typing import Any, Final

from freezegun.api import FrozenDateTimeFactory
import gpxpy
from gpxpy.gpx import GPXTrack
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.llm import ToolInput
from homeassistant.loader import DATA_CUSTOM_COMPONENTS
from homeassistant.setup import async_setup_component
import pytest

from ..conftest import Bikes
from ..tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE

WHERE: Final = "bike_tracker__where"
RIDES: Final = "bike_tracker__rides"
RED_BIKE: Final = "device_tracker.red_bike"
BLUE_BIKE: Final = "device_tracker.blue_bike"

type Ask = Callable[..., Awaitable[Any]]
"""Calls a tool. Returns the answer for each bike, or the error."""

_ASSISTANT = "conversation"


def read(gpx: str) -> GPXTrack:
    """Parse a GPX file, and return its only track."""
    [track] = gpxpy.parse(gpx, version="1.1").tracks
    return track


def expose(hass: HomeAssistant, *entity_ids: str, exposed: bool = True) -> None:
    """Expose entities to assistants, or stop exposing them."""
    for entity_id in entity_ids:
        async_expose_entity(hass, _ASSISTANT, entity_id, exposed)


async def async_api(hass: HomeAssistant) -> llm.APIInstance:
    """Return the API with the tools that an assistant can use now."""
    context = llm.LLMContext("test", Context(), "de", _ASSISTANT, None)
    return await llm.async_get_api(hass, llm.LLM_API_ASSIST, context)


async def async_tools(hass: HomeAssistant) -> dict[str, llm.Tool]:
    """Return the integration's tools by their names."""
    tools = (await async_api(hass)).tools
    return {tool.name: tool for tool in tools if tool.name.startswith("bike_tracker")}


@pytest.fixture(autouse=True)
def integration() -> None:
    """Override the fixture that starts Home Assistant: not all tests of this folder need it."""


@pytest.fixture
async def hass(
    hass: HomeAssistant, socket_enabled: None, freezer: FrozenDateTimeFactory
) -> HomeAssistant:
    """Return a Home Assistant whose home is 2 km south of the bikes. The bikes are in the zone *Work*."""
    hass.data.pop(DATA_CUSTOM_COMPONENTS)
    freezer.move_to(datetime(2026, 11, 20, 12, tzinfo=UTC))
    await hass.config.async_set_time_zone("Europe/Berlin")
    hass.config.latitude = DEFAULT_LATITUDE - 0.018
    hass.config.longitude = DEFAULT_LONGITUDE
    work = {"latitude": DEFAULT_LATITUDE, "longitude": DEFAULT_LONGITUDE}
    zones = {"zone": [{"name": "Work", "radius": 100, **work}]}
    for component in ("homeassistant", "zone", "llm"):
        assert await async_setup_component(hass, component, zones)
    return hass


@pytest.fixture
def ask(hass: HomeAssistant) -> Ask:
    """Return a function that calls a tool, by default `where`. Skip the test if Home Assistant is too old for tools."""
    if not hasattr(llm, "ToolResult"):
        pytest.skip("Home Assistant before 2026.10")

    async def _ask(tool: str = WHERE, *, is_wrong: bool = False, **args: Any) -> Any:
        result = await (await async_api(hass)).async_call_tool(ToolInput(tool, args))
        assert result.error is is_wrong
        # Convert the data to JSON and back, because assistants get JSON.
        data = json.loads(json.dumps(result.data))
        return data["error" if is_wrong else "bikes"]

    return _ask


@pytest.fixture
async def exposed(ready: Bikes) -> Bikes:
    """Return an account whose red bike is exposed to assistants."""
    expose(ready.hass, RED_BIKE)
    return ready
