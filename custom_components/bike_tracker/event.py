"""Events: what happened to the bike."""

from dataclasses import dataclass
from functools import partial
from typing import Final, override

from homeassistant.components.event import EventEntity, EventEntityDescription
from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import State, callback

from .entity import BikeTrackerDescription, OccurrenceEntity, async_register_entities
from .tracking import ALARM_TYPES, Occurrence

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class BikeTrackerEventDescription(BikeTrackerDescription[None], EventEntityDescription):
    """Events of a tracker: its occurrences whose types begin with the key."""


DESCRIPTIONS: Final = (
    BikeTrackerEventDescription(
        key="alarm",
        event_types=list(ALARM_TYPES),
        reported_fn=lambda tracker: tracker.state.alarms or None,
    ),
    BikeTrackerEventDescription(
        key="ride",
        event_types=["started", "ended"],
        reported_fn=lambda tracker: tracker.state.ride_state.newest_fix,
    ),
)


class BikeTrackerEvent(OccurrenceEntity[None], EventEntity):
    """The last occurrence of a tracker; the coordinator fires each of them once."""

    entity_description: BikeTrackerEventDescription

    @callback
    @override
    def _async_handle_occurrence(self, occurrence: Occurrence) -> None:
        if self._shows(occurrence):
            attributes = dict(occurrence.attributes)
            # An alarm has a type of its own.
            event_type = attributes.pop("type", occurrence.type.removeprefix("ride_"))
            self._trigger_event(event_type, attributes)
            self.async_write_ha_state()

    def _shows(self, occurrence: Occurrence) -> bool:
        return occurrence.type.startswith(self.entity_description.key)

    @override
    async def async_get_last_state(self) -> State | None:
        """Return the last event, also where Home Assistant knows only *unavailable*."""
        state = await super().async_get_last_state()
        if state is None or state.state not in {STATE_UNAVAILABLE, STATE_UNKNOWN}:
            return state
        times = [
            occurrence.noticed_at
            for occurrence in (self.tracker.state.occurrences if self.tracker else ())
            if self._shows(occurrence)
            and self.coordinator.has_fired(self.coordinator_context, occurrence.seq)
        ]
        return State(self.entity_id, times[-1].isoformat()) if times else state


async_setup_entry = partial(async_register_entities, BikeTrackerEvent, DESCRIPTIONS)
