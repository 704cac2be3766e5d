"""Bikes that are asked about: which there are, what they are called, who knows them."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from homeassistant.components.device_tracker import DOMAIN as DEVICE_TRACKER_DOMAIN
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.device_registry import DeviceEntry

from ..const import DOMAIN
from ..coordinator import BikeTrackerCoordinator
from ..registry.devices import device_of, tracker_of
from ..tracking import Ride, Tracker
from .refusals import failed


class Bike(NamedTuple):
    """A bike that somebody asks about."""

    names: tuple[str, ...]
    """What it is called, the name that is shown first."""
    unique_id: str
    device_id: str | None
    coordinator: BikeTrackerCoordinator | None
    """None while its account could not be set up."""

    @property
    def name(self) -> str:
        """Return what it is called in answers."""
        return self.names[0]

    @property
    def tracker(self) -> Tracker | None:
        """Return what is known of it, None if that is nothing."""
        trackers = self.coordinator and self.coordinator.account.trackers
        return trackers.get(self.unique_id) if trackers else None

    def rides(self, start: datetime, end: datetime) -> list[Ride]:
        """Return those of its rides that touch a time, in order of their start."""
        book = self.coordinator and self.coordinator.rides
        booked = book.of(self.unique_id, start, end) if book else ()
        return [each.ride for each in booked]

    @property
    def unavailable(self) -> HomeAssistantError:
        """Return that nothing can be said of it at the moment."""
        return failed("not_available", name=self.name)

    def is_called(self, name: str) -> bool:
        """Return whether that is one of its names."""
        return name.strip().casefold() in map(str.casefold, self.names)


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


@callback
def bikes_of(hass: HomeAssistant, trackers: Iterable[str]) -> list[Bike]:
    """Return the bikes with these `uniqueId`, but for those of disabled accounts."""
    return [
        bike
        for entry in hass.config_entries.async_entries(DOMAIN, include_disabled=False)
        for tracker in trackers
        if (device := device_of(hass, tracker, entry.entry_id))
        and (bike := bike_of(hass, device))
    ]


@callback
def bike_of(hass: HomeAssistant, device: DeviceEntry) -> Bike | None:
    """Return the bike that a device is, None if it is none."""
    entry = hass.config_entries.async_get_entry(device.config_entry_id)
    if entry is None or (tracker := tracker_of(device)) is None:
        return None
    name = device.name_by_user or device.name or ""
    return Bike((name,), tracker, device.id, _coordinator(entry))


def _coordinator(entry: ConfigEntry) -> BikeTrackerCoordinator | None:
    is_loaded = entry.state is ConfigEntryState.LOADED
    return entry.runtime_data.coordinator if is_loaded else None
