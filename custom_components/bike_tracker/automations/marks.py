"""How far the triggers of automations are, remembered over a restart."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Protocol

from homeassistant.core import CoreState, HomeAssistant, callback
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.storage import Store
from homeassistant.util.hass_dict import HassKey

from ..api.models import timestamp
from ..const import DOMAIN, LOGGER

_VERSION = 1
_SAVE_DELAY = 10


@dataclass(frozen=True, slots=True)
class Mark:
    """What a trigger does about that which a tracker is since then."""

    since: datetime
    counts_from: datetime | None
    """When its wait began instead; None is that it is told, or not to be told."""


type MarksOfTrackers = Mapping[str, Mark | None]
"""By `uniqueId`; None is a tracker that was seen, with nothing to note."""


class Marked(Protocol):
    """A trigger that is listening."""

    key: str
    """The same after a restart."""

    @property
    def marks(self) -> MarksOfTrackers:
        """How far it is."""


class Marks:
    """Keeps how far all triggers are in Home Assistant's storage folder."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin with no trigger listening."""
        self._hass = hass
        self._store = _store(hass)
        self._listening: list[Marked] = []
        self._remembered: list[tuple[str, MarksOfTrackers]] = []

    async def async_load(self) -> None:
        """Take in how far triggers were, as far as it is there and readable."""
        try:
            stored = await self._store.async_load()
        except Exception as err:  # noqa: BLE001 - it costs what is remembered, no more
            LOGGER.warning("How far triggers were is not readable: %s", err)
        else:
            self._remembered = _from_json(stored)

    @callback
    def async_recall(self, key: str) -> MarksOfTrackers:
        """Return how far a trigger was before Home Assistant started, each one once.

        One that begins to listen later is of an automation that is new or was off.
        """
        if self._hass.state is CoreState.running:
            return {}
        for number, (known, marks) in enumerate(self._remembered):
            if known == key:
                del self._remembered[number]
                return marks
        return {}

    @callback
    def async_add(self, trigger: Marked) -> None:
        """Remember how far this one is, from now on."""
        self._listening.append(trigger)
        self.async_save_later()

    @callback
    def async_remove(self, trigger: Marked) -> None:
        """Remember no more of it, unless it ends with Home Assistant."""
        if not self._hass.is_stopping:
            self._listening.remove(trigger)
            self.async_save_later()

    @callback
    def async_save_later(self) -> None:
        """Write within seconds, or when Home Assistant stops; no file without need."""
        if any(trigger.marks for trigger in self._listening):
            self._store.async_delay_save(self._to_save, _SAVE_DELAY)
        else:
            self._hass.async_create_task(self._store.async_remove())

    @callback
    def _to_save(self) -> list[dict[str, Any]]:
        return [
            {
                "trigger": trigger.key,
                "trackers": {
                    unique_id: mark and asdict(mark)
                    for unique_id, mark in trigger.marks.items()
                },
            }
            for trigger in self._listening
        ]


_MARKS: HassKey[Marks] = HassKey(f"{DOMAIN}_marks")


@singleton(_MARKS, async_=True)
async def async_get_marks(hass: HomeAssistant) -> Marks:
    """Return how far the triggers are."""
    marks = Marks(hass)
    await marks.async_load()
    return marks


def _store(hass: HomeAssistant) -> Store[list[dict[str, Any]]]:
    return Store(hass, _VERSION, f"{DOMAIN}.triggers", private=True, atomic_writes=True)


def _from_json(stored: object) -> list[tuple[str, MarksOfTrackers]]:
    """Return what is readable of a file that anybody may have written."""
    return [
        (key, {str(unique_id): _mark(values) for unique_id, values in trackers.items()})
        for item in (stored if isinstance(stored, list) else [])
        if isinstance(item, dict)
        and isinstance(key := item.get("trigger"), str)
        and isinstance(trackers := item.get("trackers"), dict)
    ]


def _mark(values: object) -> Mark | None:
    if not isinstance(values, dict):
        return None
    since = timestamp(values.get("since"))
    if since is None:
        return None
    return Mark(since, timestamp(values.get("counts_from")))
