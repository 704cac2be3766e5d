"""Events: what happened to the bike."""

from dataclasses import dataclass
from functools import partial
from typing import Final, override

from homeassistant.components.event import EventEntity, EventEntityDescription
from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import State, callback

from .entity import BikeTrackerDescription, BikeTrackerEntity, async_register_entities
from .tracking.occurrences import ALARM_TYPES, Occurrence
from .tracking.state import Tracker

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class BikeTrackerEventDescription(
    BikeTrackerDescription[Occurrence], EventEntityDescription
):
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
        reported_fn=lambda tracker: tracker.has_fix or None,
    ),
)


class BikeTrackerEvent(BikeTrackerEntity[Occurrence], EventEntity):
    """The last occurrence of a tracker that was fired; the coordinator fires each once."""

    entity_description: BikeTrackerEventDescription

    @override
    def _new_value(self, tracker: Tracker) -> Occurrence | None:
        key, store = self.entity_description.key, self.coordinator.database
        unique_id = self.coordinator_context
        newest = reversed(tracker.state.occurrences)
        own = (it for it in newest if it.type.startswith(key))
        return next((it for it in own if store.has_fired(unique_id, it.seq)), None)

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        before = self._value
        if self._read():
            if (occurrence := self._value) and occurrence != before:
                attributes = dict(occurrence.attributes)
                # An alarm has a type of its own.
                ride_type = occurrence.type.removeprefix("ride_")
                self._trigger_event(attributes.pop("type", ride_type), attributes)
            self.async_write_ha_state()

    @override
    async def async_get_last_state(self) -> State | None:
        """Return the last event, also where Home Assistant knows only *unavailable*."""
        state = await super().async_get_last_state()
        if state is None or state.state not in {STATE_UNAVAILABLE, STATE_UNKNOWN}:
            return state
        last = self.tracker and self._new_value(self.tracker)
        return State(self.entity_id, last.noticed_at.isoformat()) if last else state


async_setup_entry = partial(async_register_entities, BikeTrackerEvent, DESCRIPTIONS)
