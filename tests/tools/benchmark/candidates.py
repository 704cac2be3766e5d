"""The candidates of the benchmark: this integration, `traccar_server` and `Floor`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import aiohttp
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator
import orjson
from pytest_homeassistant_custom_component.common import MockConfigEntry

from tests.tools.simulator.listener import HOST
from tests.tools.simulator.wire import JSON

from .plan import FLOOR, OURS, PEER
from .service import EMAIL, PASSWORD, Service

type Candidate = Integration | Floor
"""A candidate shows the fleet in Home Assistant: first with a set-up, then with polls."""

_COORDINATES = ("latitude", "longitude", "gps_accuracy")
_GPS = {"tracking_type": "position", "source_type": "gps", "in_zones": []}
_SHOWN: dict[str, tuple[str, dict[str, Any]]] = {
    "place": ("device_tracker", _GPS),
    "online": ("binary_sensor", {"device_class": "connectivity"}),
    "disabled": ("binary_sensor", {}),
    "last_update": ("sensor", {"device_class": "timestamp"}),
}
"""Platform and fixed attributes of each state that `Floor` writes."""


class Integration:
    """An integration that has a config entry and a coordinator."""

    def __init__(
        self, hass: HomeAssistant, domain: str, data: dict[str, Any], *, live: bool
    ) -> None:
        """Create the config entry. Without `live`, no live connection opens, and only the method `poll` polls."""
        self._hass = hass
        self._live = live
        self._entry = MockConfigEntry(
            domain=domain, data=data, title="Bikes", pref_disable_polling=not live
        )
        self._entry.add_to_hass(hass)

    async def set_up(self) -> None:
        """Show the fleet, for the first time or after `unload`, which stands for a stop of Home Assistant."""
        await self._hass.config_entries.async_setup(self._entry.entry_id)
        await self._wait()
        assert self._entry.state is ConfigEntryState.LOADED, self._entry.reason

    async def unload(self) -> None:
        """Unload the entry. Devices and entities stay registered."""
        await self._hass.config_entries.async_unload(self._entry.entry_id)

    async def poll(self) -> None:
        """Poll, and wait until all changes are shown."""
        data = self._entry.runtime_data
        coordinator = getattr(data, "coordinator", data)
        # As Home Assistant's schedule does it: this integration's own `async_refresh`
        # also protects the poll against the end of its caller.
        await DataUpdateCoordinator.async_refresh(coordinator)
        await self._wait()
        assert coordinator.last_update_success, repr(coordinator.last_exception)

    async def _wait(self) -> None:
        # A live connection is a background task that never ends, so do not wait for it.
        await self._hass.async_block_till_done(wait_background_tasks=not self._live)


@dataclass(slots=True)
class _Bike:
    """The values of one tracker that `Floor` has shown last."""

    name: str
    online: bool
    disabled: bool
    last_update: str
    place: tuple[float, float, float]


class Floor:
    """A candidate that does only what any integration must do. docs/benchmarks.md describes it."""

    def __init__(self, hass: HomeAssistant, url: str) -> None:
        """Start without trackers. This candidate has no live connection."""
        self._hass, self._url = hass, url
        self._bikes: dict[str, _Bike] = {}
        authorization = aiohttp.encode_basic_auth(EMAIL, PASSWORD)
        self._headers = {"accept": JSON, "Authorization": authorization}

    async def set_up(self) -> None:
        """Show the fleet for the first time."""
        self._session = async_get_clientsession(self._hass)
        await self.poll()

    async def poll(self) -> None:
        """Poll, and show all changes."""
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
                (place["latitude"], place["longitude"], place["accuracy"]),
            )
            before = self._bikes.get(unique_id)
            if bike != before:
                self._bikes[unique_id] = bike
                self._show(unique_id, bike, before)

    async def _get(self, path: str) -> list[dict[str, Any]]:
        async with self._session.get(
            f"{self._url}/{path}", headers=self._headers
        ) as response:
            assert response.ok, response.status
            rows: list[dict[str, Any]] = orjson.loads(await response.read())
            return rows

    def _show(self, unique_id: str, bike: _Bike, before: _Bike | None) -> None:
        """Write the states that changed, with the attributes that entities would have."""
        for field, (platform, fixed) in _SHOWN.items():
            value = getattr(bike, field)
            if before is not None and value == getattr(before, field):
                continue
            attributes = {**fixed, "friendly_name": f"{bike.name} {field}"}
            match value:
                case tuple():
                    state = "not_home"
                    attributes |= zip(_COORDINATES, value, strict=True)
                case bool():
                    state = "on" if value else "off"
                case _:
                    time = datetime.fromisoformat(value)
                    state = time.isoformat(timespec="seconds")
            entity_id = f"{platform}.bike_{unique_id}_{field}"
            self._hass.states.async_set(entity_id, state, attributes)


def make(name: str, hass: HomeAssistant, service: Service, *, live: bool) -> Candidate:
    """Return a candidate. It is not set up yet."""
    if name == FLOOR:
        return Floor(hass, service.url)
    if name == OURS:
        ours = {"url": service.url, "email": EMAIL, "password": PASSWORD}
        return Integration(hass, OURS, ours, live=live)
    peer: dict[str, Any] = {"host": HOST, "port": service.peer_port, "api_token": "t"}
    peer |= {"ssl": False, "verify_ssl": False}
    # Home Assistant's integration for Traccar servers always has a live connection.
    return Integration(hass, PEER, peer, live=True)
