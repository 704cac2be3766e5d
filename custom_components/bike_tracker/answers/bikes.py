"""Which bikes an assistant may know."""

from typing import NamedTuple

from homeassistant.components.device_tracker import DOMAIN as DEVICE_TRACKER_DOMAIN
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from ..account import Tracker
from ..const import DOMAIN
from ..coordinator import BikeTrackerCoordinator


class Bike(NamedTuple):
    """A bike that an assistant may know."""

    names: tuple[str, ...]
    """What it is called, the name that is shown first."""
    unique_id: str
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
            entry.runtime_data.coordinator
            if entry.state is ConfigEntryState.LOADED
            else None,
        )
        for entry in hass.config_entries.async_entries(DOMAIN)
        for entity in er.async_entries_for_config_entry(registry, entry.entry_id)
        if entity.domain == DEVICE_TRACKER_DOMAIN
        and not entity.disabled
        and async_should_expose(hass, assistant, entity.entity_id)
    ]
