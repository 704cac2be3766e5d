"""What automations can listen for, as Home Assistant asks for it."""

from .const import LOGGER

try:
    from .automations.triggers import async_get_triggers
except ImportError as err:
    # Home Assistant would load none of the other platforms it looks up by name.
    LOGGER.warning(
        "Triggers do not fit this release of Home Assistant, all else works: %s", err
    )

__all__ = ["async_get_triggers"]
