"""Client of the service."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import aiohttp


@dataclass
class Bike:
    """A tracker and its position."""

    id: int
    name: str
    unique_id: str
    status: str
    last_update: datetime
    position_id: int
    group_id: int
    disabled: bool
    latitude: float | None
    longitude: float | None
    accuracy: float
    speed: float | None
    battery_level: float | None
    motion: bool | None


class Api:
    """The service on behalf of one account."""

    def __init__(
        self, session: aiohttp.ClientSession, url: str, email: str, password: str
    ) -> None:
        """Keep the session and the credentials."""
        self._session = session
        self._url = url
        self._headers = {
            "accept": "application/json",
            "Authorization": aiohttp.encode_basic_auth(email, password),
        }

    async def get_bikes(self) -> list[Bike]:
        """Return all trackers."""
        devices = await self._get("devices")
        positions = {row["deviceId"]: row for row in await self._get("positions")}
        return [_bike(row, positions.get(row["id"], {})) for row in devices]

    async def _get(self, path: str) -> list[dict[str, Any]]:
        async with self._session.get(
            f"{self._url}/{path}", headers=self._headers
        ) as response:
            response.raise_for_status()
            rows: list[dict[str, Any]] = await response.json()
            return rows


def _bike(row: dict[str, Any], position: dict[str, Any]) -> Bike:
    attributes = position.get("attributes", {})
    speed = position.get("speed")
    return Bike(
        id=row["id"],
        name=row["name"],
        unique_id=row["uniqueId"],
        status=row["status"],
        last_update=datetime.fromisoformat(row["lastUpdate"]),
        position_id=row["positionId"],
        group_id=row["groupId"],
        disabled=row["disabled"],
        latitude=position.get("latitude"),
        longitude=position.get("longitude"),
        accuracy=position.get("accuracy", 0),
        speed=None if speed is None else speed * 1.852,
        battery_level=attributes.get("batteryLevel"),
        motion=attributes.get("motion"),
    )
