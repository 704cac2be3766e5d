"""The one place that adds entities: for new trackers, and for what they newly report."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import batched
from types import MappingProxyType
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import (
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import DOMAIN
from .coordinator import BikeTrackerCoordinator, Tracker, Trackers
from .entity import BikeTrackerDescription, BikeTrackerEntity

# Home Assistant adds no more enabled entities than this for one config entry.
_MOST_ENTITIES = 10_000
_TRACKERS_AT_A_TIME = 50


@dataclass(frozen=True, slots=True, eq=False)
class _Kind:
    """One kind of entity, and how its platform takes it."""

    entity_class: type[BikeTrackerEntity[Any]]
    description: BikeTrackerDescription[Any]
    add_entities: AddConfigEntryEntitiesCallback

    def unique_id(self, tracker: Tracker) -> str:
        return self.entity_class.unique_id_of(
            tracker.device.unique_id, self.description
        )


type _Wanted = tuple[Tracker, list[_Kind]]
"""A tracker and the kinds of entities it does not have yet."""


class EntityAdder:
    """Adds the entities of one account, whole trackers up to Home Assistant's limit."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        coordinator: BikeTrackerCoordinator,
    ) -> None:
        """Wait for the platforms to say what they make."""
        self._hass = hass
        self._entry = entry
        self._coordinator = coordinator
        self._kinds: list[_Kind] = []
        self._seen: Trackers = MappingProxyType({})
        self._added: dict[str, frozenset[_Kind]] = {}
        self.left_out: set[str] = set()
        """Trackers without entities, as the limit was reached, by `uniqueId`."""

    @callback
    def async_register(
        self,
        entity_class: type[BikeTrackerEntity[Any]],
        descriptions: Iterable[BikeTrackerDescription[Any]],
        add_entities: AddConfigEntryEntitiesCallback,
    ) -> None:
        """Take in what a platform makes of a tracker."""
        self._kinds += [
            _Kind(entity_class, description, add_entities)
            for description in descriptions
        ]

    async def async_start(self) -> None:
        """Add the entities of all trackers, and from now on those of new ones."""
        await self._async_add(self._take_wanted())
        self._entry.async_on_unload(
            self._coordinator.async_add_listener(self._add_wanted)
        )
        self._entry.async_on_unload(self._delete_issue)

    @callback
    def _add_wanted(self) -> None:
        if wanted := self._take_wanted():
            self._entry.async_create_task(
                self._hass, self._async_add(wanted), "add entities of new trackers"
            )

    async def _async_add(self, wanted: list[_Wanted]) -> None:
        for number, batch in enumerate(
            batched(wanted, _TRACKERS_AT_A_TIME, strict=False)
        ):
            if number:
                await asyncio.sleep(0)
            entities = defaultdict[
                AddConfigEntryEntitiesCallback, list[BikeTrackerEntity[Any]]
            ](list)
            for tracker, kinds in batch:
                for kind in kinds:
                    entities[kind.add_entities].append(
                        kind.entity_class(self._coordinator, tracker, kind.description)
                    )
            for add_entities, new_entities in entities.items():
                add_entities(new_entities)

    def _take_wanted(self) -> list[_Wanted]:
        """Return what is to be added now, and count it as added."""
        wanted = [
            (tracker, kinds)
            for unique_id, tracker in self._changed()
            if (kinds := self._missing_kinds(unique_id, tracker))
        ]
        if not wanted:
            return []
        wanted = self._within_limit(wanted)
        for tracker, kinds in wanted:
            unique_id = tracker.device.unique_id
            self._added[unique_id] = self._added.get(unique_id, frozenset()).union(
                kinds
            )
        return wanted

    def _changed(self) -> list[tuple[str, Tracker]]:
        """Return the trackers that may want entities."""
        seen, self._seen = self._seen, self._coordinator.data
        changed = []
        for unique_id, tracker in self._seen.items():
            if seen.get(unique_id) is not tracker or unique_id in self.left_out:
                changed.append((unique_id, tracker))
                if unique_id not in seen and not self._has_device(unique_id):
                    # Its device was removed while the tracker was gone.
                    self._added.pop(unique_id, None)
        return changed

    def _has_device(self, unique_id: str) -> bool:
        registry = dr.async_get(self._hass)
        return (
            registry.async_get_device_by_identifier(
                (DOMAIN, unique_id), self._entry.entry_id
            )
            is not None
        )

    def _missing_kinds(self, unique_id: str, tracker: Tracker) -> list[_Kind]:
        added = self._added.get(unique_id, frozenset())
        if len(added) == len(self._kinds):
            return []
        return [
            kind
            for kind in self._kinds
            if kind not in added and kind.description.is_for(tracker)
        ]

    def _within_limit(self, wanted: list[_Wanted]) -> list[_Wanted]:
        """Return what Home Assistant's limit leaves room for: whole trackers.

        They are the same at every start: those that are registered come first, then
        the others in the order of their `uniqueId`.
        """
        registered = er.async_entries_for_config_entry(
            er.async_get(self._hass), self._entry.entry_id
        )
        room = _MOST_ENTITIES - sum(not entry.disabled for entry in registered)
        known = {(entry.domain, entry.unique_id) for entry in registered}
        costs = [
            (
                self._cost(kinds, tracker, known),
                tracker.device.unique_id,
                tracker,
                kinds,
            )
            for tracker, kinds in wanted
        ]
        costs.sort(key=lambda cost: (cost[0] > 0, cost[1]))
        within = []
        left_out: set[str] = set()
        for cost, unique_id, tracker, kinds in costs:
            if left_out or cost > room:
                left_out.add(unique_id)
                continue
            room -= cost
            within.append((tracker, kinds))
        self._report(left_out)
        return within

    @staticmethod
    def _cost(kinds: list[_Kind], tracker: Tracker, known: set[tuple[str, str]]) -> int:
        """Return how many more enabled entities these are."""
        return sum(
            kind.description.entity_registry_enabled_default
            and (kind.entity_class.platform_domain, kind.unique_id(tracker))
            not in known
            for kind in kinds
        )

    def _report(self, left_out: set[str]) -> None:
        if len(left_out) != len(self.left_out):
            if left_out:
                self._create_issue(len(left_out))
            else:
                self._delete_issue()
        self.left_out = left_out

    def _create_issue(self, left_out: int) -> None:
        total = len(self._coordinator.data)
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            self._issue_id,
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING,
            translation_key="too_many_trackers",
            translation_placeholders={
                "account": self._entry.title,
                "total": str(total),
                "left_out": str(left_out),
                "limit": str(_MOST_ENTITIES),
            },
        )

    @callback
    def _delete_issue(self) -> None:
        ir.async_delete_issue(self._hass, DOMAIN, self._issue_id)

    @property
    def _issue_id(self) -> str:
        return f"too_many_trackers_{self._entry.entry_id}"
