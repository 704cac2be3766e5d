"""The base of all entities, and the one place that adds them."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any, Final, override

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.device_registry import DeviceEntry
from homeassistant.helpers.entity import EntityDescription
from homeassistant.helpers.entity_platform import (
    AddConfigEntryEntitiesCallback as AddEntities,
    async_get_current_platform,
)
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .const import DOMAIN, LOGGER
from .coordinator import BikeTrackerCoordinator
from .registry.devices import description_of
from .registry.repair_issues import async_create_issue, async_delete_issue
from .tracking import Tracker, Trackers

MAX_ENTITIES = 10_000
"""Home Assistant adds no more enabled entities than this for one config entry."""
# Ten milliseconds of work where each has nine entities.
_TRACKERS_AT_ONCE: Final = 8


@dataclass(frozen=True, kw_only=True)
class BikeTrackerDescription[T](EntityDescription):
    """One value of a tracker."""

    value_fn: Callable[[Tracker], T | None]
    """Returns the value, or None while it is unknown."""
    reported_fn: Callable[[Tracker], object] | None = None
    """Returns None for a tracker without such an entity; by default that is the value."""

    def is_reported(self, tracker: Tracker) -> bool:
        """Return whether a tracker reported what it takes to have the entity."""
        return (self.reported_fn or self.value_fn)(tracker) is not None


def always(_: Tracker) -> object:
    """Return that every tracker has such an entity, whatever it reported."""
    return True


class BikeTrackerEntity[T](CoordinatorEntity[BikeTrackerCoordinator]):
    """One value of one tracker, written only when it is another one.

    To compare costs nothing that can be measured, and a write that is not needed 10
    microseconds.
    """

    entity_description: BikeTrackerDescription[T]
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
        device: DeviceEntry,
    ) -> None:
        """Take the tracker's `uniqueId` and its device."""
        super().__init__(coordinator, context=tracker)
        self.entity_description = description
        self.device_entry = device
        self._attr_unique_id = self.unique_id_of(tracker, description)

    @staticmethod
    def unique_id_of(tracker: str, description: EntityDescription) -> str:
        """Return the unique ID of a tracker's entity."""
        return f"{tracker}_{description.key}"

    @property
    @override
    def available(self) -> bool:
        """Return whether the last answer listed the tracker, and is not out of date."""
        return self._available

    @override
    async def async_added_to_hass(self) -> None:
        """Listen to the tracker; the entity is unavailable while it cannot be read."""
        await super().async_added_to_hass()
        try:
            self._read()
        except Exception:  # noqa: BLE001 - Home Assistant would never add it again
            title = self.coordinator.config_entry.title
            LOGGER.exception("%s: Unexpected error reading a tracker", title)

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        if self._read():
            self.async_write_ha_state()

    def _read(self) -> bool:
        """Read the tracker; return whether there is anything new to write."""
        tracker = self.coordinator.data.after.get(self.coordinator_context)
        is_up = self._is_available_in_outage or self.coordinator.last_update_success
        available = is_up and tracker is not None
        value = self._value
        if tracker is not None:
            value = self._new_value(tracker)
        if available is self._available and value == self._value:
            return False
        self._available, self._value = available, value
        return True

    def _new_value(self, tracker: Tracker) -> T | None:
        return self.entity_description.value_fn(tracker)


@dataclass(frozen=True, eq=False)
class _Kind:
    """One kind of entity, and which trackers have one."""

    entity_class: type[BikeTrackerEntity[Any]]
    description: BikeTrackerDescription[Any]
    domain: str
    add_entities: AddEntities
    added: set[str] = field(default_factory=set)

    def is_registered(self, registry: er.EntityRegistry, unique_id: str) -> bool:
        """Return whether a tracker's entity is registered, as after a restart."""
        entity = self.entity_class.unique_id_of(unique_id, self.description)
        entity_id = registry.async_get_entity_id(self.domain, DOMAIN, entity)
        return entity_id is not None


