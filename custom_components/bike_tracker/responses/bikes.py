"""The bikes that are asked about: their names, and who may read them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from itertools import product
from typing import Final, NamedTuple

from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import POLICY_CONTROL, POLICY_READ
from homeassistant.components.device_tracker import DOMAIN as DEVICE_TRACKER_DOMAIN
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID
from homeassistant.core import Context, HomeAssistant, ServiceCall, callback
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceValidationError,
    Unauthorized,
    UnknownUser,
)
from homeassistant.helpers import entity_registry as er

from ..const import DOMAIN
from ..coordinator import BikeTrackerCoordinator
from ..registry.devices import device_of, name_of
from ..tracking import Ride, Tracker

_NAMED: Final = {ATTR_DEVICE_ID, ATTR_ENTITY_ID}


def service_error(
    key: str,
    kind: type[HomeAssistantError] = HomeAssistantError,
    **placeholders: str,
) -> HomeAssistantError:
    """Return the error of a call that was right, and could not be answered."""
    return kind(
        translation_domain=DOMAIN,
        translation_key=key,
        translation_placeholders=placeholders,
    )


# The error of a call that was wrong.
validation_error = partial(service_error, kind=ServiceValidationError)


class Bike(NamedTuple):
    """A bike that somebody asks about."""

    names: tuple[str, ...]
    """What it is called, the name that is shown first."""
    unique_id: str
    device_id: str | None
    coordinator: BikeTrackerCoordinator | None
    """None while its account is not loaded."""

    @property
    def name(self) -> str:
        """Return what it is called in answers."""
        return self.names[0]

    @property
    def tracker(self) -> Tracker | None:
        """Return what is known of it, None if that is nothing."""
        trackers = self.coordinator and self.coordinator.data.trackers
        return trackers.get(self.unique_id) if trackers else None

    @property
    def ride_under_way(self) -> Ride | None:
        """Return the ride under way, None if it is on none."""
        return self.tracker and self.tracker.ride_under_way

    def rides(self, start: datetime, end: datetime) -> list[Ride]:
        """Return those of its rides that touch a time, in order of their start."""
        book = self.coordinator and self.coordinator.registry.rides
        return book.of(self.unique_id, start, end) if book else []

    def last_ride(self, now: datetime) -> Ride | None:
        """Return the ride under way, else the last one."""
        rides = self.rides(datetime.min.replace(tzinfo=UTC), now)
        return self.ride_under_way or (rides[-1] if rides else None)

    @property
    def unavailable(self) -> HomeAssistantError:
        """Return that nothing can be said of it at the moment."""
        return service_error("not_available", name=self.name)

    def is_called(self, name: str) -> bool:
        """Return whether that is one of its names, as it is said: letters alone count."""
        return _letters(name) in map(_letters, self.names)


def _letters(name: str) -> str:
    """Return the letters and digits of a name, as speech has no others."""
    return "".join(filter(str.isalnum, name.casefold()))


@callback
def exposed_bikes(hass: HomeAssistant, assistant: str) -> list[Bike]:
    """Return the bikes whose device tracker is exposed to an assistant."""
    registry = er.async_get(hass)
    return [
        Bike(
            tuple(er.async_get_entity_aliases(hass, entity, allow_empty=False)),
            entity.unique_id,
            entity.device_id,
            _coordinator(entry),
        )
        for entry in hass.config_entries.async_entries(DOMAIN)
        for entity in er.async_entries_for_config_entry(registry, entry.entry_id)
        if entity.domain == DEVICE_TRACKER_DOMAIN
        and not entity.disabled
        and async_should_expose(hass, assistant, entity.entity_id)
    ]


async def async_bikes_in(call: ServiceCall, *, is_written: bool = False) -> list[Bike]:
    """Return the bikes in a target that the calling user may read.

    One that is named and forbidden raises Unauthorized, one that an area or a label
    brings in is left out. Who has a file written has to have control of them, as for
    camera.snapshot.
    """
    # Not before: where Home Assistant's helper for targets changed, all else works.
    from ..automations.targets import trackers_in  # noqa: PLC0415

    hass, user = call.hass, await _async_user(call.hass, call.context)
    if not (trackers := trackers_in(hass, call.data)):
        raise validation_error("no_tracker")
    by_name = {key: call.data[key] for key in _NAMED & call.data.keys()}
    named = trackers_in(hass, by_name)
    policies = (POLICY_READ, POLICY_CONTROL) if is_written else (POLICY_READ,)
    forbidden = set[str]()
    for tracker, policy in product(trackers, policies):
        entity_id = er.async_get(hass).async_get_entity_id(
            DEVICE_TRACKER_DOMAIN, DOMAIN, tracker
        )
        if user and not user.permissions.check_entity(entity_id or "", policy):
            if tracker in named:
                raise Unauthorized(
                    context=call.context, entity_id=entity_id, permission=policy
                )
            forbidden.add(tracker)
    return _bikes_of(hass, trackers - forbidden)


async def _async_user(hass: HomeAssistant, context: Context) -> User | None:
    """Return the user whose permissions count, None for an automation."""
    user_id = context.user_id
    user = await hass.auth.async_get_user(user_id) if user_id else None
    if user_id and user is None:
        raise UnknownUser(context=context)
    return user


def _bikes_of(hass: HomeAssistant, trackers: Iterable[str]) -> list[Bike]:
    """Return the bikes with these `uniqueId`, but for those of disabled accounts."""
    bikes = [
        Bike((name_of(device),), tracker, device.id, _coordinator(entry))
        for entry in hass.config_entries.async_entries(DOMAIN, include_disabled=False)
        for tracker in trackers
        if (device := device_of(hass, tracker, entry.entry_id))
    ]
    return sorted(bikes, key=lambda bike: bike.name.casefold())


def _coordinator(entry: ConfigEntry) -> BikeTrackerCoordinator | None:
    is_loaded = entry.state is ConfigEntryState.LOADED
    return entry.runtime_data.coordinator if is_loaded else None
