"""Binary sensors: online, disabled, moving."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import override

from homeassistant.components.binary_sensor import (
    BinarySensorDeviceClass,
    BinarySensorEntity,
    BinarySensorEntityDescription,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .api import Bike
from .coordinator import UsualCoordinator
from .entity import UsualEntity, add_new

PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class UsualBinarySensorDescription(BinarySensorEntityDescription):
    """A binary sensor."""

    value_fn: Callable[[Bike], bool | None]
    only_if_reported: bool = False


DESCRIPTIONS = (
    UsualBinarySensorDescription(
        key="online",
        translation_key="online",
        device_class=BinarySensorDeviceClass.CONNECTIVITY,
        value_fn=lambda bike: bike.status == "online",
    ),
    UsualBinarySensorDescription(
        key="disabled",
        translation_key="disabled",
        entity_category=EntityCategory.DIAGNOSTIC,
        value_fn=lambda bike: bike.disabled,
    ),
    UsualBinarySensorDescription(
        key="motion",
        device_class=BinarySensorDeviceClass.MOVING,
        only_if_reported=True,
        value_fn=lambda bike: bike.motion,
    ),
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ConfigEntry[UsualCoordinator],
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the binary sensors."""
    add_new(
        entry,
        async_add_entities,
        lambda coordinator, unique_id: (
            UsualBinarySensor(coordinator, unique_id, description)
            for description in DESCRIPTIONS
            if not description.only_if_reported
            or description.value_fn(coordinator.data[unique_id]) is not None
        ),
    )


class UsualBinarySensor(UsualEntity, BinarySensorEntity):
    """A yes or no."""

    entity_description: UsualBinarySensorDescription

    @property
    @override
    def is_on(self) -> bool | None:
        """Return the value."""
        return self.entity_description.value_fn(self.bike)
