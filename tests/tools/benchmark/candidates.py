"""This integration, and the candidates that it is compared with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol, override

import aiohttp
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
from homeassistant.helpers.aiohttp_client import async_get_clientsession
import orjson
from yarl import URL

from .fleet import EMAIL, PASSWORD
from .home import set_up, set_up_again
from .plan import FLOOR, OURS, PEER
from .service import Addresses


class PollError(Exception):
    """A poll failed, so its cost is worthless."""


class Candidate(Protocol):
    """One way to show a fleet in Home Assistant."""

    async def set_up(self, hass: HomeAssistant) -> None:
        """Show the fleet for the first time."""

    async def poll(self) -> None:
        """Poll, and show all changes; raise PollError."""


class Integration(Candidate):
    """An integration with a config entry and a coordinator."""

    def __init__(self, domain: str, data: Mapping[str, Any], *, live: bool) -> None:
        """Set the domain, the data of its entry, and whether it listens."""
        self._domain = domain
        self._data = data
        self._live = live

    @override
    async def set_up(self, hass: HomeAssistant) -> None:
        self._hass = hass
        self._entry = await set_up(hass, self._domain, self._data, live=self._live)

    async def unload(self) -> None:
        """Unload the entry. Its devices and entities stay registered."""
        await self._hass.config_entries.async_unload(self._entry.entry_id)

    async def set_up_again(self) -> None:
        """Show the fleet as after a restart."""
        await set_up_again(self._hass, self._entry, live=self._live)

    @override
    async def poll(self) -> None:
        data = self._entry.runtime_data
        coordinator = getattr(data, "coordinator", data)
        await coordinator.async_refresh()
        # Listening is a background task without an end.
        await self._hass.async_block_till_done(wait_background_tasks=not self._live)
        if not coordinator.last_update_success:
            raise PollError(f"{self._domain}: {coordinator.last_exception!r}")


@dataclass(slots=True)
class _Bike:
    """All that the floor shows of one tracker."""

    name: str
    online: bool
    disabled: bool
    last_update: str
    latitude: float
    longitude: float
    accuracy: float


class Floor(Candidate):
    """The least that any integration does.

    Two requests, two JSON lists, one object and one comparison per tracker, and the states of changed values. It has no
    entities, no registries and no error handling.
    """

    def __init__(self, addresses: Addresses, **_: bool) -> None:
        """Start without trackers. The floor never listens."""
        self._bikes: dict[str, _Bike] = {}
        self._url = addresses.url
        self._headers = {
            "accept": "application/json",
            "Authorization": aiohttp.encode_basic_auth(EMAIL, PASSWORD),
        }

    @override
    async def set_up(self, hass: HomeAssistant) -> None:
        self._hass = hass
        self._session = async_get_clientsession(hass)
        await self.poll()

    @override
    async def poll(self) -> None:
        rows = await self._get("devices")
        places = {row["deviceId"]: row for row in await self._get("positions")}
        for row in rows:
            unique_id = row["uniqueId"]
            place = places[row["id"]]
            bike = _Bike(
                row["name"],
                row["status"] == "online",
                row["disabled"],
                row["lastUpdate"],
                place["latitude"],
                place["longitude"],
                place["accuracy"],
            )
            before = self._bikes.get(unique_id)
            if bike != before:
                self._bikes[unique_id] = bike
                self._show(unique_id, bike, before)

    async def _get(self, path: str) -> list[dict[str, Any]]:
        async with self._session.get(
            f"{self._url}/{path}", headers=self._headers
        ) as response:
            if not response.ok:
                raise PollError(f"{path}: status {response.status}")
            rows: list[dict[str, Any]] = orjson.loads(await response.read())
            return rows

    def _show(self, unique_id: str, bike: _Bike, before: _Bike | None) -> None:
        """Set the states that changed, with the attributes that entities have."""
        async_set, name = self._hass.states.async_set, bike.name
        if before is None or (
            (bike.latitude, bike.longitude, bike.accuracy)
            != (before.latitude, before.longitude, before.accuracy)
        ):
            async_set(
                f"device_tracker.bike_{unique_id}",
                "not_home",
                {
                    "tracking_type": "position",
                    "source_type": "gps",
                    "in_zones": [],
                    "latitude": bike.latitude,
                    "longitude": bike.longitude,
                    "gps_accuracy": bike.accuracy,
                    "friendly_name": name,
                },
            )
        if before is None or bike.online != before.online:
            async_set(
                f"binary_sensor.bike_{unique_id}_online",
                "on" if bike.online else "off",
                {"device_class": "connectivity", "friendly_name": f"{name} Online"},
            )
        if before is None or bike.disabled != before.disabled:
            async_set(
                f"binary_sensor.bike_{unique_id}_disabled",
                "on" if bike.disabled else "off",
                {"friendly_name": f"{name} Disabled"},
            )
        if before is None or bike.last_update != before.last_update:
            moment = datetime.fromisoformat(bike.last_update)
            async_set(
                f"sensor.bike_{unique_id}_last_update",
                moment.isoformat(timespec="seconds"),
                {"device_class": "timestamp", "friendly_name": f"{name} Last update"},
            )


def _ours(addresses: Addresses, *, live: bool) -> Candidate:
    data = {CONF_URL: addresses.url, CONF_EMAIL: EMAIL, CONF_PASSWORD: PASSWORD}
    return Integration(OURS, data, live=live)


def _peer(addresses: Addresses, *, live: bool) -> Candidate:
    """Return Home Assistant's integration for Traccar servers, which listens always."""
    address = URL(addresses.peer)
    data = {
        CONF_HOST: address.host,
        CONF_PORT: address.port,
        CONF_API_TOKEN: "t",
        CONF_SSL: False,
        CONF_VERIFY_SSL: False,
    }
    return Integration(PEER, data, live=True)


CANDIDATES: Final[dict[str, Callable[..., Candidate]]] = {
    OURS: _ours,
    FLOOR: Floor,
    PEER: _peer,
}
