"""What assistants can ask, as Home Assistant asks for it."""

from homeassistant.components.llm import LLMTools
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.llm import LLM_API_ASSIST, LLMContext

from .responses.bikes import exposed_bikes

try:
    from .responses.tools import TOOLS
except ImportError:
    # Home Assistant before 2026.10.
    TOOLS = ()

_PROMPT = (
    "Use bike_tracker__where for where a bike is: the live context does not tell it."
)


@callback
def async_get_tools(
    hass: HomeAssistant, llm_context: LLMContext, api_id: str
) -> LLMTools | None:
    """Return the tools if there is a bike that the assistant may know."""
    if api_id != LLM_API_ASSIST or not TOOLS:
        return None
    names = [bike.name for bike in exposed_bikes(hass, llm_context.assistant)]
    return LLMTools([tool(names) for tool in TOOLS], _PROMPT) if names else None
