"""Candidates that are integrations of Home Assistant."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, override

from homeassistant.const import (
    CONF_EMAIL,
    CONF_HOST,
    CONF_PASSWORD,
    CONF_URL,
    CONF_USERNAME,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator

from tests.benchmark.home import set_up
from tests.benchmark.service.client import Addresses

from .candidate import Candidate


class Integration(Candidate):
    """An integration with a config entry and a coordinator."""

    def __init__(
        self,
        domain: str,
        data: Callable[[Addresses], Mapping[str, Any]],
        coordinator: Callable[[Any], DataUpdateCoordinator[Any]] = lambda data: data,
        redirect: Callable[[Addresses], None] = lambda addresses: None,
    ) -> None:
        """Take its domain, the data of its entry, and where the entry keeps its coordinator.

        `redirect` points a library with a fixed address to another one.
        """
        self._domain = domain
        self._data = data
        self._coordinator_of = coordinator
        self._redirect = redirect

    @override
    async def set_up(self, hass: HomeAssistant, addresses: Addresses) -> None:
        self._redirect(addresses)
        entry = await set_up(hass, self._domain, self._data(addresses))
        self._hass = hass
        self._coordinator = self._coordinator_of(entry.runtime_data)

    @override
    async def poll(self) -> None:
        await self._coordinator.async_refresh()
        await self._hass.async_block_till_done(wait_background_tasks=True)


def bike_tracker() -> Candidate:
    """Return this project's integration."""
    return Integration(
        "bike_tracker", _account, coordinator=lambda data: data.coordinator
    )


def usual_way() -> Candidate:
    """Return the plain integration that is kept beside this package."""
    return Integration("usual_way", _account)


def autoskope() -> Candidate:
    """Return Home Assistant's integration for Autoskope."""
    return Integration(
        "autoskope",
        lambda addresses: {
            CONF_HOST: f"{addresses.peers}/autoskope",
            CONF_USERNAME: addresses.email,
            CONF_PASSWORD: addresses.password,
        },
    )


def paj_gps() -> Candidate:
    """Return Home Assistant's integration for PAJ GPS."""

    def redirect(addresses: Addresses) -> None:
        requests = import_module("pajgps_api.pajgps_requests").PajGpsRequests
        requests.DEFAULT_BASE_URL = f"{addresses.peers}/paj_gps"

    return Integration(
        "paj_gps",
        lambda addresses: {
            CONF_EMAIL: addresses.email,
            CONF_PASSWORD: addresses.password,
        },
        redirect=redirect,
    )


def scorpiontrack() -> Candidate:
    """Return Home Assistant's integration for ScorpionTrack."""

    def redirect(addresses: Addresses) -> None:
        client = import_module("pyscorpiontrack").ScorpionTrackClient
        client.__init__.__kwdefaults__["base_url"] = f"{addresses.peers}/scorpiontrack"

    return Integration(
        "scorpiontrack", lambda addresses: {"share_token": "t"}, redirect=redirect
    )


def _account(addresses: Addresses) -> Mapping[str, Any]:
    return {
        CONF_URL: addresses.url,
        CONF_EMAIL: addresses.email,
        CONF_PASSWORD: addresses.password,
    }
