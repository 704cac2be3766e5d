"""Sensors: last update, IDs, and what a position carries."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import override

from homeassistant.components.sensor import (
    SensorDeviceClass,
    SensorEntity,
    SensorEntityDescription,
    SensorStateClass,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import PERCENTAGE, EntityCategory, UnitOfSpeed
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .api import Bike
from .coordinator import UsualCoordinator
from .entity import UsualEntity, add_new

PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class UsualSensorDescription(SensorEntityDescription):
    """A sensor."""

    value_fn: Callable[[Bike], datetime | float | None]
    only_if_reported: bool = False


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
    UsualSensorDescription(
        key="battery",
        device_class=SensorDeviceClass.BATTERY,
        native_unit_of_measurement=PERCENTAGE,
        state_class=SensorStateClass.MEASUREMENT,
        entity_category=EntityCategory.DIAGNOSTIC,
        suggested_display_precision=0,
        only_if_reported=True,
        value_fn=lambda bike: bike.battery_level,
    ),
    UsualSensorDescription(
        key="speed",
        device_class=SensorDeviceClass.SPEED,
        native_unit_of_measurement=UnitOfSpeed.KILOMETERS_PER_HOUR,
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=1,
        only_if_reported=True,
        value_fn=lambda bike: bike.speed,
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
            if not description.only_if_reported
            or description.value_fn(coordinator.data[unique_id]) is not None
        ),
    )


class UsualSensor(UsualEntity, SensorEntity):
    """A value."""

    entity_description: UsualSensorDescription

    @property
    @override
    def native_value(self) -> datetime | float | None:
        """Return the value."""
        return self.entity_description.value_fn(self.bike)
