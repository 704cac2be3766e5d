"""Calendar: all rides of a bike, and the ride under way."""

from datetime import datetime, timedelta
from functools import partial
from typing import Final, override

from homeassistant.components.calendar import DOMAIN, CalendarEntity, CalendarEvent
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util

from .devices import name_of
from .entity import BikeTrackerDescription, BikeTrackerEntity, async_register_entities
from .responses.texts import distance, duration, isolated, speed, with_commas, zone_name
from .tracking.rides import SILENT_AFTER, Ride
from .tracking.state import Tracker

# 0 means no limit. The coordinator updates all entities.
PARALLEL_UPDATES = 0

# Minimum duration of an event by the local clock, which may be set back during a ride:
# Home Assistant rejects an event that does not end after its start.
_SHORTEST: Final = timedelta(seconds=1)

# Colors with a contrast of at least 3 to 1 against both white and dark cards.
_COLORS: Final = (
    *("#1e88e5", "#e65100", "#2e9e4f", "#a74fd0", "#d8416f"),
    *("#00919c", "#9c7000", "#7a6cf0", "#c2453a", "#6b8e23"),
)

DESCRIPTIONS: Final = (
    BikeTrackerDescription[tuple[object, ...]](
        key="rides", reported_fn=lambda tracker: tracker.state.has_fix or None
    ),
)


class BikeTrackerCalendar(BikeTrackerEntity[tuple[object, ...]], CalendarEntity):
    """The rides of a tracker. If the value of this entity changes, Home Assistant loads its events again."""

    # No initial color: `async_added_to_hass` sets a color, even for calendars that
    # earlier versions of this integration added.
    _attr_initial_color = None
    _is_available_in_outage = True

    @override
    async def async_added_to_hass(self) -> None:
        """Give the calendar a color if it has none. The cards use this color for the bike."""
        await super().async_added_to_hass()
        entry = self.registry_entry
        if entry and "color" not in entry.options.get(DOMAIN, {}):
            registry = er.async_get(self.hass)
            used = [
                it.options[DOMAIN].get("color")
                for it in registry.entities.values()
                if it.platform == entry.platform and DOMAIN in it.options
            ]
            options = {"color": min(_COLORS, key=used.count)}
            registry.async_update_entity_options(entry.entity_id, DOMAIN, options)

    @override
    def _new_value(self, tracker: Tracker) -> tuple[object, ...]:
        """Return the ride under way, the rides that may still change, and the time back to which rides are loaded."""
        state = tracker.state.ride_state
        ride = state.ride_under_way
        # Each change of the value adds a row to the recorder, so round the distance to
        # whole kilometers: the value then changes less often.
        under_way = ride and (ride.started_at, round(ride.distance))
        # The rides from before the set-up are loaded day by day. Each day changes
        # `until`, which is part of the value, so that the calendar shows the new rides.
        until = self.coordinator.database.content.backfill.get(self.coordinator_context)
        return under_way, state.rides, until

    @property
    @override
    def event(self) -> CalendarEvent | None:
        """Return the event of the ride under way, or None. The end of the event is in the future."""
        if (ride := self.tracker and self.tracker.state.ride_under_way) is None:
            return None
        # Without any further report, the ride will be over at that time.
        return self._event(ride, dt_util.utcnow() + SILENT_AFTER)

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        """Return the events of all rides that overlap a time range, including the ride under way."""
        database, unique_id = self.coordinator.database, self.coordinator_context
        rides = await database.rides(unique_id, start_date, end_date)
        state = self.tracker and self.tracker.state
        rides += state.rides_under_way(start_date, end_date) if state else []
        return [self._event(ride, ride.moved_at) for ride in rides]

    def _event(self, ride: Ride, end: datetime) -> CalendarEvent:
        """Return the event of a ride, with distance and speed in the units of Home Assistant."""
        has_several = len(self.coordinator.data.trackers) > 1
        # Put the distance before the bike's name: narrow views cut off the end.
        bike = f" · {name_of(self.device_entry)}" if has_several else ""
        shown = [duration(ride.duration)]
        if ride.maximum_speed is not None:
            shown.append(f"max. {speed(self.hass, ride.maximum_speed)}")
        return CalendarEvent(
            start=ride.started_at,
            end=max(map(dt_util.as_local, (end, ride.started_at + _SHORTEST))),
            summary=isolated(self.hass, distance(self.hass, ride.distance)) + bike,
            description=with_commas(self.hass, shown),
            location=self._route(ride),
            uid=f"{self.coordinator_context} {ride.started_at.isoformat()}",
        )

    def _route(self, ride: Ride) -> str | None:
        """Return the names of the start and end of a ride as one text, or None if neither is known."""
        names = [
            place and (place.address or zone_name(self.hass, place.point))
            for place in (ride.start, ride.end)
        ]
        return " → ".join(name or "?" for name in names) if any(names) else None


async_setup_entry = partial(async_register_entities, BikeTrackerCalendar, DESCRIPTIONS)
