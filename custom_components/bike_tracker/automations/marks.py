"""How far triggers are with each tracker, remembered over a restart.

The account that has a tracker writes it together with what it knows of the tracker: a
kill in between could lose or double what happens.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
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


class Mark(NamedTuple):
    """How far a trigger is with a tracker."""

    joined: datetime | None
    """When it began to watch: what was so already, or happened before, is not told.

    None if nothing was so when it began.
    """
    told: datetime | None = None
    """The number of what it told last."""


class Recalled:
    """Marks that were written, each handed out once: several triggers may be alike."""

    def __init__(self, stored: Iterable[object]) -> None:
        """Take in what anybody may have written."""
        self._by_key: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        # Many began to watch at the same time.
        self._time = cache(timestamp)
        for item in stored:
            if (
                isinstance(item, dict)
                and isinstance(key := item.get("trigger"), str)
                and isinstance(trackers := item.get("trackers"), dict)
            ):
                self._by_key[key].append(trackers)

    def take(self, key: str) -> Mapping[str, Any]:
        """Return what was written of a trigger, by `uniqueId`."""
        return self._by_key[key].pop(0) if self._by_key[key] else {}

    def mark(self, values: object) -> Mark | None:
        """Return what a mark was, None if that is not readable."""
        match values:
            case [(str() | None) as joined, (str() | None) as told]:
                return Mark(self._time(joined), self._time(told))
            # As 1.1 wrote them. Nothing was so, or it was told, or its wait began later.
            case None:
                return Mark(None)
            case {"since": str(since), "counts_from": None}:
                return Mark(None, self._time(since))
            case {"since": _, "counts_from": str(counts_from)}:
                return Mark(self._time(counts_from))
        return None


class OldFile:
    """The file of 1.1, which is read once and then deleted."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Know where it is."""
        self._hass = hass
        self._store = Store[list[Any]](hass, _OLD_VERSION, _OLD_FILE)
        self.is_there = False
        self.items: list[Any] = []

    async def async_load(self) -> None:
        """Take in what it has, as far as that is readable."""
        try:
            stored = await self._store.async_load()
        except Exception as err:  # noqa: BLE001 - it costs what is remembered, no more
            LOGGER.warning("How far triggers were is not readable: %s", err)
            self.is_there = True
        else:
            self.is_there = stored is not None
            self.items = stored if isinstance(stored, list) else []

    @callback
    def async_remove_later(self) -> None:
        """Delete it once each account has written the marks that were in it."""

        async def async_remove(_now: datetime) -> None:
            await self._store.async_remove()

        self.is_there, self.items = False, []
        job = HassJob(async_remove, cancel_on_shutdown=True)
        async_call_later(self._hass, _REMOVE_AFTER, job)
