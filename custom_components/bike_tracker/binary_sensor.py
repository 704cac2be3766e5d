"""Binary sensors: is the tracker online, disabled, moving, charging, unlocked?"""

from functools import partial
from operator import attrgetter
from typing import override

from homeassistant.components.binary_sensor import (
    BinarySensorDeviceClass,
    BinarySensorEntity,
)
from homeassistant.const import EntityCategory

from .entity import (
    BikeTrackerDescription,
    BikeTrackerEntity,
    async_register_entities,
    of_position,
)

# 0 means no limit. The coordinator updates all entities.
PARALLEL_UPDATES = 0

DESCRIPTIONS = (
    BikeTrackerDescription(
        key="online",
        reported_fn=lambda _: True,
        device_class=BinarySensorDeviceClass.CONNECTIVITY,
        value_fn=attrgetter("device.is_online"),
    ),
    BikeTrackerDescription(
        key="disabled",
        reported_fn=lambda _: True,
        entity_category=EntityCategory.DIAGNOSTIC,
        value_fn=attrgetter("device.disabled"),
    ),
    BikeTrackerDescription(
        key="motion",
        device_class=BinarySensorDeviceClass.MOVING,
        # As for triggers and conditions, motion below 3 km/h is noise.
        value_fn=lambda tracker: (flag := tracker.state.moving) and flag.value,
        reported_fn=of_position("motion"),
    ),
    BikeTrackerDescription(
        key="charging",
        device_class=BinarySensorDeviceClass.BATTERY_CHARGING,
        value_fn=of_position("charge"),
    ),
    BikeTrackerDescription(
        key="lock",
        device_class=BinarySensorDeviceClass.LOCK,
        value_fn=of_position("is_unlocked"),
    ),
)


class BikeTrackerBinarySensor(BikeTrackerEntity[bool], BinarySensorEntity):
    """A binary sensor of a tracker."""

    @property
    @override
    def is_on(self) -> bool | None:
        return self._value


async_setup_entry = partial(
    async_register_entities, BikeTrackerBinarySensor, DESCRIPTIONS
)
