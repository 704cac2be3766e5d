"""What a loaded config entry holds."""

from dataclasses import dataclass

from homeassistant.config_entries import ConfigEntry

from ..coordinator import BikeTrackerCoordinator
from .adder import EntityAdder


@dataclass(frozen=True, slots=True)
class BikeTrackerData:
    """The parts that live as long as the entry is loaded."""

    coordinator: BikeTrackerCoordinator
    entities: EntityAdder


type BikeTrackerConfigEntry = ConfigEntry[BikeTrackerData]
