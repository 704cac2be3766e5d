"""Events: what happened to the bike."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, override

from homeassistant.components.event import EventEntity, EventEntityDescription
from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import State, callback

from .entity import BikeTrackerDescription, BikeTrackerEntity, async_register_entities
from .tracking import ALARM_TYPES, Occurrence, OccurrenceType

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class BikeTrackerEventDescription(BikeTrackerDescription[None], EventEntityDescription):
    """Events of a tracker: its occurrences of some types."""

    occurrence_types: tuple[OccurrenceType, ...]
    event_type_fn: Callable[[Occurrence], str]


DESCRIPTIONS: Final = (
    BikeTrackerEventDescription(
        key="alarm",
        translation_key="alarm",
        event_types=list(ALARM_TYPES),
        occurrence_types=("alarm_raised",),
        event_type_fn=lambda occurrence: occurrence.attributes["type"],
        reported_fn=lambda tracker: tracker.state.alarms or None,
    ),
    BikeTrackerEventDescription(
        key="ride",
        translation_key="ride",
        event_types=["started", "ended"],
        occurrence_types=("ride_started", "ride_ended"),
        event_type_fn=lambda occurrence: occurrence.type.removeprefix("ride_"),
        reported_fn=lambda tracker: tracker.state.ride_state.anchor,
    ),
)


class BikeTrackerEvent(BikeTrackerEntity[None], EventEntity):
    """The last occurrence of a tracker; the coordinator fires each of them once."""

    entity_description: BikeTrackerEventDescription

    @override
    async def async_added_to_hass(self) -> None:
        """Listen to the occurrences of the tracker."""
        await super().async_added_to_hass()
        self.async_on_remove(
            self.coordinator.async_add_occurrence_listener(
                self.coordinator_context, self._async_handle_occurrence
            )
        )

    @callback
    def _async_handle_occurrence(self, occurrence: Occurrence) -> None:
        description = self.entity_description
        if occurrence.type in description.occurrence_types:
            attributes = dict(occurrence.attributes)
            attributes.pop("type", None)
            self._trigger_event(description.event_type_fn(occurrence), attributes)
            self.async_write_ha_state()

    @override
    async def async_get_last_state(self) -> State | None:
        """Return the last event, also where Home Assistant knows only *unavailable*."""
        state = await super().async_get_last_state()
        if state is None or state.state not in {STATE_UNAVAILABLE, STATE_UNKNOWN}:
            return state
        coordinator, unique_id = self.coordinator, self.coordinator_context
        tracker = coordinator.data.trackers.get(unique_id)
        times = [
            occurrence.noticed_at
            for occurrence in (tracker.state.occurrences if tracker else ())
            if occurrence.type in self.entity_description.occurrence_types
            and coordinator.has_fired(unique_id, occurrence.seq)
        ]
        return State(self.entity_id, times[-1].isoformat()) if times else state


async_setup_entry = partial(async_register_entities, BikeTrackerEvent, DESCRIPTIONS)
