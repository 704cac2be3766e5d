"""What a loaded config entry holds, and how platforms set it up."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from ..coordinator import BikeTrackerCoordinator
from ..entity import BikeTrackerDescription, BikeTrackerEntity
from .adder import EntityAdder


@dataclass(frozen=True, slots=True)
class BikeTrackerData:
    """The parts that live as long as the entry is loaded."""

    coordinator: BikeTrackerCoordinator
    entities: EntityAdder


type BikeTrackerConfigEntry = ConfigEntry[BikeTrackerData]


async def async_offer(
    entity_class: type[BikeTrackerEntity[Any]],
    descriptions: Iterable[BikeTrackerDescription[Any]],
    _hass: HomeAssistant,
    entry: BikeTrackerConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Say what a platform makes of a tracker."""
    entry.runtime_data.entities.async_register(
        entity_class, descriptions, async_add_entities
    )
