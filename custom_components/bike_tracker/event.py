"""Events: what happened to the bike."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, override

from homeassistant.components.event import EventEntity, EventEntityDescription
from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import State, callback

from .entity import BikeTrackerDescription, OccurrenceEntity, async_register_entities
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


class BikeTrackerEvent(OccurrenceEntity[None], EventEntity):
    """The last occurrence of a tracker; the coordinator fires each of them once."""

    entity_description: BikeTrackerEventDescription

    @callback
    @override
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
        times = [
            occurrence.noticed_at
            for occurrence in (self.tracker.state.occurrences if self.tracker else ())
            if occurrence.type in self.entity_description.occurrence_types
            and self.coordinator.has_fired(self.coordinator_context, occurrence.seq)
        ]
        return State(self.entity_id, times[-1].isoformat()) if times else state


async_setup_entry = partial(async_register_entities, BikeTrackerEvent, DESCRIPTIONS)
