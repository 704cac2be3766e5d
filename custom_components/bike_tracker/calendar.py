"""The calendar: the rides of a bike, as the ride book has them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, override

from homeassistant.components.calendar import (
    CalendarEntity,
    CalendarEntityDescription,
    CalendarEvent,
)
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from .entity import BikeTrackerDescription, BikeTrackerEntity, async_register_entities
from .registry.ride_book import BookedRide
from .responses.units import async_zone_name, distance, duration, speed
from .tracking import Fix, Ride

# The coordinator asks for all entities at once.
PARALLEL_UPDATES = 0

# Home Assistant takes no event that ends when it begins, or before that by the clocks of
# the house, which may be set back meanwhile.
_SHORTEST: Final = timedelta(seconds=1)


@dataclass(frozen=True, kw_only=True)
class BikeTrackerCalendarDescription(
    BikeTrackerDescription[tuple[Ride, ...]], CalendarEntityDescription
):
    """The calendar of a tracker: its value is what there is new to show."""


DESCRIPTIONS: Final = (
    BikeTrackerCalendarDescription(
        key="rides",
        translation_key="rides",
        reported_fn=lambda tracker: tracker.place,
        # The history corrects what is booked already.
        value_fn=lambda tracker: tracker.story.rides and tracker.story.rides.rides,
    ),
)


class BikeTrackerCalendar(BikeTrackerEntity[tuple[Ride, ...]], CalendarEntity):
    """The rides of a tracker that are over: none is under way or to come."""

    entity_description: BikeTrackerCalendarDescription

    @property
    @override
    def event(self) -> CalendarEvent | None:
        """Return None: a ride is in the calendar once it is over."""
        return None

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        """Return the rides that touch a time."""
        rides = self.coordinator.rides.of(
            self.coordinator_context, start_date, end_date
        )
        return [_event(hass, booked) for booked in rides]


def _event(hass: HomeAssistant, booked: BookedRide) -> CalendarEvent:
    """Return what the calendar shows of a ride, in the units of the house."""
    ride = booked.ride
    description = duration(ride.duration)
    if ride.maximum_speed is not None:
        description += f", max. {speed(hass, ride.maximum_speed)}"
    return CalendarEvent(
        start=ride.started_at,
        end=max(map(dt_util.as_local, (ride.moved_at, ride.started_at + _SHORTEST))),
        summary=distance(hass, ride.distance),
        description=description,
        location=_way(hass, ride.start, ride.end),
        uid=f"{booked.tracker} {ride.started_at.isoformat()}",
    )


def _way(hass: HomeAssistant, *places: Fix | None) -> str | None:
    """Return from where to where, as far as these places have a name."""
    names = (
        place and (place.address or async_zone_name(hass, place)) for place in places
    )
    return " → ".join(filter(None, names)) or None


async_setup_entry = partial(async_register_entities, BikeTrackerCalendar, DESCRIPTIONS)
