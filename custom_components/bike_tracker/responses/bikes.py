"""The bikes that are asked about: their names, and who may read them."""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import NamedTuple
from unicodedata import normalize

from homeassistant.auth.permissions import OwnerPermissions
from homeassistant.auth.permissions.const import POLICY_CONTROL, POLICY_READ
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID, CONF_FILENAME, Platform
from homeassistant.core import HomeAssistant, ServiceCall, callback
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceValidationError,
    Unauthorized,
    UnknownUser,
)
from homeassistant.helpers import device_registry as dr, entity_registry as er

from ..const import DOMAIN
from ..coordinator import BikeTrackerCoordinator
from ..database import Database
from ..devices import name_of
from ..tracking.ride_state import Ride
from ..tracking.state import Tracker


def service_error(
    key: str, kind: type[HomeAssistantError] = HomeAssistantError, **placeholders: str
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

    entity: er.RegistryEntry
    """Its device tracker."""
    names: list[str]
    """What it is called, the name that is shown first."""
    coordinator: BikeTrackerCoordinator | None
    """None while its account is not loaded."""
    tracker: Tracker | None
    """What is known of it, None if that is nothing."""

    @property
    def name(self) -> str:
        """Return what it is called in answers."""
        return self.names[0]

    def is_called(self, name: str) -> bool:
        """Return whether that is one of its names, as it is said: letters alone count."""
        return _letters(name) in map(_letters, self.names)

    async def rides(self, start: datetime, end: datetime) -> list[Ride]:
        """Return its rides that touch a time, in order of their start."""
        return await self._database.rides(self.entity.unique_id, start, end)

    async def last_ride(self) -> Ride | None:
        """Return the ride under way, else the last one."""
        if self.tracker and (ride := self.tracker.ride_under_way):
            return ride
        return await self._database.last_ride(self.entity.unique_id)

    @property
    def _database(self) -> Database:
        if self.coordinator is None:
            raise service_error("not_available", name=self.name)
        return self.coordinator.database


def _letters(name: str) -> str:
    """Return the letters and digits of a name as speech has them, or the whole name."""
    folded = normalize("NFKC", name).casefold()
    return "".join(filter(str.isalnum, folded)) or folded


def _bikes(hass: HomeAssistant) -> Iterator[Bike]:
    """Yield the bikes of all accounts but disabled ones, under their devices' names."""
    devices, entities = dr.async_get(hass), er.async_get(hass)
    for entry in hass.config_entries.async_entries(DOMAIN, include_disabled=False):
        is_loaded = entry.state is ConfigEntryState.LOADED
        coordinator = entry.runtime_data.coordinator if is_loaded else None
        trackers = coordinator.data.trackers if coordinator else {}
        for entity in er.async_entries_for_config_entry(entities, entry.entry_id):
            if entity.domain == Platform.DEVICE_TRACKER and entity.device_id:
                name = name_of(devices.async_get(entity.device_id))
                yield Bike(entity, [name], coordinator, trackers.get(entity.unique_id))


@callback
def bike_of(hass: HomeAssistant, device_id: str) -> Bike | None:
    """Return the bike of a device, or None if it is not a bike tracker."""
    found = (bike for bike in _bikes(hass) if bike.entity.device_id == device_id)
    return next(found, None)


@callback
def exposed_bikes(hass: HomeAssistant, assistant: str) -> list[Bike]:
    """Return the bikes whose device tracker is exposed to an assistant, by its names."""
    names_of = partial(er.async_get_entity_aliases, hass, allow_empty=False)
    return [
        bike._replace(names=names_of(bike.entity))
        for bike in _bikes(hass)
        if not bike.entity.disabled
        and async_should_expose(hass, assistant, bike.entity.entity_id)
    ]


async def async_bikes_in(call: ServiceCall) -> list[Bike]:
    """Return the bikes in a target that the user may read, as each that is named must be."""
    # Not before: where Home Assistant's helper for targets changed, all else works.
    from .targets import trackers_in  # noqa: PLC0415

    may, policies = await _async_check_of(call), _policies_of(call)
    if not (trackers := trackers_in(call.hass, call.data)):
        raise validation_error("no_tracker")
    by_name = {key: call.data.get(key) for key in (ATTR_DEVICE_ID, ATTR_ENTITY_ID)}
    named, permitted = trackers_in(call.hass, by_name), list[Bike]()
    for bike in _bikes(call.hass):
        entity_id, unique_id = bike.entity.entity_id, bike.entity.unique_id
        denied = next((it for it in policies if not may(entity_id, it)), None)
        if denied and unique_id in named:
            raise Unauthorized(call.context, entity_id=entity_id, permission=denied)
        if unique_id in trackers and not denied:
            permitted.append(bike)
    return sorted(permitted, key=lambda bike: bike.name.casefold())


def _policies_of(call: ServiceCall) -> tuple[str, ...]:
    # Who has a file written has to have control of them, as for camera.snapshot.
    is_written = bool(call.data.get(CONF_FILENAME))
    return (POLICY_READ, POLICY_CONTROL) if is_written else (POLICY_READ,)


async def _async_check_of(call: ServiceCall) -> Callable[[str, str], bool]:
    """Return what says whether the user may do something with an entity."""
    if not (user_id := call.context.user_id):
        return OwnerPermissions.check_entity
    if user := await call.hass.auth.async_get_user(user_id):
        return user.permissions.check_entity
    raise UnknownUser(context=call.context)
