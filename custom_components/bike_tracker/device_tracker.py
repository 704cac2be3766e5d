"""The device tracker: where the bike is."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, override

from homeassistant.components.device_tracker import (
    TrackerEntity,
    TrackerEntityDescription,
)
from homeassistant.const import EntityCategory
from homeassistant.helpers.entity import EntityDescription

from .entity import (
    BikeTrackerDescription,
    BikeTrackerEntity,
    always,
    async_register_entities,
)
from .tracking import Tracker

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0


class Place(NamedTuple):
    """What of a position is a place on the map."""

    latitude: float
    longitude: float
    accuracy: float
    """Metres; 0 is unknown."""


@dataclass(frozen=True, kw_only=True)
class BikeTrackerTrackerDescription(
    BikeTrackerDescription[Place], TrackerEntityDescription
):
    """The device tracker of a tracker."""


def _place(tracker: Tracker) -> Place | None:
    position = tracker.shown
    if not position or position.latitude is None or position.longitude is None:
        return None
    return Place(position.latitude, position.longitude, position.accuracy)


DESCRIPTIONS = (
    BikeTrackerTrackerDescription(
        key="tracker",
        translation_key="tracker",
        reported_fn=always,
        name=None,
        value_fn=_place,
    ),
)


class BikeTrackerTracker(BikeTrackerEntity[Place], TrackerEntity):
    """The place of a tracker; unknown where the service offers none."""

    entity_description: BikeTrackerTrackerDescription

    @staticmethod
    @override
    def unique_id_of(tracker: str, description: EntityDescription) -> str:
        """Return the tracker's `uniqueId` itself."""
        return tracker

    @property
    @override
    def entity_category(self) -> EntityCategory | None:
        """Return None: with the default, triggers on the device would skip it."""
        return None

    @property
    @override
    def force_update(self) -> bool:
        """Return False: the base would record every write, changed or not."""
        return False

    @property
    @override
    def latitude(self) -> float | None:
        """Return the latitude in degrees."""
        return self._value and self._value.latitude

    @property
    @override
    def longitude(self) -> float | None:
        """Return the longitude in degrees."""
        return self._value and self._value.longitude

    @property
    @override
    def location_accuracy(self) -> float:
        """Return the accuracy in metres, 0 if unknown."""
        return self._value.accuracy if self._value else 0


async_setup_entry = partial(async_register_entities, BikeTrackerTracker, DESCRIPTIONS)
