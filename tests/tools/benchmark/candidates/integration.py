"""Candidates that are integrations of Home Assistant."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, override

from homeassistant.const import (
    CONF_API_TOKEN,
    CONF_EMAIL,
    CONF_HOST,
    CONF_PASSWORD,
    CONF_PORT,
    CONF_SSL,
    CONF_URL,
    CONF_VERIFY_SSL,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator
from yarl import URL

from tests.tools.benchmark.home import set_up, set_up_again
from tests.tools.benchmark.service.client import Addresses


class PollError(Exception):
    """A poll failed, so what it cost says nothing."""


class Candidate(Protocol):
    """One way to show a fleet in Home Assistant."""

    async def set_up(self, hass: HomeAssistant) -> None:
        """Show the fleet for the first time."""

    async def poll(self) -> None:
        """Show what is new before this returns; raise PollError if that fails."""


class Integration(Candidate):
    """An integration with a config entry and a coordinator."""

    def __init__(
        self,
        domain: str,
        data: Mapping[str, Any],
        coordinator: Callable[[Any], DataUpdateCoordinator[Any]] = lambda data: data,
        *,
        live: bool = False,
    ) -> None:
        """Take its domain, the data of its entry, where the entry keeps its coordinator, and whether it listens."""
        self._domain = domain
        self._data = data
        self._coordinator_of = coordinator
        self._live = live

    @override
    async def set_up(self, hass: HomeAssistant) -> None:
        self._hass = hass
        self._entry = await set_up(hass, self._domain, self._data, live=self._live)
        self._coordinator = self._coordinator_of(self._entry.runtime_data)

    async def unload(self) -> None:
        """Have Home Assistant forget what a restart would, and keep what is registered."""
        await self._hass.config_entries.async_unload(self._entry.entry_id)

    async def set_up_again(self) -> None:
        """Show the fleet as after a restart."""
        await set_up_again(self._hass, self._entry)
        self._coordinator = self._coordinator_of(self._entry.runtime_data)

    @override
    async def poll(self) -> None:
        await self._coordinator.async_refresh()
        # Who listens does so in a background task, which has no end.
        await self._hass.async_block_till_done(wait_background_tasks=not self._live)
        if not self._coordinator.last_update_success:
            raise PollError(f"{self._domain}: {self._coordinator.last_exception!r}")


def bike_tracker(addresses: Addresses, *, live: bool = False) -> Candidate:
    """Return this project's integration, which polls by itself and listens if it is live."""
    return Integration(
        "bike_tracker",
        _account(addresses),
        coordinator=lambda data: data.coordinator,
        live=live,
    )


def traccar_server(addresses: Addresses) -> Candidate:
    """Return Home Assistant's integration for Traccar's own servers, which listens."""
    address = URL(addresses.peer)
    return Integration(
        "traccar_server",
        {
            CONF_HOST: address.host,
            CONF_PORT: address.port,
            CONF_API_TOKEN: "t",
            CONF_SSL: False,
            CONF_VERIFY_SSL: False,
        },
        live=True,
    )


def _account(addresses: Addresses) -> Mapping[str, Any]:
    return {
        CONF_URL: addresses.url,
        CONF_EMAIL: addresses.email,
        CONF_PASSWORD: addresses.password,
    }
