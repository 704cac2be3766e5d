"""Triggers and conditions of automations.

They stand on what the service said. Home Assistant's interface for them may change:
nothing else of the integration needs what is in here to start.
"""

from functools import cache

from ..const import LOGGER


@cache
def log_missing(reason: str) -> None:
    """Say once what this Home Assistant lacks."""
    LOGGER.warning(
        "Triggers or conditions of Bike Tracker do not fit this release of "
        "Home Assistant, all else works: %s",
        reason,
    )
