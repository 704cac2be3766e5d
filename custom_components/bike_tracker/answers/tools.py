"""The tools, with which an assistant asks."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Final, override

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
from .bikes import Bike, exposed_bikes
from .spoken import rides, where

_MOST_DAYS: Final = 31


class _BikeTool(Tool):
    """Asks something of one bike, or of each."""

    annotations = ToolAnnotations(
        read_only=True, destructive=False, idempotent=True, open_world=False
    )
    integration = DOMAIN
    fields: ClassVar[dict[vol.Marker, Any]] = {}
    """What it takes besides the name."""

    def __init__(self, names: Iterable[str]) -> None:
        """Take the names of the bikes that may be asked for."""
        known = f"The bike, all if left out. One of: {', '.join(names)}"
        self.parameters = vol.Schema(
            {vol.Optional("name", description=known): str, **self.fields}
        )

    @abstractmethod
    def answer(self, hass: HomeAssistant, bike: Bike, **fields: Any) -> JsonObjectType:
        """Return what there is to say of a bike."""

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

    @override
    def answer(self, hass: HomeAssistant, bike: Bike, **fields: Any) -> JsonObjectType:
        return where(hass, bike)


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
            description=f"So many days up to now, at most {_MOST_DAYS}. 1 is today.",
        ): vol.All(vol.Coerce(int), vol.Range(min=1))
    }

    @override
    def answer(self, hass: HomeAssistant, bike: Bike, **fields: Any) -> JsonObjectType:
        return rides(hass, bike, min(fields["days"], _MOST_DAYS))


TOOLS: tuple[type[_BikeTool], ...] = (_Where, _Rides)
