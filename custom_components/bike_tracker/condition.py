"""Conditions. Home Assistant looks for them in this module."""

from .const import LOGGER

try:
    from .automations.conditions import async_get_conditions
except ImportError as err:
    # Only log the error: raising it would stop Home Assistant from loading the other
    # platforms of this integration.
    LOGGER.warning(
        "Conditions do not work with this release of Home Assistant: %s", err
    )

__all__ = ["async_get_conditions"]
