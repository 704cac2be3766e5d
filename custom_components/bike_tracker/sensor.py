"""Sensors: when a tracker reported, and what its position carries."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import override

from homeassistant.components.sensor import (
    DOMAIN as SENSOR_DOMAIN,
    SensorDeviceClass,
    SensorEntity,
    SensorEntityDescription,
    SensorStateClass,
)
from homeassistant.const import (
    DEGREE,
    PERCENTAGE,
    EntityCategory,
    UnitOfElectricPotential,
    UnitOfLength,
    UnitOfSpeed,
    UnitOfTime,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .account import Tracker
from .entities.entry import BikeTrackerConfigEntry
from .entity import BikeTrackerDescription, BikeTrackerEntity

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0

# Decimal places of kilometres.
_METRES = 3

type SensorValue = datetime | float | str


@dataclass(frozen=True, kw_only=True)
class BikeTrackerSensorDescription(
    BikeTrackerDescription[SensorValue], SensorEntityDescription
):
    """A sensor of a tracker."""


def _total_distance(tracker: Tracker) -> float | None:
    if tracker.track is None or tracker.track.place is None:
        return None
    return round(tracker.track.total or 0, _METRES)


# Kinds of sensors: what a maintainer or nobody looks at, what a tracker measures, and
# what begins with its first place.
_diagnostic = partial(
    BikeTrackerSensorDescription, entity_category=EntityCategory.DIAGNOSTIC
)
_measured = partial(
    BikeTrackerSensorDescription,
    state_class=SensorStateClass.MEASUREMENT,
    only_if_reported=True,
)
_voltage = partial(
    _measured,
    device_class=SensorDeviceClass.VOLTAGE,
    native_unit_of_measurement=UnitOfElectricPotential.VOLT,
    entity_category=EntityCategory.DIAGNOSTIC,
    entity_registry_enabled_default=False,
)
_kilometres = partial(
    BikeTrackerSensorDescription,
    device_class=SensorDeviceClass.DISTANCE,
    native_unit_of_measurement=UnitOfLength.KILOMETERS,
    suggested_display_precision=1,
    only_if_reported=True,
)

DESCRIPTIONS = (
    _diagnostic(
        key="last_update",
        translation_key="last_update",
        device_class=SensorDeviceClass.TIMESTAMP,
        value_fn=lambda tracker: tracker.device.last_update,
    ),
    _diagnostic(
        key="position_id",
        translation_key="position_id",
        entity_registry_enabled_default=False,
        value_fn=lambda tracker: tracker.device.position_id,
    ),
    _diagnostic(
        key="group_id",
        translation_key="group_id",
        entity_registry_enabled_default=False,
        value_fn=lambda tracker: tracker.device.group_id,
    ),
    BikeTrackerSensorDescription(
        key="address",
        translation_key="address",
        only_if_reported=True,
        value_fn=lambda tracker: tracker.position and tracker.position.address,
    ),
    _diagnostic(
        key="position_time",
        translation_key="position_time",
        device_class=SensorDeviceClass.TIMESTAMP,
        entity_registry_enabled_default=False,
        only_if_reported=True,
        value_fn=lambda tracker: tracker.position and tracker.position.fix_time,
    ),
    _measured(
        key="battery",
        device_class=SensorDeviceClass.BATTERY,
        native_unit_of_measurement=PERCENTAGE,
        entity_category=EntityCategory.DIAGNOSTIC,
        suggested_display_precision=0,
        value_fn=lambda tracker: tracker.position and tracker.position.battery_level,
    ),
    _measured(
        key="speed",
        device_class=SensorDeviceClass.SPEED,
        native_unit_of_measurement=UnitOfSpeed.KILOMETERS_PER_HOUR,
        suggested_display_precision=1,
        value_fn=lambda tracker: tracker.position and tracker.position.speed,
    ),
    _measured(
        key="altitude",
        translation_key="altitude",
        device_class=SensorDeviceClass.DISTANCE,
        native_unit_of_measurement=UnitOfLength.METERS,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=lambda tracker: tracker.position and tracker.position.altitude,
    ),
    _measured(
        key="course",
        translation_key="course",
        native_unit_of_measurement=DEGREE,
        state_class=SensorStateClass.MEASUREMENT_ANGLE,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=lambda tracker: tracker.position and tracker.position.course,
    ),
    _voltage(
        key="battery_voltage",
        translation_key="battery_voltage",
        suggested_display_precision=2,
        value_fn=lambda tracker: tracker.hardware and tracker.hardware.battery_voltage,
    ),
    _voltage(
        key="power_voltage",
        translation_key="power_voltage",
        suggested_display_precision=1,
        value_fn=lambda tracker: tracker.hardware and tracker.hardware.power_voltage,
    ),
    _kilometres(
        key="total_distance",
        translation_key="total_distance",
        state_class=SensorStateClass.TOTAL_INCREASING,
        value_fn=_total_distance,
    ),
    _kilometres(
        key="ride_distance",
        translation_key="ride_distance",
        reported_fn=lambda tracker: tracker.place,
        value_fn=lambda tracker: tracker.ride and round(tracker.ride.distance, _METRES),
    ),
    BikeTrackerSensorDescription(
        key="ride_duration",
        translation_key="ride_duration",
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.SECONDS,
        suggested_unit_of_measurement=UnitOfTime.MINUTES,
        suggested_display_precision=0,
        only_if_reported=True,
        reported_fn=lambda tracker: tracker.place,
        value_fn=lambda tracker: tracker.ride and round(tracker.ride.duration),
    ),
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: BikeTrackerConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Say which sensors a tracker has."""
    entry.runtime_data.entities.async_register(
        BikeTrackerSensor, DESCRIPTIONS, async_add_entities
    )


class BikeTrackerSensor(BikeTrackerEntity[SensorValue], SensorEntity):
    """A value of a tracker."""

    entity_description: BikeTrackerSensorDescription
    platform_domain = SENSOR_DOMAIN

    @property
    @override
    def native_value(self) -> SensorValue | None:
        """Return the value."""
        return self._value
