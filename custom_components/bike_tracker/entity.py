"""The base of all entities, and the one place that adds them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, override

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.entity import EntityDescription
from homeassistant.helpers.entity_platform import (
    AddConfigEntryEntitiesCallback as AddEntities,
    async_get_current_platform,
)
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .const import DOMAIN
from .coordinator import BikeTrackerCoordinator
from .registry.devices import description_of
from .registry.repair_issues import async_create_issue, async_delete_issue
from .tracking.account import log_errors
from .tracking.state import Tracker

MAX_ENTITIES = 10_000
"""Home Assistant adds no more for one config entry; a person may enable more."""
_TOO_MANY: Final = "too_many_trackers"


@dataclass(frozen=True, kw_only=True)
class BikeTrackerDescription[T](EntityDescription):
    """One value of a tracker."""

    value_fn: Callable[[Tracker], T | None] = lambda _: None
    """Returns the value, or None while it is unknown."""
    reported_fn: Callable[[Tracker], object] | None = None
    """Returns None for a tracker without such an entity; by default that is the value."""

    def is_reported(self, tracker: Tracker) -> bool:
        """Return whether a tracker reported what it takes to have the entity."""
        return (self.reported_fn or self.value_fn)(tracker) is not None

    def unique_id_of(self, tracker: str) -> str:
        """Return the unique ID of a tracker's entity; one named as its device has its."""
        return tracker if self.name is None else f"{tracker}_{self.key}"


class BikeTrackerEntity[T](CoordinatorEntity[BikeTrackerCoordinator]):
    """One value of one tracker, written only when it is another one.

    To compare costs nothing that can be measured, and a write that is not needed 10
    microseconds.
    """

    _attr_has_entity_name = True
    _is_available_in_outage = False
    """Whether its value is our own, so that it needs no service that answers."""
    _available = False
    _value: T | None = None

    def __init__(
        self,
        coordinator: BikeTrackerCoordinator,
        tracker: str,
        description: BikeTrackerDescription[T],
        device: dr.DeviceEntry,
    ) -> None:
        """Take the tracker's `uniqueId` and its device."""
        super().__init__(coordinator, context=tracker)
        self.entity_description = description
        # What its name and its icon are found by.
        self._attr_translation_key = description.key
        self._value_fn = description.value_fn
        self.device_entry = device
        self._attr_unique_id = description.unique_id_of(tracker)

    @property
    @override
    def available(self) -> bool:
        """Return whether the last answer listed the tracker, and is not out of date."""
        return self._available

    @property
    def tracker(self) -> Tracker | None:
        """Return the tracker, None while it is not listed."""
        return self.coordinator.data.trackers.get(self.coordinator_context)

    @override
    async def async_added_to_hass(self) -> None:
        """Listen to the tracker; the entity is unavailable while it cannot be read."""
        await super().async_added_to_hass()
        # Home Assistant would never add it again.
        with log_errors(self.coordinator.config_entry.title, "reading a tracker"):
            self._read()

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        if self._read():
            self.async_write_ha_state()

    def _read(self) -> bool:
        """Read the tracker; return whether there is anything new to write."""
        before = self._available, self._value
        is_up = self.coordinator.last_update_success or self._is_available_in_outage
        if tracker := self.tracker:
            self._value = self._new_value(tracker)
        self._available = is_up and tracker is not None
        return (self._available, self._value) != before

    def _new_value(self, tracker: Tracker) -> T | None:
        return self._value_fn(tracker)


@dataclass(frozen=True, eq=False)
class _Kind:
    """One kind of entity, and how its platform adds them."""

    entity_class: type[BikeTrackerEntity[Any]]
    description: BikeTrackerDescription[Any]
    domain: str
    add_entities: AddEntities

    def is_registered(self, registry: er.EntityRegistry, tracker: str) -> bool:
        """Return whether a tracker's entity is registered, as after a restart."""
        unique_id = self.description.unique_id_of(tracker)
        return registry.async_get_entity_id(self.domain, DOMAIN, unique_id) is not None


