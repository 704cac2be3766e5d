"""Somebody who rides the bikes, with a phone that says where they are."""

from collections.abc import Mapping
from typing import Any

from tests.tools.simulator.streets import HOME, Point

from .client import HomeAssistantClient

PHONE = "device_tracker.phone"
_FAR_AWAY = HOME[0] + 0.1, HOME[1]
AT_HOME = "at-home"
"""What there is to try that brings the rider home."""

PLACES: Mapping[str, Point] = {"nobody-home": _FAR_AWAY, AT_HOME: HOME}
"""Where the rider may be, by what there is to try."""

TO_TRY: list[dict[str, Any]] = [
    {
        "name": "nobody-home",
        "title": "Nobody is home",
        "watch": "Demo, who rides the bikes, is 11 km away. A night guard with Demo as its rider guards the bikes, and the blueprint Bike moved sends no message about them.",
        "icon": "mdi:home-off-outline",
    },
    {
        "name": AT_HOME,
        "title": "Somebody is home again",
        "watch": "Demo is at home: bikes that were guarded while everyone was away are no longer.",
        "icon": "mdi:home-account",
    },
]


async def add_phone(client: HomeAssistantClient) -> None:
    """Give the one person there is a phone, which is at home."""
    [person] = (await client.call("person/list"))["storage"]
    await client.call("person/update", person_id=person["id"], device_trackers=[PHONE])
    await go(client, AT_HOME)


async def go(client: HomeAssistantClient, name: str) -> None:
    """Have the rider be where a thing to try says."""
    latitude, longitude = PLACES[name]
    await client.post(
        f"/api/states/{PHONE}",
        {
            "state": "home" if PLACES[name] == HOME else "not_home",
            "attributes": {
                "friendly_name": "Phone",
                "source_type": "gps",
                "latitude": latitude,
                "longitude": longitude,
                "gps_accuracy": 10,
            },
        },
    )
