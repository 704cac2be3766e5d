"""Binary sensors: is the tracker online, disabled, moving, charging, unlocked?"""

from functools import partial
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
from .tracking.state import Tracker

# 0 means no limit. The coordinator updates all entities.
PARALLEL_UPDATES = 0

_IS_ONLINE: dict[str | None, bool] = {"online": True, "offline": False}


def _is_open(tracker: Tracker) -> bool | None:
    """Return whether the lock is open, which is "on" in Home Assistant; None if unknown."""
    position = tracker.state.position
    is_locked = position and position.lock
    return None if is_locked is None else not is_locked


DESCRIPTIONS = (
    BikeTrackerDescription(
        key="online",
        reported_fn=lambda _: True,
        device_class=BinarySensorDeviceClass.CONNECTIVITY,
        value_fn=lambda tracker: _IS_ONLINE.get(tracker.device.status),
    ),
    BikeTrackerDescription(
        key="disabled",
        reported_fn=lambda _: True,
        entity_category=EntityCategory.DIAGNOSTIC,
        value_fn=lambda tracker: tracker.device.disabled,
    ),
    BikeTrackerDescription(
        key="motion",
        device_class=BinarySensorDeviceClass.MOVING,
        value_fn=of_position("motion"),
    ),
    BikeTrackerDescription(
        key="charging",
        device_class=BinarySensorDeviceClass.BATTERY_CHARGING,
        value_fn=of_position("charge"),
    ),
    BikeTrackerDescription(
        key="lock", device_class=BinarySensorDeviceClass.LOCK, value_fn=_is_open
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
