"""What is offered to whom."""

import json
import re

from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, llm
import pytest

from ..conftest import RED, Poll
from ..test_rides import async_ride, go, riding
from ..tools.simulator.server import Simulator
from .asking import (
    BLUE_BIKE,
    RED_BIKE,
    RIDES,
    WHERE,
    Ask,
    async_api,
    async_tools,
    expose,
    needs_tools,
)

pytestmark = needs_tools


@pytest.mark.usefixtures("setup")
async def test_exposed_alone(hass: HomeAssistant, ask: Ask) -> None:
    """A bike that is not exposed is neither told of nor named; without any, no tool is there."""
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

    # What is there for an assistant that began before.
    before = await async_api(hass)
    expose(hass, RED_BIKE, BLUE_BIKE, exposed=False)
    result = await before.async_call_tool(llm.ToolInput(WHERE, {}))
    assert result.error
    assert "bike_tracker__where" not in (await async_api(hass)).api_prompt


@pytest.mark.usefixtures("exposed")
async def test_tools_only_read(hass: HomeAssistant) -> None:
    """They say so, and what they take."""
    tools = await async_tools(hass)
    for tool in tools.values():
        assert tool.annotations == llm.ToolAnnotations(
            read_only=True, destructive=False, idempotent=True, open_world=False
        )
        assert tool.integration == "bike_tracker"
        assert tool.title
        assert tool.description
    names = {
        name: {str(x) for x in tool.parameters.schema} for name, tool in tools.items()
    }
    assert names == {WHERE: {"name"}, RIDES: {"name", "days"}}
    assert WHERE in (await async_api(hass)).api_prompt


@pytest.mark.usefixtures("exposed")
async def test_names(
    hass: HomeAssistant, ask: Ask, entity_registry: er.EntityRegistry
) -> None:
    """A bike is known by the name a person gave it and by its aliases, however written."""
    entity_registry.async_update_entity(
        RED_BIKE, name="Flitzer", aliases=[er.COMPUTED_NAME, "Old Betty"]
    )
    for name in ("Flitzer", " flitzer ", "OLD BETTY"):
        [bike] = await ask(name=name)
        assert bike["name"] == "Flitzer"
    await ask(name="Red bike", is_wrong=True)


@pytest.mark.usefixtures("exposed")
async def test_nothing_private(simulator: Simulator, poll: Poll, ask: Ask) -> None:
    """No serial number is told, and no place nearer than ten metres."""
    await async_ride(simulator, poll)
    go(simulator, 500, **riding(103))
    await poll()
    fired = json.dumps([await ask(), await ask(RIDES)])
    assert RED not in fired
    assert not re.search(r"\d\.\d{5}", fired)
