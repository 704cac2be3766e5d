"""The tools, with which an assistant asks."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, override

from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import (
    LLMContext,
    Tool,
    ToolAnnotations,
    ToolInput,
    ToolResult,
)
from homeassistant.util.json import JsonObjectType
import voluptuous as vol

from ..const import DOMAIN
from .bikes import exposed_bikes
from .spoken import MOST_DAYS, rides, where


class _BikeTool(Tool):
    """Asks something of one bike, or of each."""

    annotations = ToolAnnotations(
        read_only=True, destructive=False, idempotent=True, open_world=False
    )
    integration = DOMAIN
    fields: ClassVar[dict[vol.Marker, Any]] = {}
    """What it takes besides the name."""
    answer: ClassVar[Callable[..., JsonObjectType]]
    """Returns what there is to say of a bike."""

    def __init__(self, names: Iterable[str]) -> None:
        """Take the names of the bikes that may be asked for."""
        known = f"The bike, all if left out. One of: {', '.join(names)}"
        self.parameters = vol.Schema(
            {vol.Optional("name", description=known): str, **self.fields}
        )

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: ToolInput, llm_context: LLMContext
    ) -> ToolResult:
        """Answer for the bikes of a name, or say that there is none."""
        fields = self.parameters(tool_input.tool_args)
        name = fields.pop("name", "")
        known = exposed_bikes(hass, llm_context.assistant)
        bikes = [bike for bike in known if not name or bike.is_called(name)]
        if not bikes:
            names = ", ".join(bike.name for bike in known) or "none"
            error = f"No bike of this name is known here. Known bikes: {names}"
            return ToolResult(data={"error": error}, error=True)
        answers = [self.answer(hass, bike, **fields) for bike in bikes]
        return ToolResult(data={"bikes": list(answers)})


class _Where(_BikeTool):
    name = f"{DOMAIN}__where"
    title = "Where a bike is"
    description = (
        "Tells where a bike is, how long ago that was, and how it is: on a ride, moving, "
        "battery, online, guarded against theft."
    )
    answer = staticmethod(where)


class _Rides(_BikeTool):
    name = f"{DOMAIN}__rides"
    title = "Rides of a bike"
    description = (
        "Tells which rides a bike made on the last days, and how far and how long it was "
        "ridden in all."
    )
    fields: ClassVar = {
        vol.Optional(
            "days",
            default=7,
            description=f"So many days up to now, at most {MOST_DAYS}. 1 is today.",
        ): vol.All(vol.Coerce(int), vol.Range(min=1))
    }
    answer = staticmethod(rides)


TOOLS: tuple[type[_BikeTool], ...] = (_Where, _Rides)
