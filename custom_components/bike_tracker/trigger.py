"""What automations can listen for, as Home Assistant asks for it."""

from typing import TYPE_CHECKING

from homeassistant.core import HomeAssistant

from .automations import log_missing

if TYPE_CHECKING:
    from homeassistant.helpers.trigger import Trigger

try:
    from .automations.triggers import TRIGGERS
except ImportError as err:
    log_missing(str(err))
    TRIGGERS = {}


async def async_get_triggers(hass: HomeAssistant) -> dict[str, type[Trigger]]:
    """Return the triggers by name."""
    return TRIGGERS
