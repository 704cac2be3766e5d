"""What a person fills in for triggers and conditions."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

from homeassistant.const import CONF_FOR, CONF_OPTIONS, CONF_TARGET
from homeassistant.helpers import config_validation as cv
import voluptuous as vol

_LONGEST: Final = timedelta(days=365)


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
    with suppress(OverflowError):
        duration: timedelta = cv.positive_time_period(value)
        if duration <= _LONGEST:
            return duration
    raise vol.Invalid("more than a year is too long")
