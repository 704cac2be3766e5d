"""Base of all entities, and the class that adds them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, override

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.entity import EntityDescription
from homeassistant.helpers.entity_platform import (
    AddConfigEntryEntitiesCallback as AddEntities,
)
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .const import DOMAIN
from .coordinator import BikeTrackerCoordinator
from .devices import description_of, owners_in
from .tracking import log_errors
from .tracking.state import Tracker


@dataclass(frozen=True, kw_only=True)
class BikeTrackerDescription[T](EntityDescription):
    """Description of an entity of a tracker."""

    value_fn: Callable[[Tracker], T | None] = lambda _: None
    """Function that returns the value of the entity, or None while the value is unknown."""
    reported_fn: Callable[[Tracker], object] | None = None
    """Function that returns None while a tracker needs no such entity. By default, `value_fn` is called instead."""
    entity_class: type[BikeTrackerEntity[Any]] | None = None
    """Class of the entity, if it differs from the other entities of the platform; otherwise None."""

    def is_reported(self, tracker: Tracker) -> bool:
        """Return whether a tracker needs this entity."""
        return (self.reported_fn or self.value_fn)(tracker) is not None


class BikeTrackerEntity[T](CoordinatorEntity[BikeTrackerCoordinator]):
    """An entity of a tracker. Its state is written only after a change: a write costs 10 µs."""

    _attr_has_entity_name = True
    _is_available_in_outage = False
    """Whether the entity stays available while polls fail, because its value does not depend on them."""
    available = False
    """Whether the tracker is listed, and polls succeed or are not needed for the value."""
    _value: T | None = None

    def __init__(
        self,
        coordinator: BikeTrackerCoordinator,
        tracker: str,
        description: BikeTrackerDescription[T],
        device: dr.DeviceEntry,
    ) -> None:
        super().__init__(coordinator, context=tracker)
        self.entity_description = description
        self._attr_translation_key = description.key
        self._value_fn = description.value_fn
        self.device_entry = device
        # The main entity, which has no name of its own, has the ID of the tracker.
        is_main = description.name is None
        self._attr_unique_id = tracker if is_main else f"{tracker}_{description.key}"

    @property
    def tracker(self) -> Tracker | None:
        """Return the tracker, or None while it is not listed."""
        return self.coordinator.data.trackers.get(self.coordinator_context)

    @override
    async def async_added_to_hass(self) -> None:
        """Listen to the tracker, and read its value."""
        await super().async_added_to_hass()
        # If `async_added_to_hass` raised an error, Home Assistant would never add the
        # entity again.
        with log_errors(self.coordinator.config_entry.title, "reading a tracker"):
            self._read()

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        if self._read():
            self.async_write_ha_state()

    def _read(self) -> bool:
        """Read the value from the tracker. Return whether the value or the availability changed."""
        before = self.available, self._value
        is_up = self.coordinator.last_update_success or self._is_available_in_outage
        if tracker := self.tracker:
            self._value = self._new_value(tracker)
        self.available = is_up and tracker is not None
        return (self.available, self._value) != before

    def _new_value(self, tracker: Tracker) -> T | None:
        return self._value_fn(tracker)


def of_position(name: str) -> Callable[[Tracker], Any]:
    """Return a function that returns the field `name` of a tracker's position, or None without a position."""
    get = attrgetter(name)
    return lambda tracker: (position := tracker.state.position) and get(position)


@dataclass(frozen=True, eq=False)
class _Kind:
    """A kind of entity, such as *Battery*, and the function that adds entities of this kind."""

    add_entities: AddEntities
    entity_class: type[BikeTrackerEntity[Any]]
    description: BikeTrackerDescription[Any]


@dataclass(slots=True, eq=False)
class EntityAdder:
    """Adds entities for new trackers, and for values that known trackers report for the first time."""

    coordinator: BikeTrackerCoordinator
    kinds: list[_Kind] = field(default_factory=list)
    """All kinds of entities."""
    missing: dict[str, list[_Kind]] = field(default_factory=dict)
    """The kinds of entities that each tracker does not have yet, by `uniqueId`."""

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed, and delete its stored data."""
        self.missing.pop(unique_id, None)
        self.coordinator.data.forget(unique_id)
        self.coordinator.database.async_forget(unique_id)
        # Another account may own the tracker from now on.
        owners_in(self.coordinator.hass).pop(unique_id, None)

    @callback
    def async_add(self, unique_ids: Collection[str]) -> Collection[str]:
        """Add entities for values that trackers report for the first time. Return the trackers that are new."""
        entry = self.coordinator.config_entry
        if entry.state is ConfigEntryState.UNLOAD_IN_PROGRESS:
            return ()
        new = [key for key in unique_ids if key not in self.missing]
        batches: dict[AddEntities, list[BikeTrackerEntity[Any]]] = defaultdict(list)
        for unique_id in unique_ids:
            with log_errors(entry.title, "adding a tracker"):
                for kind, entity in self._new_entities(unique_id):
                    batches[kind.add_entities].append(entity)
        for add_entities, batch in batches.items():
            add_entities(batch)
        return new

    def _new_entities(
        self, unique_id: str
    ) -> Iterable[tuple[_Kind, BikeTrackerEntity[Any]]]:
        """Create the entities that a tracker lacks and whose values it reports. Return each with its kind."""
        coordinator = self.coordinator
        if (tracker := coordinator.data.trackers.get(unique_id)) is None:
            return ()
        missing = self.missing.get(unique_id, self.kinds)
        kinds = [it for it in missing if it.description.is_reported(tracker)]
        if not kinds:
            return ()
        # Look the device up a single time for all its entities: this makes the set-up a
        # quarter faster.
        device = self._device(unique_id)
        entities = [
            (it, it.entity_class(coordinator, unique_id, it.description, device))
            for it in kinds
        ]
        self.missing[unique_id] = [it for it in missing if it not in kinds]
        return entities

    def _device(self, unique_id: str) -> dr.DeviceEntry:
        return dr.async_get(self.coordinator.hass).async_get_or_create(
            config_entry_id=self.coordinator.config_entry.entry_id,
            identifiers={(DOMAIN, unique_id)},
            serial_number=unique_id,
            **description_of(self.coordinator.data.trackers[unique_id]),
        )


type BikeTrackerConfigEntry = ConfigEntry[EntityAdder]


async def async_register_entities(
    entity_class: type[BikeTrackerEntity[Any]],
    descriptions: Iterable[BikeTrackerDescription[Any]],
    _hass: HomeAssistant,
    entry: BikeTrackerConfigEntry,
    async_add_entities: AddEntities,
) -> None:
    """Set up a platform: register its kinds of entities. `EntityAdder` adds the entities of each tracker."""
    entry.runtime_data.kinds += [
        _Kind(async_add_entities, it.entity_class or entity_class, it)
        for it in descriptions
    ]
