"""What a loaded config entry holds, and how platforms set it up."""

from dataclasses import dataclass

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from ..coordinator import BikeTrackerCoordinator
from .adder import EntityAdder, Kinds


@dataclass(frozen=True, slots=True)
class BikeTrackerData:
    """The parts that live as long as the entry is loaded."""

    coordinator: BikeTrackerCoordinator
    entities: EntityAdder


type BikeTrackerConfigEntry = ConfigEntry[BikeTrackerData]


async def async_offer(
    kinds: Kinds,
    _hass: HomeAssistant,
    entry: BikeTrackerConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Say what a platform makes of a tracker."""
    entry.runtime_data.entities.async_register(kinds, async_add_entities)
