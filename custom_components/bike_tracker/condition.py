"""What automations can ask, as Home Assistant asks for it."""

from typing import TYPE_CHECKING

from homeassistant.core import HomeAssistant

from .automations import log_missing

if TYPE_CHECKING:
    from homeassistant.helpers.condition import Condition

try:
    from .automations.conditions import CONDITIONS
except ImportError as err:
    log_missing(str(err))
    CONDITIONS = {}


async def async_get_conditions(hass: HomeAssistant) -> dict[str, type[Condition]]:
    """Return the conditions by name."""
    return CONDITIONS
