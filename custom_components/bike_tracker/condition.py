"""What automations can ask, as Home Assistant asks for it."""

from .automations import log_missing

try:
    from .automations.conditions import async_get_conditions
except ImportError as err:
    log_missing(str(err))

__all__ = ["async_get_conditions"]
