"""Event entities of the bike: rides and alarms."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Any, Final, override

from homeassistant.components.event import (
    EventEntity,
    EventEntityDescription,
    EventExtraStoredData,
)
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import State, callback

from .entity import BikeTrackerDescription, BikeTrackerEntity, async_register_entities
from .tracking.occurrences import ALARM_TYPES, Occurrence
from .tracking.state import Tracker

# 0 means no limit. The coordinator updates all entities.
PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class BikeTrackerEventDescription(
    BikeTrackerDescription[Occurrence], EventEntityDescription
):
    """Description of an event entity. The entity shows the occurrences whose types begin with the key."""


DESCRIPTIONS: Final = (
    BikeTrackerEventDescription(
        key="alarm",
        event_types=list(ALARM_TYPES),
        reported_fn=lambda tracker: tracker.state.alarms or None,
    ),
    BikeTrackerEventDescription(
        key="ride",
        event_types=["started", "ended"],
        reported_fn=lambda tracker: tracker.state.has_fix or None,
    ),
)


class BikeTrackerEvent(BikeTrackerEntity[Occurrence], EventEntity):
    """The newest fired occurrence of one kind: either alarms, or starts and ends of rides."""

    entity_description: BikeTrackerEventDescription
    # Stay available in an outage: otherwise, Home Assistant's Activity would show the
    # newest event again after the outage.
    _is_available_in_outage = True

    @override
    def _new_value(self, tracker: Tracker) -> Occurrence | None:
        return next(self._newest_fired(tracker), None)

    def _newest_fired(self, tracker: Tracker) -> Iterator[Occurrence]:
        """Yield the occurrences of this entity that were fired, newest first."""
        key = self.entity_description.key
        last_fired = self.coordinator.database.content.last_fired
        last = last_fired[self.coordinator_context]
        for it in reversed(tracker.state.occurrences):
            if it.seq <= last and it.type.startswith(key):
                yield it

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        last = self._value.seq if self._value else 0
        if not self._read():
            return
        newest = self._newest_fired(self.tracker) if self.tracker else ()
        new = list(takewhile(lambda it: it.seq > last, newest))
        state = self.hass.states.get(self.entity_id)
        # If the entity was unavailable, first write it as available: automations ignore
        # a change from *unavailable*.
        if not new or (state and state.state == STATE_UNAVAILABLE):
            self.async_write_ha_state()
        for occurrence in reversed(new):
            self._trigger_event(*_described(occurrence))
            self.async_write_ha_state()

    # Home Assistant stores states only every 15 minutes, so restore the event from the
    # database, which has it even after a kill.

    @override
    async def async_get_last_state(self) -> State | None:
        """Return a state with the time of the newest fired occurrence, or None without one."""
        newest = self.tracker and self._new_value(self.tracker)
        return newest and State(self.entity_id, newest.noticed_at.isoformat())

    @override
    async def async_get_last_event_data(self) -> EventExtraStoredData | None:
        """Return the type and the attributes of the newest fired occurrence, or None without one."""
        newest = self.tracker and self._new_value(self.tracker)
        return newest and EventExtraStoredData(*_described(newest))


def _described(occurrence: Occurrence) -> tuple[str, dict[str, Any]]:
    """Return the event type and the attributes of an occurrence."""
    attributes = dict(occurrence.attributes)
    # The attributes of an alarm contain its event type. For a ride, derive the event
    # type from the type of the occurrence: "ride_started" becomes "started".
    ride_type = occurrence.type.removeprefix("ride_")
    return attributes.pop("type", ride_type), attributes


async_setup_entry = partial(async_register_entities, BikeTrackerEvent, DESCRIPTIONS)
