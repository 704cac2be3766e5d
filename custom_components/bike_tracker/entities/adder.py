"""The one place that adds entities: for new trackers, and for what they newly report."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.helpers.typing import UNDEFINED

from ..account import Tracker, Trackers
from ..const import DOMAIN, LOGGER
from ..coordinator import BikeTrackerCoordinator
from ..entity import BikeTrackerDescription, BikeTrackerEntity
from ..identity import name_of
from ..portions import Portions
from .limit import OPTIONAL_KINDS, EntityLimit

# Ten milliseconds of work where each has nine entities.
_TRACKERS_AT_A_TIME = 8


@dataclass(frozen=True, slots=True, eq=False)
class _Kind:
    """One kind of entity, and how its platform takes it."""

    entity_class: type[BikeTrackerEntity[Any]]
    description: BikeTrackerDescription[Any]
    add_entities: AddConfigEntryEntitiesCallback
    reported_fn: Callable[[Tracker], object]
    """Returns None for a tracker that does not have this entity."""

    def entity(self, unique_id: str) -> tuple[str, str]:
        """Return domain and unique ID of that of this tracker."""
        entity_class = self.entity_class
        return entity_class.platform_domain, entity_class.unique_id_of(
            unique_id, self.description
        )

    def needs_room(self, registry: er.EntityRegistry, unique_id: str) -> bool:
        """Return whether that of this tracker would be one more enabled entity."""
        if not self.description.entity_registry_enabled_default:
            return False
        domain, entity = self.entity(unique_id)
        return registry.async_get_entity_id(domain, DOMAIN, entity) is None


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
        self._limit = EntityLimit(hass, entry)
        # Without those that give way, as there is no room for them.
        self._kinds: list[_Kind] = []
        self._seen: Trackers = {}
        self._added: dict[str, frozenset[_Kind]] = {}
        # Almost all trackers have the same kinds of entities: one set does for them.
        self._sets: dict[frozenset[_Kind], frozenset[_Kind]] = {}
        self._adding = Portions(hass, entry, self._add, _TRACKERS_AT_A_TIME)

    @property
    def left_out(self) -> set[str]:
        """Trackers without entities, as the limit was reached, by `uniqueId`."""
        return self._limit.left_out

    @callback
    def async_register(
        self,
        entity_class: type[BikeTrackerEntity[Any]],
        descriptions: Iterable[BikeTrackerDescription[Any]],
        add_entities: AddConfigEntryEntitiesCallback,
    ) -> None:
        """Take in what a platform makes of a tracker."""
        self._kinds += [
            _Kind(entity_class, description, add_entities, _reported_fn(description))
            for description in descriptions
        ]

    async def async_start(self) -> None:
        """Add the entities of all trackers, and from now on those of new ones."""
        self._give_way()
        # In one order, so that at the limit they are the same at every start.
        self._adding.async_add(sorted(self._wanted()))
        self._entry.async_on_unload(
            self._coordinator.async_add_listener(self._async_add_wanted)
        )
        await self._adding.async_finish()

    @callback
    def async_stop(self) -> None:
        """Add nothing more, as the platforms are about to be unloaded."""
        self._adding.async_close()

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Forget a tracker whose entities another account has: it may come back."""
        self._added.pop(unique_id, None)

    @callback
    def _async_add_wanted(self) -> None:
        wanted = self._wanted()
        if self.left_out:
            self.left_out.intersection_update(self._seen)
            self._limit.async_report(len(self._seen))
            if self._limit.room >= self._least_room:
                wanted |= self.left_out
        if wanted:
            self._give_way()
            self._adding.async_add(sorted(wanted))

    @property
    def _least_room(self) -> int:
        """Return how many enabled entities a tracker has at least."""
        return sum(
            kind.description.entity_registry_enabled_default
            and not kind.description.only_if_reported
            for kind in self._kinds
        )

    def _wanted(self) -> set[str]:
        """Return the trackers that are new or report something new."""
        news = self._coordinator.data
        seen, self._seen = self._seen, news.now
        wanted = set()
        for unique_id in news.since(seen) - self.left_out:
            before, tracker = seen.get(unique_id), news.now.get(unique_id)
            if tracker is None:
                continue
            if before is None:
                self._forget_if_removed(unique_id)
            elif unique_id in self._added and before.story is tracker.story:
                continue
            # A new one has all kinds to come: that need not be found out.
            if unique_id not in self._added or self._missing_kinds(unique_id, tracker):
                wanted.add(unique_id)
        return wanted

    def _forget_if_removed(self, unique_id: str) -> None:
        """Have a tracker added anew whose device was removed while it was gone."""
        if unique_id in self._added and not dr.async_get(
            self._hass
        ).async_get_device_by_identifier((DOMAIN, unique_id), self._entry.entry_id):
            del self._added[unique_id]

    def _missing_kinds(self, unique_id: str, tracker: Tracker) -> list[_Kind]:
        added = self._added.get(unique_id, frozenset())
        if len(added) == len(self._kinds):
            return []
        try:
            return [
                kind
                for kind in self._kinds
                if kind not in added and kind.reported_fn(tracker) is not None
            ]
        except Exception:  # noqa: BLE001 - the others have theirs all the same
            LOGGER.exception(
                "%s: Unexpected error looking at what a tracker reports",
                name_of(self._entry),
            )
            return []

    def _add(self, unique_ids: Sequence[str]) -> None:
        """Add what is missing of these trackers, as far as there is room.

        A tracker of which something fails is tried again when it reports.
        """
        trackers, room = self._coordinator.data.now, self._limit.room
        made: dict[str, list[_Kind]] = {}
        entities = defaultdict[
            AddConfigEntryEntitiesCallback, list[BikeTrackerEntity[Any]]
        ](list)
        for unique_id in unique_ids:
            if (tracker := trackers.get(unique_id)) is None:
                continue
            kinds, needed = self._fitting_kinds(unique_id, tracker, room)
            try:
                new_entities = self._entities(tracker, kinds)
            except Exception:  # noqa: BLE001 - the others have theirs all the same
                LOGGER.exception(
                    "%s: Unexpected error adding a tracker, tried again when it reports",
                    name_of(self._entry),
                )
                continue
            made[unique_id] = kinds
            room -= needed
            for kind, entity in zip(kinds, new_entities, strict=True):
                entities[kind.add_entities].append(entity)
        for add_entities, new_entities in entities.items():
            add_entities(new_entities)
        for unique_id, kinds in made.items():
            self._note(unique_id, kinds)
        if self._adding.is_empty:
            self._limit.async_report(len(trackers))

    def _give_way(self) -> None:
        """Do without the least useful kinds, for all trackers alike, until all fits."""
        trackers, room = self._coordinator.data.now, self._limit.room
        if room >= len(trackers) * len(self._kinds):
            return
        needed = self._needed(trackers)
        enabled = self._enabled()
        for kind in sorted(filter(_is_optional, self._kinds), key=_usefulness):
            if sum(needed.values()) <= room:
                break
            if needed.pop(kind) or enabled[kind]:
                self._do_without(kind, enabled[kind])
                room += len(enabled[kind])

    def _needed(self, trackers: Trackers) -> dict[_Kind, int]:
        """Return how many more enabled entities of each kind there are to be."""
        registry = er.async_get(self._hass)
        needed = dict.fromkeys(self._kinds, 0)
        for unique_id, tracker in trackers.items():
            for kind in self._missing_kinds(unique_id, tracker):
                needed[kind] += kind.needs_room(registry, unique_id)
        return needed

    def _enabled(self) -> dict[_Kind, list[str]]:
        """Return the entity IDs of all entities of each kind that take up room."""
        enabled = {
            (entry.domain, entry.unique_id): entry.entity_id
            for entry in er.async_entries_for_config_entry(
                er.async_get(self._hass), self._entry.entry_id
            )
            if not entry.disabled
        }
        return {
            kind: [
                enabled[entity]
                for unique_id in self._coordinator.fleet.had
                if (entity := kind.entity(unique_id)) in enabled
            ]
            for kind in self._kinds
        }

    def _do_without(self, kind: _Kind, enabled: list[str]) -> None:
        """Have none of a kind any more, and remove those that there are."""
        for entity_id in enabled:
            er.async_get(self._hass).async_remove(entity_id)
        self._kinds.remove(kind)
        self._added = {
            unique_id: self._sets.setdefault(rest := added - {kind}, rest)
            for unique_id, added in self._added.items()
        }

    def _fitting_kinds(
        self, unique_id: str, tracker: Tracker, room: int
    ) -> tuple[list[_Kind], int]:
        """Return what there is room for, and how much room that needs.

        A tracker without entities gets all of its own or none.
        """
        kinds = self._missing_kinds(unique_id, tracker)
        registry = er.async_get(self._hass)
        more = {kind for kind in kinds if kind.needs_room(registry, unique_id)}
        self.left_out.discard(unique_id)
        if len(more) <= room:
            return kinds, len(more)
        registered = [kind for kind in kinds if kind not in more]
        if any(kind.description.entity_registry_enabled_default for kind in registered):
            return registered, 0
        self.left_out.add(unique_id)
        return [], 0

    def _entities(
        self, tracker: Tracker, kinds: list[_Kind]
    ) -> list[BikeTrackerEntity[Any]]:
        """Return new entities of a tracker, one of each kind."""
        if not kinds:
            return []
        device, unique_id = tracker.device, tracker.device.unique_id
        # Once for all of them: each would look it up again, as it does with DeviceInfo.
        # Set-up takes 155 instead of 200 microseconds for each of nine entities, and 88
        # instead of 125 after a restart.
        device_entry = dr.async_get(self._hass).async_get_or_create(
            config_entry_id=self._entry.entry_id,
            identifiers={(DOMAIN, unique_id)},
            name=device.name,
            serial_number=unique_id,
            model=device.model,
            sw_version=tracker.firmware or UNDEFINED,
        )
        return [
            kind.entity_class(
                self._coordinator, unique_id, kind.description, device_entry
            )
            for kind in kinds
        ]

    def _note(self, unique_id: str, kinds: list[_Kind]) -> None:
        """Note that these were added."""
        if kinds:
            added = self._added.get(unique_id, frozenset()).union(kinds)
            self._added[unique_id] = self._sets.setdefault(added, added)


def _reported_fn(
    description: BikeTrackerDescription[Any],
) -> Callable[[Tracker], object]:
    """Return what returns None for a tracker that does not have such an entity."""
    if not description.only_if_reported:
        return _always
    return description.reported_fn or description.value_fn


def _always(_: Tracker) -> bool:
    return True


def _is_optional(kind: _Kind) -> bool:
    return kind.description.only_if_reported


def _usefulness(kind: _Kind) -> int:
    """Return a higher number for a more useful kind."""
    return -OPTIONAL_KINDS.index(kind.description.key)
