"""How far triggers are with each tracker, remembered over a restart.

The account that has a tracker writes it together with what it knows of the tracker: a
kill in between could lose or double what happens.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from homeassistant.core import HassJob, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.storage import Store

from ..api.models import timestamp
from ..const import DOMAIN, LOGGER

# The file of 1.1, which had the marks of all accounts.
_OLD_VERSION: Final = 1
_OLD_FILE: Final = f"{DOMAIN}.triggers"
# By then each account has written for certain.
_REMOVE_AFTER: Final = 60

# Many began to watch at the same time.
_time: Final = lru_cache(timestamp)


class Mark(NamedTuple):
    """How far a trigger is with a tracker."""

    joined: datetime | None
    """When it began to watch: what was so already, or happened before, is not told.

    None if nothing was so when it began.
    """
    told: datetime | None = None
    """The number of what it told last."""
    is_unsure: bool = False
    """Whether there may be one that was written before a restart, to go on with."""


def by_trigger(stored: Iterable[object]) -> defaultdict[str, list[dict[str, Any]]]:
    """Return what anybody may have written of triggers, by their keys.

    Several may be alike, of each there is what it wrote of trackers.
    """
    by_key: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in stored:
        match item:
            case {"trigger": str(key), "trackers": dict(trackers)}:
                by_key[key].append(trackers)
    return by_key


def read(written: object, otherwise: Mark) -> Mark:
    """Return what a mark was, the other one if that is not readable."""
    match written:
        case [(str() | None) as joined, (str() | None) as told]:
            return Mark(_time(joined), _time(told))
        # As 1.1 wrote them. Nothing was so, or it was told, or its wait began later.
        case None:
            return Mark(None)
        case {"since": str(since), "counts_from": None}:
            return Mark(None, _time(since))
        case {"since": _, "counts_from": str(counts_from)}:
            return Mark(_time(counts_from))
    return otherwise


def _old_file(hass: HomeAssistant) -> Store[list[Any]]:
    return Store[list[Any]](hass, _OLD_VERSION, _OLD_FILE)


async def async_read_old_file(hass: HomeAssistant) -> list[Any] | None:
    """Return what the file of 1.1 has, as far as that is readable; None without one."""
    try:
        stored = await _old_file(hass).async_load()
    except Exception as err:  # noqa: BLE001 - it costs what is remembered, no more
        LOGGER.warning("How far triggers were is not readable: %s", err)
        return []
    return stored if stored is None or isinstance(stored, list) else []


@callback
def async_remove_old_file_later(hass: HomeAssistant) -> None:
    """Delete the file of 1.1 once each account has written the marks that were in it."""

    async def async_remove(_now: datetime) -> None:
        await _old_file(hass).async_remove()

    async_call_later(
        hass, _REMOVE_AFTER, HassJob(async_remove, cancel_on_shutdown=True)
    )
