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

from .entity import (
    BikeTrackerDescription,
    BikeTrackerEntity,
    async_register_entities,
    of_position,
)
from .tracking.rides import Ride
from .tracking.state import Tracker

# 0 means no limit. The coordinator updates all entities.
PARALLEL_UPDATES = 0

_LAST_UPDATE_STEP: Final = timedelta(minutes=5)

type SensorValue = datetime | float | str


@dataclass(frozen=True, kw_only=True)
class BikeTrackerSensorDescription(
    BikeTrackerDescription[SensorValue], SensorEntityDescription
):
    """Description of a sensor of a tracker."""


_OF_RIDE: Final[dict[str, Callable[[Ride], float]]] = {
    "ride_distance": lambda ride: round(ride.distance, 1),
    "ride_duration": lambda ride: round(ride.duration / 60, 0),
}


class BikeTrackerSensor(BikeTrackerEntity[SensorValue], SensorEntity):
    """A sensor that shows one value of a tracker."""

    @property
    @override
    def native_value(self) -> SensorValue | None:
        return self._value


class _LastUpdate(BikeTrackerSensor):
    @override
    async def async_added_to_hass(self) -> None:
        """Listen also to the signal of the tracker's last contact."""
        await super().async_added_to_hass()
        update, context = self._handle_coordinator_update, self.coordinator_context
        listen = self.coordinator.async_add_listener
        self.async_on_remove(listen(update, f"{context}_contact"))

    @override
    def _new_value(self, tracker: Tracker) -> SensorValue | None:
        """Return the time of the last contact, in steps of at least five minutes while the entity is available.

        Without steps, each report would add a row to the recorder: one every ten
        seconds.
        """
        value, shown = tracker.device.last_update, self._value
        if value and self.available and isinstance(shown, datetime):
            return shown if timedelta() <= value - shown < _LAST_UPDATE_STEP else value
        return value


class _RideSensor(BikeTrackerSensor):
    @override
    def _new_value(self, tracker: Tracker) -> SensorValue | None:
        """Return a value of the ride under way, or else of the last ride."""
        # If the tracker has no ride since its set-up, use the newest ride in the
        # database, which also contains rides from before the set-up.
        last_rides = self.coordinator.database.content.last_rides
        ride = tracker.state.ride or last_rides.get(self.coordinator_context)
        return ride and _OF_RIDE[self.entity_description.key](ride)


# Kinds of descriptions: a value of the device list, a measurement, a voltage, a distance.
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
    reported_fn=lambda tracker: tracker.state.has_fix or None,
)

DESCRIPTIONS = (
    _listed(
        key="last_update",
        entity_class=_LastUpdate,
        device_class=SensorDeviceClass.TIMESTAMP,
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
        reported_fn=of_position("address"),
        value_fn=lambda tracker: tracker.state.address,
    ),
    BikeTrackerSensorDescription(
        key="position_time",
        entity_category=EntityCategory.DIAGNOSTIC,
        device_class=SensorDeviceClass.TIMESTAMP,
        entity_registry_enabled_default=False,
        value_fn=of_position("fix_time"),
    ),
    _measured(
        key="battery",
        device_class=SensorDeviceClass.BATTERY,
        native_unit_of_measurement=PERCENTAGE,
        entity_category=EntityCategory.DIAGNOSTIC,
        suggested_display_precision=0,
        value_fn=of_position("battery_level"),
    ),
    _measured(
        key="speed",
        device_class=SensorDeviceClass.SPEED,
        native_unit_of_measurement=UnitOfSpeed.KILOMETERS_PER_HOUR,
        suggested_display_precision=1,
        value_fn=of_position("speed"),
    ),
    _measured(
        key="altitude",
        device_class=SensorDeviceClass.DISTANCE,
        native_unit_of_measurement=UnitOfLength.METERS,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=of_position("altitude"),
    ),
    _measured(
        key="course",
        native_unit_of_measurement=DEGREE,
        state_class=SensorStateClass.MEASUREMENT_ANGLE,
        suggested_display_precision=0,
        entity_registry_enabled_default=False,
        value_fn=of_position("course"),
    ),
    _voltage(
        key="battery_voltage",
        suggested_display_precision=2,
        value_fn=of_position("battery_voltage"),
    ),
    _voltage(
        key="power_voltage",
        suggested_display_precision=1,
        value_fn=of_position("power_voltage"),
    ),
    _kilometers(
        key="total_distance",
        state_class=SensorStateClass.TOTAL_INCREASING,
        value_fn=lambda tracker: round(tracker.state.total_distance or 0, 1),
    ),
    _kilometers(key="ride_distance", entity_class=_RideSensor),
    BikeTrackerSensorDescription(
        key="ride_duration",
        entity_class=_RideSensor,
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.MINUTES,
        suggested_display_precision=0,
        reported_fn=lambda tracker: tracker.state.has_fix or None,
    ),
)

async_setup_entry = partial(async_register_entities, BikeTrackerSensor, DESCRIPTIONS)
