"""The bikes of a request: their names and the permissions to read them."""

from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from functools import partial
import re
from typing import Final, NamedTuple
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
from ..database import Database, translated_error
from ..devices import name_of
from ..tracking.rides import Ride
from ..tracking.state import Tracker, TrackerState

# Returns the translated error of a call that cannot be answered at the moment.
service_error = partial(translated_error, kind=HomeAssistantError)
# Returns the translated error of a call with wrong data.
validation_error = partial(translated_error, kind=ServiceValidationError)


_ACCENTS: Final = re.compile("[\u0300-\u036f]")


class Bike(NamedTuple):
    """A bike of any account."""

    entity: er.RegistryEntry
    """Its device tracker entity."""
    names: list[str]
    """Its name, followed by further names that an assistant knows."""
    coordinator: BikeTrackerCoordinator | None
    """None while its account is not loaded."""
    tracker: Tracker | None
    """None while its account does not list it."""

    @property
    def name(self) -> str:
        """Return the name of the bike in answers."""
        return self.names[0]

    @property
    def unique_id(self) -> str:
        """Return the `uniqueId` of its tracker."""
        return self.entity.unique_id

    @property
    def device_id(self) -> str:
        """Return the ID of its device."""
        return self.entity.device_id or ""

    @property
    def state(self) -> TrackerState:
        """Return the state of its tracker; an empty state while its account does not list it."""
        return self.tracker.state if self.tracker else TrackerState()

    async def rides(self, start: datetime, end: datetime) -> list[Ride]:
        """Return the finished rides that overlap a time range, the oldest first."""
        return await self._database.rides(self.unique_id, start, end)

    @property
    def last_ride(self) -> Ride:
        """Return the ride under way, or else the last ride, or raise an error if no ride is known."""
        content = self._database.content
        known = content.states.get(self.unique_id)
        if ride := (known and known.ride) or content.last_rides.get(self.unique_id):
            return ride
        raise validation_error("no_ride", name=self.name)

    @property
    def _database(self) -> Database:
        if self.coordinator is None:
            raise service_error("not_available", name=self.name)
        return self.coordinator.database


def named(bikes: Collection[Bike], name: str) -> list[Bike]:
    """Return the bikes with this name: compare letters and digits, ignore case and accents. Without a name, return all bikes."""
    wanted = _letters(name)
    return [it for it in bikes if not name or wanted in map(_letters, it.names)]


def _letters(name: str) -> str:
    """Return the letters and digits of a name in lower case and without accents, or the whole name if it has none."""
    # Recompose letters after that: "パ" is another letter than "ハ".
    plain = _ACCENTS.sub("", normalize("NFKD", name))
    folded = normalize("NFKC", plain).casefold()
    return "".join(filter(str.isalnum, folded)) or folded


def _bikes(hass: HomeAssistant) -> Iterator[Bike]:
    """Yield the bikes of all enabled accounts, with the names of their devices."""
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
    """Return the bike of a device, or None if the device is not a bike tracker."""
    found = (bike for bike in _bikes(hass) if bike.device_id == device_id)
    return next(found, None)


@callback
def known_bike(coordinator: BikeTrackerCoordinator, unique_id: str) -> Bike | None:
    """Return a tracker of an account as a bike; None if a user removed its entity or device."""
    registry = er.async_get(coordinator.hass)
    kind = (Platform.DEVICE_TRACKER, DOMAIN, unique_id)
    entity = registry.async_get(registry.async_get_entity_id(*kind) or "")
    device = coordinator.devices.get(unique_id)
    if entity is None or device is None:
        return None
    tracker = coordinator.data.trackers.get(unique_id)
    return Bike(entity, [name_of(device)], coordinator, tracker)


@callback
def with_stored_state(hass: HomeAssistant, bike: Bike) -> Bike:
    """Return a bike with its stored state if it is unlisted, or its account not loaded in an outage; else unchanged."""
    entry = hass.config_entries.async_get_entry(bike.entity.config_entry_id or "")
    adder = None if bike.tracker else getattr(entry, "runtime_data", None)
    coordinator: BikeTrackerCoordinator | None = adder and adder.coordinator
    unique_id = bike.unique_id
    if coordinator is None or unique_id not in coordinator.data.states:
        return bike
    tracker = coordinator.data.known(unique_id)
    return bike._replace(coordinator=coordinator, tracker=tracker)


@callback
def exposed_bikes(hass: HomeAssistant, assistant: str) -> list[Bike]:
    """Return the bikes that are exposed to an assistant. Each has the names that the assistant knows."""
    names_of = partial(er.async_get_entity_aliases, hass, allow_empty=False)
    return [
        bike._replace(names=names_of(bike.entity))
        for bike in _bikes(hass)
        if not bike.entity.disabled
        and async_should_expose(hass, assistant, bike.entity.entity_id)
    ]


async def async_bikes_in(call: ServiceCall) -> list[Bike]:
    """Return the bikes in a target that the user may read, sorted by name. Raise an error for a target without bikes.

    Raise Unauthorized if the target names a forbidden device or entity. Skip other
    forbidden bikes, such as those of an area. If the action writes a file, the user
    must also be allowed to control the bikes.
    """
    # Import late: if a new version of Home Assistant breaks this import, everything
    # else still works.
    from .targets import trackers_in  # noqa: PLC0415

    may = await _async_permissions(call)
    # Writing a file requires the permission to control the bike, as for
    # `camera.snapshot`.
    policies = [POLICY_READ]
    if call.data.get(CONF_FILENAME):
        policies.append(POLICY_CONTROL)
    if not (trackers := trackers_in(call.hass, call.data)):
        raise validation_error("no_tracker")
    by_name = {key: call.data.get(key) for key in (ATTR_DEVICE_ID, ATTR_ENTITY_ID)}
    named, permitted = trackers_in(call.hass, by_name), list[Bike]()
    for bike in _bikes(call.hass):
        entity_id, unique_id = bike.entity.entity_id, bike.unique_id
        denied = next((it for it in policies if not may(entity_id, it)), None)
        if denied and unique_id in named:
            raise Unauthorized(call.context, entity_id=entity_id, permission=denied)
        if unique_id in trackers and not denied:
            permitted.append(bike)
    return sorted(permitted, key=lambda bike: bike.name.casefold())


async def _async_permissions(call: ServiceCall) -> Callable[[str, str], bool]:
    """Return a function that checks a permission of the calling user for an entity. Automations may do everything."""
    if not (user_id := call.context.user_id):
        return OwnerPermissions.check_entity
    if user := await call.hass.auth.async_get_user(user_id):
        return user.permissions.check_entity
    raise UnknownUser(context=call.context)
