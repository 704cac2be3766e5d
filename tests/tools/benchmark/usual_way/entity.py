"""The base entity, and what adds entities for new trackers."""

from collections.abc import Callable, Iterable
from typing import override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import callback
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity import Entity, EntityDescription
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .api import Bike
from .coordinator import UsualCoordinator


class UsualEntity(CoordinatorEntity[UsualCoordinator]):
    """Something about a tracker."""

    _attr_has_entity_name = True

    def __init__(
        self,
        coordinator: UsualCoordinator,
        unique_id: str,
        description: EntityDescription,
    ) -> None:
        """Describe the entity and its device."""
        super().__init__(coordinator)
        self.entity_description = description
        self._unique_id = unique_id
        self._attr_unique_id = f"{unique_id}_{description.key}"
        self._attr_device_info = DeviceInfo(
            identifiers={("usual_way", unique_id)},
            name=self.bike.name,
            serial_number=unique_id,
        )

    @property
    @override
    def available(self) -> bool:
        """Return whether the tracker is listed."""
        return super().available and self._unique_id in self.coordinator.data

    @property
    def bike(self) -> Bike:
        """Return the tracker."""
        return self.coordinator.data[self._unique_id]


def add_new(
    entry: ConfigEntry[UsualCoordinator],
    async_add_entities: AddConfigEntryEntitiesCallback,
    entities_of: Callable[[UsualCoordinator, str], Iterable[Entity]],
) -> None:
    """Add the entities of all trackers, and later those of new ones."""
    coordinator = entry.runtime_data
    known: set[str] = set()

    @callback
    def add() -> None:
        new = coordinator.data.keys() - known
        known.update(new)
        if new:
            async_add_entities(
                entity
                for unique_id in new
                for entity in entities_of(coordinator, unique_id)
            )

    add()
    entry.async_on_unload(coordinator.async_add_listener(add))
