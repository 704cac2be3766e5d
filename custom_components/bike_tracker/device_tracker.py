"""The device tracker: the place of the bike."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple, override

from homeassistant.components.device_tracker import TrackerEntity
from homeassistant.core import CoreState, HassJob, HomeAssistant, callback
from homeassistant.helpers.restore_state import RestoredExtraData, RestoreEntity
from homeassistant.helpers.start import async_at_started

from .dispatch import START_SECONDS
from .entity import BikeTrackerDescription, BikeTrackerEntity, async_register_entities
from .tracking.state import Tracker

# 0 means no limit. The coordinator updates all entities.
PARALLEL_UPDATES = 0


class Place(NamedTuple):
    """A place on the map."""

    latitude: float
    longitude: float
    accuracy: float
    """Meters; 0 if unknown."""


def _place(tracker: Tracker) -> Place | None:
    position = tracker.state.position
    point = position and position.point
    return Place(*point, position.accuracy) if position and point else None


def _place_from(stored: Mapping[str, Any]) -> Place | None:
    """Return the place from stored values, or None if a value is missing or is not a number."""
    values = map(stored.get, Place._fields)
    numbers = [value for value in values if isinstance(value, int | float)]
    return Place(*numbers) if len(numbers) == len(Place._fields) else None


DESCRIPTIONS = (
    BikeTrackerDescription(
        key="tracker", reported_fn=lambda _: True, name=None, value_fn=_place
    ),
)


class BikeTrackerTracker(BikeTrackerEntity[Place], TrackerEntity, RestoreEntity):
    """The place of a tracker. It is unknown if the service offers no positions.

    After an outage, the entity shows the place from before the outage for five seconds,
    then the current place: Home Assistant's zone triggers ignore changes from
    *unavailable*, but notice the change between the two places.
    """

    # By default, device trackers are diagnostic entities, which triggers on the device
    # would skip.
    entity_category = None
    # By default, every write of the state is recorded, even if nothing changed.
    force_update = False
    held_position: Place | None = None
    """The place from before an outage, reload or restart, until the current place replaces it; otherwise None."""

    @property
    def _place(self) -> Place | None:
        return self.held_position or self._value

    @property
    @override
    def latitude(self) -> float | None:
        return self._place and self._place.latitude

    @property
    @override
    def longitude(self) -> float | None:
        return self._place and self._place.longitude

    @property
    @override
    def location_accuracy(self) -> float:
        return self._place.accuracy if self._place else 0

    @property
    @override
    def extra_restore_state_data(self) -> RestoredExtraData | None:
        """Return the place to show first after a reload or restart, or None without a place."""
        states = self.coordinator.data.states
        # Store no place of a deleted tracker.
        if self._place is None or self.coordinator_context not in states:
            return None
        return RestoredExtraData(self._place._asdict())

    @override
    async def async_added_to_hass(self) -> None:
        """First show the place from before the reload or restart, if Home Assistant has stored one."""
        restored = await self.async_get_last_extra_data()
        # An entity that is available or has a value already was only renamed. Home
        # Assistant may have stored the place of another tracker for its new entity ID.
        if restored and not (self.available or self._value):
            self.held_position = _place_from(restored.as_dict())
        await super().async_added_to_hass()
        self.async_on_remove(async_at_started(self.hass, self._async_release_soon))

    @override
    def _read(self) -> bool:
        known, was_available = self._place, self.available
        has_changed = super()._read()
        if not (self.available and was_available):
            self.held_position = known if known != self._value else None
            self._async_release_soon(self.hass)
        return has_changed

    @callback
    def _async_release_soon(self, hass: HomeAssistant) -> None:
        """If Home Assistant has started, show the current place in five seconds: automations then notice the change."""
        if self.held_position and hass.state is CoreState.running:
            job = HassJob(self._async_release, cancel_on_shutdown=True)
            hass.loop.call_later(START_SECONDS, hass.async_run_hass_job, job)

    @callback
    def _async_release(self) -> None:
        # While the entity is unavailable, keep the held place: it is shown first after
        # the outage.
        if self.held_position and self.available:
            self.held_position = None
            self.async_write_ha_state()


async_setup_entry = partial(async_register_entities, BikeTrackerTracker, DESCRIPTIONS)
