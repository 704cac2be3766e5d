"""Sensors: when a tracker reported, and what its position carries."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
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
from homeassistant.core import CALLBACK_TYPE, HassJob, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util

from .api import Device
from .coordinator import SIGNAL_POLLED, BikeTrackerCoordinator
from .entity import (
    BikeTrackerDescription,
    BikeTrackerEntity,
    always,
    async_register_entities,
)
from .tracking import Tracker

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0

# Decimal places of kilometres.
_METRES = 3
# A bike that rides reports every ten seconds: each would be a line in Activity, and a row
# in the database for each of these.
_CALM: Final = timedelta(minutes=5)
_UNDER_WAY: Final = timedelta(minutes=2)
_PASSING_BY: Final = timedelta(minutes=10)
_REPORTED: Final = datetime.min.replace(tzinfo=dt_util.UTC)
# Clocks of servers and of Home Assistant may be in different time zones.
_ODD: Final = timedelta(days=1)
_without_times: Final = attrgetter(
    *(name for name in Device._fields if name not in {"last_update", "position_id"})
)

type SensorValue = datetime | float | str


@dataclass(frozen=True, kw_only=True)
class BikeTrackerSensorDescription(
    BikeTrackerDescription[SensorValue], SensorEntityDescription
):
    """A sensor of a tracker."""

    calm: timedelta | None = None
    """How seldom it is written while `beside_fn` tells the same; None is at once."""
    beside_fn: Callable[[Tracker], object] = lambda tracker: tracker.story.ride_events


def _total_distance(tracker: Tracker) -> float | None:
    track = tracker.story.track
    return round(track.shown_total or 0, _METRES) if track and track.anchor else None


# Kinds of sensors: what a maintainer or nobody looks at, what a tracker measures, and
# what begins with its first place.
_diagnostic = partial(
    BikeTrackerSensorDescription, entity_category=EntityCategory.DIAGNOSTIC
)
_measured = partial(
    BikeTrackerSensorDescription,
    state_class=SensorStateClass.MEASUREMENT,
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
)

DESCRIPTIONS = (
    _diagnostic(
        key="last_update",
        translation_key="last_update",
        reported_fn=always,
        device_class=SensorDeviceClass.TIMESTAMP,
        value_fn=lambda tracker: tracker.device.last_update,
        calm=_CALM,
        beside_fn=lambda tracker: _beside_reports(tracker.device),
    ),
    _diagnostic(
        key="position_id",
        translation_key="position_id",
        reported_fn=always,
        entity_registry_enabled_default=False,
        value_fn=lambda tracker: tracker.device.position_id,
    ),
    _diagnostic(
        key="group_id",
        translation_key="group_id",
        reported_fn=always,
        entity_registry_enabled_default=False,
        value_fn=lambda tracker: tracker.device.group_id,
    ),
    BikeTrackerSensorDescription(
        key="address",
        translation_key="address",
        value_fn=lambda tracker: tracker.position and tracker.position.address,
        calm=_PASSING_BY,
        # No address is better than one of another place.
        beside_fn=lambda tracker: (
            tracker.story.ride_events,
            tracker.position and tracker.position.address is None,
        ),
    ),
    _diagnostic(
        key="position_time",
        translation_key="position_time",
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
        calm=_UNDER_WAY,
    ),
    _kilometres(
        key="ride_distance",
        translation_key="ride_distance",
        reported_fn=lambda tracker: tracker.place,
        value_fn=lambda tracker: tracker.ride and round(tracker.ride.distance, _METRES),
        calm=_UNDER_WAY,
    ),
    BikeTrackerSensorDescription(
        key="ride_duration",
        translation_key="ride_duration",
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.SECONDS,
        suggested_unit_of_measurement=UnitOfTime.MINUTES,
        suggested_display_precision=0,
        reported_fn=lambda tracker: tracker.place,
        value_fn=lambda tracker: tracker.ride and round(tracker.ride.duration),
        calm=_UNDER_WAY,
    ),
)


class BikeTrackerSensor(BikeTrackerEntity[SensorValue], SensorEntity):
    """A value of a tracker; one that each report changes is written calmly."""

    entity_description: BikeTrackerSensorDescription
    _beside: object = None
    _stop_waiting: CALLBACK_TYPE | None = None

    @property
    @override
    def native_value(self) -> SensorValue | None:
        """Return the value."""
        return self._value

    @override
    async def async_will_remove_from_hass(self) -> None:
        """Wait no more, neither for the time nor for a poll."""
        self._end_wait()

    @override
    def _read(self) -> bool:
        """Read the tracker, unless nothing but its next report can be new."""
        if self.entity_description.calm is None:
            return super()._read()
        tracker = self.coordinator.data.after.get(self.coordinator_context)
        beside = tracker and self.entity_description.beside_fn(tracker)
        is_there = self.coordinator.last_update_success and self._available
        if tracker and is_there and beside == self._beside:
            value = self.entity_description.value_fn(tracker)
            if self._stop_waiting is None and value != self._value:
                self._wait()
            return False
        self._end_wait()
        self._beside = beside
        return super()._read()

    @callback
    def _wait(self) -> None:
        """Wait until it may be written again, and then for a poll."""
        hass, written = self.hass, self.hass.states.get(self.entity_id)
        calm, now = self.entity_description.calm or timedelta(), dt_util.utcnow()
        if written and now < (until := written.last_updated + calm):
            # To ask with each poll would cost each of 1,000 trackers two microseconds.
            job = HassJob(self._wait, cancel_on_shutdown=True)
            seconds = (until - now).total_seconds()
            timer = hass.loop.call_later(seconds, hass.async_run_hass_job, job)
            self._stop_waiting = timer.cancel
        else:
            self._stop_waiting = async_dispatcher_connect(
                hass, SIGNAL_POLLED, self._follow_poll
            )

    @callback
    def _follow_poll(self, polled: BikeTrackerCoordinator) -> None:
        if polled is self.coordinator and self._available:
            self._beside = None
            self._handle_coordinator_update()

    def _end_wait(self) -> None:
        if self._stop_waiting is not None:
            self._stop_waiting()
            self._stop_waiting = None


def _beside_reports(device: Device) -> tuple[object, ...]:
    """Return what a device is, without what is another with each report.

    A time that cannot be that of a report stays: it is shown, and taken back, at once.
    """
    heard = device.last_update
    if heard and abs(heard - dt_util.utcnow()) <= _ODD:
        heard = _REPORTED
    return heard, _without_times(device)


async_setup_entry = partial(async_register_entities, BikeTrackerSensor, DESCRIPTIONS)
