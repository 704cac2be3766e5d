"""What is asked, and how Home Assistant lets it be asked."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
import pytest

WHERE: Final = "bike_tracker__where"
RIDES: Final = "bike_tracker__rides"
RED_BIKE: Final = "device_tracker.red_bike"
BLUE_BIKE: Final = "device_tracker.blue_bike"

needs_tools = pytest.mark.skipif(
    not hasattr(llm, "ToolResult"), reason="Home Assistant before 2026.10"
)

type Ask = Callable[..., Awaitable[Any]]
"""Asks with a tool, and returns what is said of each bike, or that it is wrong."""

_ASSISTANT = "conversation"


def expose(hass: HomeAssistant, *entity_ids: str, exposed: bool = True) -> None:
    """Let assistants know of entities, or no longer."""
    for entity_id in entity_ids:
        async_expose_entity(hass, _ASSISTANT, entity_id, exposed)


async def async_api(hass: HomeAssistant) -> llm.APIInstance:
    """Return what an assistant is offered now."""
    context = llm.LLMContext("test", Context(), "de", _ASSISTANT, None)
    return await llm.async_get_api(hass, llm.LLM_API_ASSIST, context)


async def async_tools(hass: HomeAssistant) -> dict[str, llm.Tool]:
    """Return those of its tools that are ours, by name."""
    tools = (await async_api(hass)).tools
    return {tool.name: tool for tool in tools if tool.name.startswith("bike_tracker")}
