"""The device tracker."""

from typing import override

from homeassistant.components.device_tracker import (
    TrackerEntity,
    TrackerEntityDescription,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import UsualCoordinator
from .entity import UsualEntity, add_new

PARALLEL_UPDATES = 0

DESCRIPTION = TrackerEntityDescription(key="tracker", name=None)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ConfigEntry[UsualCoordinator],
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the device trackers."""
    add_new(
        entry,
        async_add_entities,
        lambda coordinator, unique_id: [
            UsualTracker(coordinator, unique_id, DESCRIPTION)
        ],
    )


class UsualTracker(UsualEntity, TrackerEntity):
    """A place on the map."""

    @property
    @override
    def latitude(self) -> float | None:
        """Return the latitude."""
        return self.bike.latitude

    @property
    @override
    def longitude(self) -> float | None:
        """Return the longitude."""
        return self.bike.longitude

    @property
    @override
    def location_accuracy(self) -> float:
        """Return the accuracy."""
        return self.bike.accuracy
