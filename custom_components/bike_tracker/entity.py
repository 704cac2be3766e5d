"""The base of all entities: one value of one tracker."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import override

from homeassistant.core import callback
from homeassistant.helpers.device_registry import DeviceEntry
from homeassistant.helpers.entity import EntityDescription
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .const import LOGGER
from .coordinator import BikeTrackerCoordinator
from .tracking import Alarm, RideEvent, Tracker, Triggered


@dataclass(frozen=True, kw_only=True)
class BikeTrackerDescription[T](EntityDescription):
    """One value of a tracker."""

    value_fn: Callable[[Tracker], T | None]
    """Returns the value, or None while it is unknown."""
    reported_fn: Callable[[Tracker], object] | None = None
    """Returns what a tracker must have reported to have it, where that is not the value.

    That matters for optional kinds alone.
    """


class BikeTrackerEntity[T](CoordinatorEntity[BikeTrackerCoordinator]):
    """One value of one tracker, written only when it is another one.

    To compare costs nothing that can be measured, and a write that is not needed 10
    microseconds.
    """

    entity_description: BikeTrackerDescription[T]
    _attr_has_entity_name = True
    _available = False
    _value: T | None = None

    def __init__(
        self,
        coordinator: BikeTrackerCoordinator,
        tracker: str,
        description: BikeTrackerDescription[T],
        device: DeviceEntry,
    ) -> None:
        """Take the tracker's `uniqueId` and its device."""
        super().__init__(coordinator, context=tracker)
        self.entity_description = description
        self.device_entry = device
        self._attr_unique_id = self.unique_id_of(tracker, description)

    @staticmethod
    def unique_id_of(tracker: str, description: EntityDescription) -> str:
        """Return the unique ID of a tracker's entity."""
        return f"{tracker}_{description.key}"

    @property
    @override
    def available(self) -> bool:
        """Return whether the last poll succeeded and listed the tracker."""
        return self._available

    @override
    async def async_added_to_hass(self) -> None:
        """Listen to the tracker, which is as it was for a moment if it comes back.

        Where that cannot be read, the entity is there, and unavailable until it can.
        """
        await super().async_added_to_hass()
        self.coordinator.coming_back.async_entity_added()
        try:
            self._read(as_it_was=True)
        except Exception:  # noqa: BLE001 - Home Assistant would never add it again
            LOGGER.exception(
                "%s: Unexpected error reading a tracker",
                self.coordinator.config_entry.title,
            )
        else:
            if self._is_another_now:
                update = self.hass.loop.call_soon(self._handle_coordinator_update)
                self.async_on_remove(update.cancel)

    @property
    def _is_another_now(self) -> bool:
        """Return whether there may be more to show than the tracker as it was."""
        tracker = self.coordinator.data.after.get(self.coordinator_context)
        return tracker is not None and tracker.as_it_was is not tracker

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        # Written first, as automations ignore what changes from unavailable.
        if not self.available and self._read(as_it_was=True) and self._available:
            self.async_write_ha_state()
        if self._read():
            self.async_write_ha_state()

    def _read(self, *, as_it_was: bool = False) -> bool:
        """Read the tracker; return whether there is anything new to write."""
        tracker = self.coordinator.data.after.get(self.coordinator_context)
        available = self.coordinator.last_update_success and tracker is not None
        value = self._value
        if tracker is not None:
            shown = tracker.as_it_was if as_it_was else tracker
            value = self.entity_description.value_fn(shown)
        if available is self._available and value == self._value:
            return False
        self._available, self._value = available, value
        return True


class BikeTrackerTeller[T: Alarm | RideEvent | Triggered](
    BikeTrackerEntity[tuple[T, ...]]
):
    """Tells what happened to a tracker, the value: each thing once."""

    @override
    async def async_will_remove_from_hass(self) -> None:
        """See to what follows if it was switched off."""
        if self.registry_entry is not None and self.registry_entry.disabled:
            self._switched_off()

    @callback
    @override
    def add_to_platform_abort(self) -> None:
        """See to what follows where it is switched off already."""
        super().add_to_platform_abort()
        self._switched_off()

    def _switched_off(self) -> None:
        """Do what is to be done while nobody can see it."""

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        super()._handle_coordinator_update()
        # What is not told yet, oldest first, each as a change of its own.
        is_there = self._value and self._available
        if is_there and self.coordinator.coming_back.automations_listen:
            for item in self._take_untold():
                self._show(item)
                self.async_write_ha_state()

    @property
    @override
    def _is_another_now(self) -> bool:
        return super()._is_another_now or bool(self._untold)

    def _show(self, item: T) -> None:
        """Let the state be what one thing makes of it."""

    def _take_untold(self) -> list[T]:
        """Return what is not told yet, and take in that it is."""
        if (untold := self._untold) and (number := untold[-1].heard_at):
            tracker, key = self.coordinator_context, self.entity_description.key
            self.coordinator.account.note_told(tracker, key, number)
            self.coordinator.memory.async_save_later()
        return untold

    @property
    def _untold(self) -> list[T]:
        """Return what is not told yet, oldest first."""
        told = self._told
        return [
            item
            for item in self._value or ()
            if item.heard_at and (told is None or item.heard_at > told)
        ]

    @property
    def _told(self) -> datetime | None:
        """Return the number of what was told last, None if nothing was."""
        return self.coordinator.account.told(
            self.coordinator_context, self.entity_description.key
        )
