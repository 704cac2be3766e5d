"""Events: what happened to the bike."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, override

from homeassistant.components.event import (
    DOMAIN as EVENT_DOMAIN,
    EventEntity,
    EventEntityDescription,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .account import ALARM_TYPES, Alarm, RideEvent
from .entities.entry import BikeTrackerConfigEntry
from .entity import BikeTrackerDescription, BikeTrackerEntity

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class BikeTrackerEventDescription[T: (Alarm, RideEvent)](
    BikeTrackerDescription[tuple[T, ...]], EventEntityDescription
):
    """Events of a tracker, of which the value is the last ones, oldest first."""


DESCRIPTIONS: Final[tuple[BikeTrackerEventDescription[Any], ...]] = (
    BikeTrackerEventDescription[Alarm](
        key="alarm",
        translation_key="alarm",
        event_types=list(ALARM_TYPES),
        only_if_reported=True,
        reported_fn=lambda tracker: tracker.alarms or None,
        value_fn=lambda tracker: tracker.alarms,
    ),
    BikeTrackerEventDescription[RideEvent](
        key="ride",
        translation_key="ride",
        event_types=["started", "ended"],
        only_if_reported=True,
        reported_fn=lambda tracker: tracker.place,
        value_fn=lambda tracker: tracker.ride_events,
    ),
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: BikeTrackerConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Say which events a tracker has."""
    entry.runtime_data.entities.async_register(
        BikeTrackerEvent, DESCRIPTIONS, async_add_entities
    )


class BikeTrackerEvent(BikeTrackerEntity[tuple[Any, ...]], EventEntity):
    """What happened to a tracker, each thing told once."""

    entity_description: BikeTrackerEventDescription[Any]
    platform_domain = EVENT_DOMAIN

    @override
    async def async_added_to_hass(self) -> None:
        """Tell what is not told yet, once it is there and automations listen."""
        await super().async_added_to_hass()
        self.async_on_remove(self.hass.loop.call_soon(self._tell).cancel)

    @override
    async def async_will_remove_from_hass(self) -> None:
        """Begin to pass over what happens if it was switched off."""
        if self.registry_entry is not None and self.registry_entry.disabled:
            self._pass_over_from_now_on()

    @callback
    @override
    def add_to_platform_abort(self) -> None:
        """Pass over what happens while it is switched off."""
        super().add_to_platform_abort()
        self._pass_over_from_now_on()

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        super()._handle_coordinator_update()
        self._tell()

    @callback
    def _tell(self) -> None:
        """Tell what is not told yet, oldest first, each as a change of its own."""
        if not self._available or not self.coordinator.automations_listen:
            return
        for item in self._take_untold():
            described = item.described().items()
            self._trigger_event(item.type, {name: _text(it) for name, it in described})
            self.async_write_ha_state()

    def _pass_over_from_now_on(self) -> None:
        """Let nothing that happens until it is switched on again be told then."""
        self._pass_over()
        self.coordinator.config_entry.async_on_unload(
            self.coordinator.async_add_listener(
                self._pass_over, self.coordinator_context
            )
        )

    @callback
    def _pass_over(self) -> None:
        self._read()
        self._take_untold()

    def _take_untold(self) -> list[Any]:
        """Return what is not told yet, and take in that it is."""
        account, tracker = self.coordinator.account, self.coordinator_context
        told = account.told(tracker, self.entity_description.key)
        untold = [
            item
            for item in self._value or ()
            if item.heard_at and (told is None or item.heard_at > told)
        ]
        if untold:
            account.note_told(tracker, self.entity_description.key, untold[-1].heard_at)
            self.coordinator.async_remember()
        return untold


def _text(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value
