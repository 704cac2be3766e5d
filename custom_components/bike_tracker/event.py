"""Events: what happened to the bike."""

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Final, override

from homeassistant.components.event import (
    EventEntity,
    EventEntityDescription,
    EventExtraStoredData,
)
from homeassistant.core import State, callback
from homeassistant.util import dt as dt_util

from .entity import BikeTrackerDescription, BikeTrackerEntity, async_register_entities
from .tracking.occurrences import ALARM_TYPES, Occurrence
from .tracking.state import Tracker

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0
# A state has the time of its event in milliseconds.
_STEP: Final = timedelta(milliseconds=1)


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
                self._trigger_event(*_described(occurrence))
            self.async_write_ha_state()

    @override
    async def async_get_last_state(self) -> State | None:
        """Return the last state, or the last occurrence if the state lacks it."""
        if missing := await self._async_missing():
            return State(self.entity_id, missing.noticed_at.isoformat())
        return await super().async_get_last_state()

    @override
    async def async_get_last_event_data(self) -> EventExtraStoredData | None:
        """Return the type and the attributes of the last event."""
        if missing := await self._async_missing():
            return EventExtraStoredData(*_described(missing))
        return await super().async_get_last_event_data()

    async def _async_missing(self) -> Occurrence | None:
        """Return the last occurrence that was fired, if Home Assistant's state lacks it.

        Home Assistant stores states every 15 minutes, and loses them when it is killed. An
        entity that is enabled again shows no occurrence of the time while it was disabled.
        """
        last, entry = (
            self.tracker and self._new_value(self.tracker),
            self.registry_entry,
        )
        if last and entry and last.noticed_at < entry.modified_at:
            return None
        state = await super().async_get_last_state()
        known = dt_util.parse_datetime(state.state) if state else None
        return None if last and known and known >= last.noticed_at - _STEP else last


def _described(occurrence: Occurrence) -> tuple[str, dict[str, Any]]:
    """Return the event type and the attributes of an occurrence."""
    attributes = dict(occurrence.attributes)
    # An alarm has a type of its own.
    ride_type = occurrence.type.removeprefix("ride_")
    return attributes.pop("type", ride_type), attributes


async_setup_entry = partial(async_register_entities, BikeTrackerEvent, DESCRIPTIONS)
