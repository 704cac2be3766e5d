"""The floor: the least that anybody does who asks for trackers and positions and shows them.

Two requests, two JSON lists, one object and one comparison per tracker, and the states of those values that changed.
No entities, no registries, no errors, nothing that stays right in the long run.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, override

import aiohttp
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
import orjson

from tests.tools.benchmark.service.client import Addresses

from .integration import Candidate, PollError


@dataclass(slots=True)
class Bike:
    """All that is shown of one tracker."""

    name: str
    online: bool
    disabled: bool
    last_update: str
    latitude: float
    longitude: float
    accuracy: float


class Floor(Candidate):
    """Asks and sets states."""

    def __init__(self, addresses: Addresses) -> None:
        """Know no trackers."""
        self._bikes: dict[str, Bike] = {}
        self._url = addresses.url
        self._headers = {
            "accept": "application/json",
            "Authorization": aiohttp.encode_basic_auth(
                addresses.email, addresses.password
            ),
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
            bike = Bike(
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

    def _show(self, unique_id: str, bike: Bike, before: Bike | None) -> None:
        """Set the states that changed, with the attributes they have in Home Assistant."""
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
