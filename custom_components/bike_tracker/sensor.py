"""Sensors: times, IDs, rides, and the values of a position."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, override

from homeassistant.components.sensor import (
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

from .entity import BikeTrackerDescription, BikeTrackerEntity, async_register_entities
from .tracking.ride_state import Ride
from .tracking.state import Tracker

# The coordinator updates all entities.
PARALLEL_UPDATES = 0

_LAST_UPDATE_STEP: Final = timedelta(minutes=5)

type SensorValue = datetime | float | str


@dataclass(frozen=True, kw_only=True)
class BikeTrackerSensorDescription(
    BikeTrackerDescription[SensorValue], SensorEntityDescription
):
    """A sensor of a tracker."""


# Kinds of sensors: values from the list of trackers, and measurements.
_listed = partial(
    BikeTrackerSensorDescription,
    reported_fn=lambda _: True,
    entity_category=EntityCategory.DIAGNOSTIC,
)
_measured = partial(
    BikeTrackerSensorDescription, state_class=SensorStateClass.MEASUREMENT
)
_voltage = partial(
    _measured,
    device_class=SensorDeviceClass.VOLTAGE,
    native_unit_of_measurement=UnitOfElectricPotential.VOLT,
    entity_category=EntityCategory.DIAGNOSTIC,
    entity_registry_enabled_default=False,
)
_kilometers = partial(
    BikeTrackerSensorDescription,
    device_class=SensorDeviceClass.DISTANCE,
    native_unit_of_measurement=UnitOfLength.KILOMETERS,
    suggested_display_precision=1,
    reported_fn=lambda tracker: tracker.has_fix or None,
)

_OF_RIDE: Final[dict[str, Callable[[Ride], float]]] = {
    "ride_distance": lambda ride: round(ride.distance, 1),
    "ride_duration": lambda ride: round(ride.duration / 60, 0),
}

DESCRIPTIONS = (
    _listed(
        key="last_update",
        device_class=SensorDeviceClass.TIMESTAMP,
        value_fn=lambda tracker: tracker.device.last_update,
    ),
    _listed(
        key="position_id",
        entity_registry_enabled_default=False,
        value_fn=lambda tracker: tracker.device.position_id,
    ),
    _listed(
        key="group_id",
        entity_registry_enabled_default=False,
        value_fn=lambda tracker: tracker.device.group_id,
    ),
    BikeTrackerSensorDescription(
        key="address",
        reported_fn=lambda tracker: tracker.position and tracker.position.address,
        value_fn=lambda tracker: tracker.address,
    ),
    BikeTrackerSensorDescription(
        key="position_time",
        entity_category=EntityCategory.DIAGNOSTIC,
        device_class=SensorDeviceClass.TIMESTAMP,
        entity_registry_enabled_default=False,
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
        device_class=SensorDeviceClass.DISTANCE,
        native_unit_of_measurement=UnitOfLength.METERS,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=lambda tracker: tracker.position and tracker.position.altitude,
    ),
    _measured(
        key="course",
        native_unit_of_measurement=DEGREE,
        state_class=SensorStateClass.MEASUREMENT_ANGLE,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=lambda tracker: tracker.position and tracker.position.course,
    ),
    _voltage(
        key="battery_voltage",
        suggested_display_precision=2,
        value_fn=lambda tracker: tracker.position and tracker.position.battery_voltage,
    ),
    _voltage(
        key="power_voltage",
        suggested_display_precision=1,
        value_fn=lambda tracker: tracker.position and tracker.position.power_voltage,
    ),
    _kilometers(
        key="total_distance",
        state_class=SensorStateClass.TOTAL_INCREASING,
        value_fn=lambda tracker: round(tracker.total_distance or 0, 1),
    ),
    _kilometers(
        key="ride_distance",
        value_fn=lambda tracker: (
            tracker.ride and _OF_RIDE["ride_distance"](tracker.ride)
        ),
    ),
    BikeTrackerSensorDescription(
        key="ride_duration",
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.MINUTES,
        suggested_display_precision=0,
        reported_fn=lambda tracker: tracker.has_fix or None,
        value_fn=lambda tracker: (
            tracker.ride and _OF_RIDE["ride_duration"](tracker.ride)
        ),
    ),
)


class BikeTrackerSensor(BikeTrackerEntity[SensorValue], SensorEntity):
    """A value of a tracker."""

    @property
    @override
    def native_value(self) -> SensorValue | None:
        return self._value

    @override
    def _new_value(self, tracker: Tracker) -> SensorValue | None:
        """Return the value, with the last update in steps of five minutes.

        Otherwise each report, every ten seconds, would be a row in the database.
        """
        value, shown = super()._new_value(tracker), self._value
        in_steps = self.entity_description.key == "last_update" and self._available
        if in_steps and isinstance(value, datetime) and isinstance(shown, datetime):
            return shown if timedelta() <= value - shown < _LAST_UPDATE_STEP else value
        of_ride = _OF_RIDE.get(self.entity_description.key)
        if of_ride and tracker.ride is None:
            # Only the database has the rides from before the account was added.
            last_rides = self.coordinator.database.content.last_rides
            ride = last_rides.get(self.coordinator_context)
            return ride and of_ride(ride)
        return value


async_setup_entry = partial(async_register_entities, BikeTrackerSensor, DESCRIPTIONS)