class EntityAdder:
    """Adds the entities of one account: of new trackers, and what others newly report.

    Whole trackers up to Home Assistant's limit, in order of their `uniqueId`.
    """

    def __init__(self, coordinator: BikeTrackerCoordinator) -> None:
        """Wait for the platforms to register what they make."""
        self.left_out: set[str] = set()
        """Trackers for which there is no room."""
        self._coordinator = coordinator
        self._kinds: list[_Kind] = []
        self._trackers: Trackers = {}
        self._lock = asyncio.Lock()

    @callback
    def async_register(
        self,
        entity_class: type[BikeTrackerEntity[Any]],
        descriptions: Iterable[BikeTrackerDescription[Any]],
        add_entities: AddEntities,
    ) -> None:
        """Register what the platform that is being set up makes of a tracker."""
        domain = async_get_current_platform().domain
        self._kinds += [
            _Kind(entity_class, description, domain, add_entities)
            for description in descriptions
        ]

    async def async_start(self) -> None:
        """Add the entities of all trackers, and from now on new ones."""
        coordinator, entry = self._coordinator, self._coordinator.config_entry
        entry.async_on_unload(coordinator.async_add_listener(self._async_update))
        entry.async_on_unload(self._async_delete_issue)
        self._find_missing()
        await self._async_add()

    @callback
    def _async_update(self) -> None:
        self._find_missing()
        self._async_update_issue()
        if self._coordinator.devices.adding:
            self._coordinator.config_entry.async_create_task(
                self._coordinator.hass, self._async_add()
            )

    def _find_missing(self) -> None:
        """Find the trackers that are new or report something new."""
        changes = self._coordinator.data
        known, self._trackers = self._trackers, changes.after
        changed = changes.changed_since(known) & changes.after.keys()
        for unique_id in changed - known.keys():
            # Its device may have been removed while it was gone.
            if not self._coordinator.devices.device_of(unique_id):
                for kind in self._kinds:
                    kind.added.discard(unique_id)
        self.left_out &= changes.after.keys()
        if self.left_out and self._free_slots():
            changed |= self.left_out
        adding = self._coordinator.devices.adding
        for unique_id in changed:
            try:
                if self._missing_kinds(unique_id):
                    adding.add(unique_id)
            except Exception:  # noqa: BLE001 - it costs this tracker until it reports
                self._log_error()

    def _missing_kinds(self, unique_id: str) -> list[_Kind]:
        tracker = self._trackers.get(unique_id)
        return [
            kind
            for kind in self._kinds
            if tracker
            and unique_id not in kind.added
            and kind.description.is_reported(tracker)
        ]

    async def _async_add(self) -> None:
        """Add what is missing, of some trackers at a time.

        Setting up 1,000 trackers keeps the event loop busy for 14 milliseconds in one go,
        and for more than a second if done at once.
        """
        async with self._lock:
            # In one order, so that they have the same names at every start.
            for unique_ids in batched(
                sorted(self._coordinator.devices.adding),
                _TRACKERS_AT_ONCE,
                strict=False,
            ):
                # What led to so many was long work itself: hence not at once.
                await asyncio.sleep(0)
                if (
                    self._coordinator.config_entry.state
                    is ConfigEntryState.UNLOAD_IN_PROGRESS
                ):
                    return
                self._add(unique_ids)
                self._coordinator.async_entities_added(unique_ids)
        self._async_update_issue()

    def _add(self, unique_ids: Iterable[str]) -> None:
        """Add what is missing of these trackers, as far as there is room."""
        slots = self._free_slots()
        batches = defaultdict[AddEntities, list[BikeTrackerEntity[Any]]](list)
        for unique_id in unique_ids:
            try:
                kinds, needed = self._fitting_kinds(unique_id, slots)
                entities = self._new_entities(unique_id, kinds)
            except Exception:  # noqa: BLE001 - it costs this tracker until it reports
                self._log_error()
                continue
            slots -= needed
            for kind, entity in zip(kinds, entities, strict=True):
                batches[kind.add_entities].append(entity)
                kind.added.add(unique_id)
        for add_entities, batch in batches.items():
            add_entities(batch)

    def _fitting_kinds(self, unique_id: str, slots: int) -> tuple[list[_Kind], int]:
        """Return the missing kinds for which there is room, and how much they take."""
        registry = er.async_get(self._coordinator.hass)
        kinds = self._missing_kinds(unique_id)
        known = [kind for kind in kinds if kind.is_registered(registry, unique_id)]
        needed = sum(
            kind.description.entity_registry_enabled_default
            for kind in kinds
            if kind not in known
        )
        if needed > slots:
            self.left_out.add(unique_id)
            return known, 0
        self.left_out.discard(unique_id)
        return kinds, needed

    def _new_entities(
        self, unique_id: str, kinds: Sequence[_Kind]
    ) -> list[BikeTrackerEntity[Any]]:
        if not kinds:
            return []
        # Once for all of them: each would look it up again, as it does with DeviceInfo.
        # Set-up takes 155 instead of 200 microseconds for each of nine entities, and 88
        # instead of 125 after a restart.
        device = dr.async_get(self._coordinator.hass).async_get_or_create(
            config_entry_id=self._coordinator.config_entry.entry_id,
            identifiers={(DOMAIN, unique_id)},
            serial_number=unique_id,
            **description_of(self._trackers[unique_id]),
        )
        return [
            kind.entity_class(self._coordinator, unique_id, kind.description, device)
            for kind in kinds
        ]

    def _free_slots(self) -> int:
        """Return how many more enabled entities there can be."""
        entities = er.async_get(self._coordinator.hass).entities
        enabled = entities.get_enabled_count_for_config_entry_id(
            self._coordinator.config_entry.entry_id
        )
        return MAX_ENTITIES - enabled

    @callback
    def _async_update_issue(self) -> None:
        if not self.left_out:
            self._async_delete_issue()
            return
        async_create_issue(
            self._coordinator.hass,
            self._coordinator.config_entry,
            "too_many_trackers",
            total=str(len(self._trackers)),
            left_out=str(len(self.left_out)),
            limit=str(MAX_ENTITIES),
        )

    @callback
    def _async_delete_issue(self) -> None:
        async_delete_issue(
            self._coordinator.hass, self._coordinator.config_entry, "too_many_trackers"
        )

    def _log_error(self) -> None:
        title = self._coordinator.config_entry.title
        LOGGER.exception("%s: Unexpected error adding a tracker", title)


@dataclass(frozen=True, slots=True)
class BikeTrackerData:
    """The parts that live as long as the entry is loaded."""

    coordinator: BikeTrackerCoordinator
    entities: EntityAdder


type BikeTrackerConfigEntry = ConfigEntry[BikeTrackerData]


async def async_register_entities(
    entity_class: type[BikeTrackerEntity[Any]],
    descriptions: Iterable[BikeTrackerDescription[Any]],
    _hass: HomeAssistant,
    entry: BikeTrackerConfigEntry,
    async_add_entities: AddEntities,
) -> None:
    """Set up a platform: register what it makes of a tracker."""
    entry.runtime_data.entities.async_register(
        entity_class, descriptions, async_add_entities
    )
