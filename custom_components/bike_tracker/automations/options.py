"""What a person fills in for triggers and conditions."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from homeassistant.const import CONF_FOR, CONF_OPTIONS, CONF_TARGET
from homeassistant.helpers import config_validation as cv
import voluptuous as vol

_LONGEST: Final = timedelta(days=365)
_TOO_LONG: Final = "more than a year is too long"


def schema(
    target: Any, wait: timedelta | None, more: Mapping[Any, Any] | None = None
) -> vol.Schema:
    """Return what is to be filled in; with for how long unless told otherwise."""
    options = dict(more or {})
    if wait is not None:
        options[vol.Optional(CONF_FOR, default=wait)] = _duration
    return vol.Schema(
        {
            vol.Required(CONF_TARGET): target,
            vol.Required(CONF_OPTIONS, default=dict): options,
        }
    )


def _duration(value: object) -> timedelta:
    try:
        duration: timedelta = cv.positive_time_period(value)
    except OverflowError as err:
        raise vol.Invalid(_TOO_LONG) from err
    if duration > _LONGEST:
        raise vol.Invalid(_TOO_LONG)
    return duration
