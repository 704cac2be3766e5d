"""The one place that adds entities: for new trackers, and for what they newly report."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from homeassistant.core import callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.entity_platform import (
    AddConfigEntryEntitiesCallback as AddEntities,
    async_get_current_platform,
)

from ..const import DOMAIN, LOGGER
from ..coordinator import BikeTrackerCoordinator
from ..entity import BikeTrackerDescription, BikeTrackerEntity
from ..portions import Portions
from ..registry.devices import description_of
from ..tracking import Tracker, Trackers
from . import entity_limit

type Kinds = Mapping[
    type[BikeTrackerEntity[Any]], Iterable[BikeTrackerDescription[Any]]
]
"""Which entities there are, by their class."""

# Ten milliseconds of work where each has nine entities.
_TRACKERS_AT_A_TIME = 8


@dataclass(frozen=True, eq=False)
class _Kind:
    """One kind of entity, how its platform takes it, and of which trackers there is one."""

    entity_class: type[BikeTrackerEntity[Any]]
    description: BikeTrackerDescription[Any]
    domain: str
    add_entities: AddEntities
    added: set[str] = field(default_factory=set)

    @cached_property
    def reported_fn(self) -> Callable[[Tracker], object]:
        """Return what returns None for a tracker that has no such entity.

        What is not optional each tracker has, whatever it reported.
        """
        if self.description.key not in entity_limit.OPTIONAL_KINDS:
            return lambda _: True
        return self.description.reported_fn or self.description.value_fn

    def entity_id(self, registry: er.EntityRegistry, unique_id: str) -> str | None:
        """Return the entity ID of that of this tracker, if it is registered."""
        entity = self.entity_class.unique_id_of(unique_id, self.description)
        return registry.async_get_entity_id(self.domain, DOMAIN, entity)


class EntityAdder:
    """Adds the entities of one account, whole trackers up to Home Assistant's limit."""

    def __init__(self, coordinator: BikeTrackerCoordinator) -> None:
        """Wait for the platforms to say what they make."""
        self.left_out: dict[str, int] = {}
        """Trackers for which there is no room, and how many entities each needs."""
        self._coordinator = coordinator
        # Without those that gave way.
        self._kinds: list[_Kind] = []
        self._seen: Trackers = {}
        self._adding = Portions(
            coordinator.hass, coordinator.config_entry, self._add, _TRACKERS_AT_A_TIME
        )

    @callback
    def async_register(self, kinds: Kinds, add_entities: AddEntities) -> None:
        """Take in what the platform that is being set up makes of a tracker."""
        domain = async_get_current_platform().domain
        self._kinds += [
            _Kind(entity_class, description, domain, add_entities)
            for entity_class, descriptions in kinds.items()
            for description in descriptions
        ]

    async def async_start(self) -> None:
        """Add the entities of all trackers, and from now on those of new ones."""
        self._async_add_wanted()
        coordinator, entry = self._coordinator, self._coordinator.config_entry
        entry.async_on_unload(coordinator.async_add_listener(self._async_add_wanted))
        tell_none = partial(entity_limit.async_tell, coordinator.hass, entry, 0, 0)
        entry.async_on_unload(tell_none)
        await self._adding.async_finish()

    @callback
    def async_stop(self) -> None:
        """Add nothing more, as the platforms are about to be unloaded."""
        self._adding.async_close()

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Forget a tracker whose entities another account has: it may come back."""
        for kind in self._kinds:
            kind.added.discard(unique_id)

    @callback
    def _async_add_wanted(self) -> None:
        hass, entry = self._coordinator.hass, self._coordinator.config_entry
        wanted, left_out = self._wanted(), self.left_out
        waiting = {key: left_out[key] for key in left_out if key in self._seen}
        if wanted or (
            waiting and entity_limit.room(hass, entry) >= min(waiting.values())
        ):
            self.left_out = self._make_room()
            wanted |= waiting.keys()
        else:
            self.left_out = waiting
        if left_out or self.left_out:
            entity_limit.async_tell(hass, entry, len(self._seen), len(self.left_out))
        # In one order, so that they have the same names at every start.
        self._adding.async_add(sorted(wanted.difference(self.left_out)))

    def _wanted(self) -> set[str]:
        """Return the trackers that are new or report something new."""
        changes = self._coordinator.data
        seen, self._seen = self._seen, changes.after
        listed = changes.changed_since(seen) & changes.after.keys()
        for unique_id in listed - seen.keys():
            # Its device may have been removed while it was gone.
            if not self._coordinator.devices.device_of(unique_id):
                self.async_forget(unique_id)
        missing = self._each(listed - self.left_out.keys(), self._missing_kinds)
        return {unique_id for unique_id in missing if missing[unique_id]}

    def _each[T](
        self, unique_ids: Iterable[str], work: Callable[[str], T]
    ) -> dict[str, T]:
        """Return what work returns for each tracker; an error costs that tracker alone.

        It is tried again when the tracker reports.
        """
        done = {}
        for unique_id in unique_ids:
            try:
                done[unique_id] = work(unique_id)
            except Exception:  # noqa: BLE001 - the others have theirs all the same
                name = self._coordinator.config_entry.title
                LOGGER.exception("%s: Unexpected error adding a tracker", name)
        return done

    def _missing_kinds(self, unique_id: str) -> list[_Kind]:
        if (tracker := self._seen.get(unique_id)) is None:
            return []
        return [
            kind
            for kind in self._kinds
            if unique_id not in kind.added and kind.reported_fn(tracker) is not None
        ]

    def _make_room(self) -> dict[str, int]:
        """Do without kinds that give way; return which trackers are left out."""
        trackers, kinds = self._coordinator.account.remembered.stories, self._kinds
        if len(trackers) * len(kinds) <= entity_limit.MOST_ENTITIES:
            return {}
        taking = self._each(trackers, self._taking_room)
        gone, left_out = entity_limit.fitting(taking)
        if gone:
            registry = er.async_get(self._coordinator.hass)
            for entity_ids in taking.values():
                for entity_id in filter(None, map(entity_ids.get, gone)):
                    registry.async_remove(entity_id)
            self._kinds = [kind for kind in kinds if kind.description.key not in gone]
        return left_out

    def _taking_room(self, unique_id: str) -> dict[str, str | None]:
        """Return the entity ID of each enabled entity of a tracker, None of new ones."""
        registry = er.async_get(self._coordinator.hass)
        taking: dict[str, str | None] = {}
        new = self._missing_kinds(unique_id)
        for kind in self._kinds:
            entity_id = kind.entity_id(registry, unique_id)
            if entity_id:
                takes_room = not registry.entities[entity_id].disabled
            else:
                is_enabled = kind.description.entity_registry_enabled_default
                takes_room = is_enabled and kind in new
            if takes_room:
                taking[kind.description.key] = entity_id
        return taking

    def _add(self, unique_ids: Sequence[str]) -> None:
        """Add what is missing of these trackers, unless they are left out by now."""
        fitting = [key for key in unique_ids if key not in self.left_out]
        made = self._each(fitting, self._missing_entities)
        batches = defaultdict[AddEntities, list[BikeTrackerEntity[Any]]](list)
        for entities in made.values():
            for kind, entity in entities.items():
                batches[kind.add_entities].append(entity)
        for add_entities, batch in batches.items():
            add_entities(batch)
        for unique_id, entities in made.items():
            for kind in entities:
                kind.added.add(unique_id)

    def _missing_entities(self, unique_id: str) -> dict[_Kind, BikeTrackerEntity[Any]]:
        """Return a new entity of each kind that is missing."""
        if not (kinds := self._missing_kinds(unique_id)):
            return {}
        coordinator, tracker = self._coordinator, self._seen[unique_id]
        # Once for all of them: each would look it up again, as it does with DeviceInfo.
        # Set-up takes 155 instead of 200 microseconds for each of nine entities, and 88
        # instead of 125 after a restart.
        device = dr.async_get(coordinator.hass).async_get_or_create(
            config_entry_id=coordinator.config_entry.entry_id,
            identifiers={(DOMAIN, unique_id)},
            serial_number=unique_id,
            **description_of(tracker),
        )
        return {
            kind: kind.entity_class(coordinator, unique_id, kind.description, device)
            for kind in kinds
        }