@dataclass(slots=True, eq=False)
class EntityAdder:
    """Adds the entities of one account: of new trackers, and what others newly report.

    Whole trackers up to Home Assistant's limit, in order of their `uniqueId`.
    """

    coordinator: BikeTrackerCoordinator
    kinds: list[_Kind] = field(default_factory=list)
    """What platforms make of a tracker."""
    missing: dict[str, list[_Kind]] = field(default_factory=dict)
    """What a tracker has no entity of yet; all kinds for one that is new."""
    left_out: set[str] = field(default_factory=set)
    """Trackers for which there is no room."""

    async def async_start(self) -> None:
        """Add the entities of all trackers, and from now on what is missing."""
        coordinator, entry = self.coordinator, self.coordinator.config_entry
        hass, signal = coordinator.hass, coordinator.signal()
        entry.async_on_unload(coordinator.async_add_listener(self._async_add))
        entry.async_on_unload(async_dispatcher_connect(hass, signal, self._async_add))
        entry.async_on_unload(partial(async_delete_issue, hass, entry, _TOO_MANY))
        await coordinator.async_notify(coordinator.data.trackers)

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed: it is new once it is back."""
        self.missing.pop(unique_id, None)
        self.coordinator.data.forget(unique_id)
        self.coordinator.registry.async_forget(unique_id)

    @callback
    def _async_add(self, unique_ids: Collection[str] = ()) -> None:
        """Add what is missing of these trackers or, without any, of those left out."""
        entry = self.coordinator.config_entry
        if entry.state is ConfigEntryState.UNLOAD_IN_PROGRESS:
            return
        slots, has_issue = self._free_slots(entry.entry_id), bool(self.left_out)
        batches = defaultdict[AddEntities, list[BikeTrackerEntity[Any]]](list)
        for unique_id in unique_ids or sorted(self.left_out):
            with log_errors(entry.title, "adding a tracker"):
                kinds, needed = self._fitting_kinds(unique_id, slots)
                entities = self._new_entities(unique_id, kinds) if kinds else []
                slots -= needed
                for kind, entity in zip(kinds, entities, strict=True):
                    batches[kind.add_entities].append(entity)
        for add_entities, batch in batches.items():
            add_entities(batch)
        if has_issue or self.left_out:
            self._async_update_issue()

    def _free_slots(self, entry_id: str) -> int:
        registered = er.async_get(self.coordinator.hass).entities
        enabled = registered.get_enabled_count_for_config_entry_id(entry_id)
        return max(MAX_ENTITIES - enabled, 0)

    def _fitting_kinds(self, unique_id: str, slots: int) -> tuple[list[_Kind], int]:
        """Return the missing kinds for which there is room, and how much they take."""
        tracker = self.coordinator.data.trackers.get(unique_id)
        kinds = [
            kind
            for kind in self.missing.get(unique_id, self.kinds)
            if tracker and kind.description.is_reported(tracker)
        ]
        registry = er.async_get(self.coordinator.hass)
        new = [kind for kind in kinds if not kind.is_registered(registry, unique_id)]
        needed = sum(kind.description.entity_registry_enabled_default for kind in new)
        if needed <= slots:
            self.left_out.discard(unique_id)
            return kinds, needed
        self.left_out.add(unique_id)
        return [kind for kind in kinds if kind not in new], 0

    def _new_entities(
        self, unique_id: str, kinds: list[_Kind]
    ) -> list[BikeTrackerEntity[Any]]:
        # Once for all of them: each would look it up again, as it does with DeviceInfo.
        # Set-up takes 155 instead of 200 microseconds for each of nine entities, and 88
        # instead of 125 after a restart.
        device = self._device(unique_id)
        entities = [
            kind.entity_class(self.coordinator, unique_id, kind.description, device)
            for kind in kinds
        ]
        missing = self.missing.get(unique_id, self.kinds)
        self.missing[unique_id] = [kind for kind in missing if kind not in kinds]
        return entities

    def _device(self, unique_id: str) -> dr.DeviceEntry:
        return dr.async_get(self.coordinator.hass).async_get_or_create(
            config_entry_id=self.coordinator.config_entry.entry_id,
            identifiers={(DOMAIN, unique_id)},
            serial_number=unique_id,
            **description_of(self.coordinator.data.trackers[unique_id]),
        )

    @callback
    def _async_update_issue(self) -> None:
        hass, entry = self.coordinator.hass, self.coordinator.config_entry
        if not self.left_out:
            async_delete_issue(hass, entry, _TOO_MANY)
            return
        total, limit = str(len(self.coordinator.data.trackers)), str(MAX_ENTITIES)
        left_out = str(len(self.left_out))
        async_create_issue(
            hass, entry, _TOO_MANY, total=total, left_out=left_out, limit=limit
        )


type BikeTrackerConfigEntry = ConfigEntry[EntityAdder]


async def async_register_entities(
    entity_class: type[BikeTrackerEntity[Any]],
    descriptions: Iterable[BikeTrackerDescription[Any]],
    _hass: HomeAssistant,
    entry: BikeTrackerConfigEntry,
    async_add_entities: AddEntities,
) -> None:
    """Set up a platform: register what it makes of a tracker."""
    domain = async_get_current_platform().domain
    entry.runtime_data.kinds += [
        _Kind(entity_class, description, domain, async_add_entities)
        for description in descriptions
    ]
