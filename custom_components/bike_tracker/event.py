"""Events: what happened to the bike."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
import re
from typing import Any, Final, override

from homeassistant.components.event import (
    DOMAIN as EVENT_DOMAIN,
    EventEntity,
    EventEntityDescription,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .account import Alarm, Track, events
from .data import BikeTrackerConfigEntry
from .entity import BikeTrackerDescription, BikeTrackerEntity

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0

ALARM_TYPES: Final = [
    "sos",
    "vibration",
    "movement",
    "tow",
    "tampering",
    "removing",
    "fall_down",
    "accident",
    "overspeed",
    "geofence_exit",
    "geofence_enter",
    "low_battery",
    "low_power",
    "power_cut",
    "power_restored",
    "power_off",
    "power_on",
    "lock",
    "unlock",
    "door",
    "fault",
    "jamming",
    "other",
]

type Event = tuple[str, dict[str, Any]]
"""A type of event and its attributes."""


@dataclass(frozen=True, kw_only=True)
class BikeTrackerEventDescription[T](BikeTrackerDescription[T], EventEntityDescription):
    """Events of a tracker."""

    events_fn: Callable[[T | None, T], Iterable[Event]]
    """Returns the events that a new value means for who knew another one, or none."""


def _alarms(_before: Alarm | None, alarm: Alarm) -> Iterable[Event]:
    """Return an event for each word of an alarm that is news."""
    if alarm.is_news:
        time = alarm.time and alarm.time.isoformat()
        for word in alarm.words:
            yield _alarm_type(word), {"alarm": word, "time": time}


def _alarm_type(word: str) -> str:
    """Return what an alarm is called here: `fallDown` is `fall_down`."""
    alarm_type = re.sub(r"(?=[A-Z])", "_", word).lower()
    return alarm_type if alarm_type in ALARM_TYPES else "other"


def _rides(before: Track | None, track: Track) -> Iterable[Event]:
    """Return an event for each ride that started or ended since."""
    for event_type, ride in events(before, track):
        described = ride.described(is_over=event_type == "ended")
        yield (
            event_type,
            {
                name: value.isoformat() if isinstance(value, datetime) else value
                for name, value in described.items()
            },
        )


DESCRIPTIONS: Final[tuple[BikeTrackerEventDescription[Any], ...]] = (
    BikeTrackerEventDescription(
        key="alarm",
        translation_key="alarm",
        event_types=ALARM_TYPES,
        only_if_reported=True,
        value_fn=lambda tracker: tracker.alarm,
        events_fn=_alarms,
    ),
    BikeTrackerEventDescription(
        key="ride",
        translation_key="ride",
        event_types=["started", "ended"],
        only_if_reported=True,
        reported_fn=lambda tracker: tracker.place,
        value_fn=lambda tracker: tracker.track,
        events_fn=_rides,
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


class BikeTrackerEvent(BikeTrackerEntity[Any], EventEntity):
    """What happened to a tracker."""

    entity_description: BikeTrackerEventDescription[Any]
    platform_domain = EVENT_DOMAIN

    @override
    async def async_added_to_hass(self) -> None:
        """Tell what it is added for, once it is there: automations see no sooner."""
        await super().async_added_to_hass()
        self.async_on_remove(self.hass.loop.call_soon(self._tell, None).cancel)

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        before, was_available = self._value, self._available
        self._read()
        # Written first, as automations ignore what changes from unavailable.
        if self._available is not was_available:
            self.async_write_ha_state()
        self._tell(before)

    def _tell(self, before: Any) -> None:
        """Tell what happened since, each as a change of its own."""
        if self._value == before:
            return
        events_fn = self.entity_description.events_fn
        for event_type, attributes in events_fn(before, self._value):
            self._trigger_event(event_type, attributes)
            self.async_write_ha_state()
