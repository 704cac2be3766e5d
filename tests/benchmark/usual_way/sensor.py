"""Sensors: last update, and two that are disabled by default."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import override

from homeassistant.components.sensor import (
    SensorDeviceClass,
    SensorEntity,
    SensorEntityDescription,
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
class UsualSensorDescription(SensorEntityDescription):
    """A sensor."""

    value_fn: Callable[[Bike], datetime | int]


DESCRIPTIONS = (
    UsualSensorDescription(
        key="last_update",
        translation_key="last_update",
        device_class=SensorDeviceClass.TIMESTAMP,
        entity_category=EntityCategory.DIAGNOSTIC,
        value_fn=lambda bike: bike.last_update,
    ),
    UsualSensorDescription(
        key="position_id",
        translation_key="position_id",
        entity_category=EntityCategory.DIAGNOSTIC,
        entity_registry_enabled_default=False,
        value_fn=lambda bike: bike.position_id,
    ),
    UsualSensorDescription(
        key="group_id",
        translation_key="group_id",
        entity_category=EntityCategory.DIAGNOSTIC,
        entity_registry_enabled_default=False,
        value_fn=lambda bike: bike.group_id,
    ),
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ConfigEntry[UsualCoordinator],
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the sensors."""
    add_new(
        entry,
        async_add_entities,
        lambda coordinator, unique_id: (
            UsualSensor(coordinator, unique_id, description)
            for description in DESCRIPTIONS
        ),
    )


class UsualSensor(UsualEntity, SensorEntity):
    """A value."""

    entity_description: UsualSensorDescription

    @property
    @override
    def native_value(self) -> datetime | int:
        """Return the value."""
        return self.entity_description.value_fn(self.bike)
