"""What automations can listen for, as Home Assistant asks for it."""

from .automations import log_missing

try:
    from .automations.triggers import async_get_triggers
except ImportError as err:
    log_missing(str(err))

__all__ = ["async_get_triggers"]
