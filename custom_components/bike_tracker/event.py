"""Events: what happened to the bike."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, override

from homeassistant.components.event import EventEntity, EventEntityDescription
from homeassistant.core import callback

from .entity import BikeTrackerDescription, BikeTrackerTeller, async_register_entities
from .tracking import ALARM_TYPES, Alarm, RideEvent

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class BikeTrackerEventDescription(
    BikeTrackerDescription[tuple[Alarm | RideEvent, ...]], EventEntityDescription
):
    """Events of a tracker, of which the value is the last ones, oldest first."""


DESCRIPTIONS: Final = (
    BikeTrackerEventDescription(
        key="alarm",
        translation_key="alarm",
        event_types=list(ALARM_TYPES),
        reported_fn=lambda tracker: tracker.story.alarms or None,
        value_fn=lambda tracker: tracker.story.alarms,
    ),
    BikeTrackerEventDescription(
        key="ride",
        translation_key="ride",
        event_types=["started", "ended"],
        reported_fn=lambda tracker: tracker.place,
        value_fn=lambda tracker: tracker.story.ride_events,
    ),
)


class BikeTrackerEvent(BikeTrackerTeller[Alarm | RideEvent], EventEntity):
    """What happened to a tracker, each thing told once."""

    entity_description: BikeTrackerEventDescription

    @override
    def _show(self, item: Alarm | RideEvent) -> None:
        described = item.described().items()
        self._trigger_event(item.type, {name: _text(it) for name, it in described})

    @override
    def _switched_off(self) -> None:
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


def _text(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


async_setup_entry = partial(async_register_entities, BikeTrackerEvent, DESCRIPTIONS)
