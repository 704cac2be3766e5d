"""Conditions. Home Assistant looks for them in this module."""

from .const import LOGGER

try:
    from .automations.conditions import async_get_conditions
except ImportError as err:
    # An error here would stop Home Assistant from loading the other platforms.
    LOGGER.warning(
        "Conditions do not work with this release of Home Assistant: %s", err
    )

__all__ = ["async_get_conditions"]
